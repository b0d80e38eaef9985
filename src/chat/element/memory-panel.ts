/**
 * What is remembered of the user, to be looked at, changed and removed. Loaded when it is first
 * opened.
 */
import { html, nothing, type TemplateResult } from 'lit/html.js'
import type { Chat } from '../open-chat.ts'
import type {
  HomeCertificate,
  HomeKind,
  ImportCount,
  MemoryFact,
  MemoryPanelModel,
  Problem,
} from '../ports.ts'
import type { PanelTextKey } from '../strings/panels/catalogue.ts'
import { certificateView, followArrival } from './certificate.ts'
import { icon } from './icons.ts'
import { dataTab } from './memory-data.ts'
import { factsTab } from './memory-facts.ts'
import { profileTab, skillsTab } from './memory-profile.ts'
import { iconButton } from './message.ts'
import { problemOf, wordsFor } from './problems.ts'
import type { PanelScene } from './scene.ts'

export type Tab = 'facts' | 'profile' | 'skills' | 'data'

/** What the panel shows. */
export interface MemoryState {
  readonly tab: Tab
  readonly query: string
  readonly facts: readonly MemoryFact[] | undefined
  readonly profile: readonly { readonly name: string; readonly text: string }[] | undefined
  readonly skills:
    | readonly { readonly name: string; readonly description: string; readonly text: string }[]
    | undefined
  /** Id of the fact, or name of the profile's document, that is being edited. */
  readonly editing: string | undefined
  /** Id of the fact that may be forgotten. */
  readonly forgetting: string | undefined
  /** Id of the fact of which nobody can show where it was said. */
  readonly lost: string | undefined
  readonly certificate: HomeCertificate | undefined
  /** `isElsewhere`: what was not taken in can be imported to another home. */
  readonly imported: (ImportCount & { readonly isElsewhere: boolean }) | undefined
  readonly homes: readonly HomeKind[]
  readonly destinations: readonly HomeKind[]
  /** Whether the word that confirms was typed. */
  readonly mayErase: boolean
  readonly isBusy: boolean
  /** Why what was asked for was not done. Reading again, which follows, does not end it. */
  readonly problem: Problem | undefined
  /** Why it could not be read. */
  readonly unread: Problem | undefined
}

/** What the tabs may do. */
export interface MemoryActions {
  /** @param at selects what has the focus then */
  update(change: Partial<MemoryState>, at?: string): void
  search(query: string): void
  /**
   * Does something with the memory, then reads it again; `then` says what else is shown after it,
   * `at` selects what has the focus then.
   */
  change<Done>(
    task: (memory: MemoryPanelModel) => Promise<Done>,
    then?: (done: Done) => Partial<MemoryState>,
    at?: (state: MemoryState) => string | undefined,
  ): void
}

const SEARCH_MS = 200

const AT_FIRST: MemoryState = {
  tab: 'facts',
  query: '',
  facts: undefined,
  profile: undefined,
  skills: undefined,
  editing: undefined,
  forgetting: undefined,
  lost: undefined,
  certificate: undefined,
  imported: undefined,
  homes: [],
  destinations: [],
  mayErase: false,
  isBusy: false,
  problem: undefined,
  unread: undefined,
}

const IMPORT_FAULTS: { readonly [Code in Problem['code']]?: PanelTextKey } = {
  ERR_UNSUPPORTED_MEDIA_TYPE: 'importNone',
  ERR_INVALID_ARGUMENT: 'importFault',
}

const TABS: readonly Tab[] = ['facts', 'profile', 'skills', 'data']

/**
 * @param draw draws the view again
 * @param focus contract: focuses what a selector names, soon
 */
export function memoryPanel(
  chat: Chat,
  draw: () => void,
  focus: (selector: string) => void,
): (scene: PanelScene) => TemplateResult {
  const panel = new MemoryPanel(chat, draw, focus)
  return (scene) => panel.view(scene)
}

class MemoryPanel implements MemoryActions {
  readonly #chat: Chat
  readonly #draw: () => void
  readonly #focus: (selector: string) => void
  #searchTimer: ReturnType<typeof setTimeout> | undefined
  /** What was shown when it was last read: it is read again when that is another. */
  #readAt: readonly unknown[] = []
  /** Counts who was here: what is asked for one of them does not show to the next. */
  #readings = 0
  #state = AT_FIRST

  constructor(chat: Chat, draw: () => void, focus: (selector: string) => void) {
    this.#chat = chat
    this.#draw = draw
    this.#focus = focus
    chat.drafts.subscribe((event) => {
      if (event !== 'gone' && event !== 'left') return
      clearTimeout(this.#searchTimer)
      this.#readings++
      // Where they left, this is already read for the next one.
      if (event === 'left') this.#readAt = []
      this.update({ ...AT_FIRST, tab: this.#state.tab })
    })
  }

  update(change: Partial<MemoryState>, at?: string): void {
    this.#state = { ...this.#state, ...change }
    this.#draw()
    if (at) this.#focus(at)
    const { certificate } = change
    if (!certificate) return
    void followArrival(certificate, (next) => {
      if (this.#state.certificate === certificate) this.update({ certificate: next })
    })
  }

  search(query: string): void {
    this.update({ query })
    clearTimeout(this.#searchTimer)
    this.#searchTimer = setTimeout(() => void this.#read(), SEARCH_MS)
  }

  change<Done>(
    task: (memory: MemoryPanelModel) => Promise<Done>,
    then?: (done: Done) => Partial<MemoryState>,
    at?: (state: MemoryState) => string | undefined,
  ): void {
    void this.#change(task, then, at)
  }

  async #change<Done>(
    task: (memory: MemoryPanelModel) => Promise<Done>,
    then?: (done: Done) => Partial<MemoryState>,
    at?: (state: MemoryState) => string | undefined,
  ): Promise<void> {
    this.update({ isBusy: true, problem: undefined, imported: undefined })
    const reading = this.#readings
    let shown: Partial<MemoryState> | undefined
    try {
      const done = await task(await this.#chat.memory())
      shown = then?.(done)
    } catch (error) {
      shown = { problem: problemOf(error) }
    }
    if (reading !== this.#readings) {
      // Who erases everything goes with it; of anybody a certificate says nothing.
      if (shown?.certificate)
        this.update({ certificate: shown.certificate }, at?.({ ...this.#state, ...shown }))
      return
    }
    // Of an import that failed, too: a part of it may be there.
    await this.#read(shown)
    if (!this.#state.problem) this.update({}, at?.(this.#state))
  }

  /** @param shown what else is shown after it */
  async #read(shown?: Partial<MemoryState>): Promise<void> {
    this.update({ isBusy: true })
    const reading = this.#readings
    const show = (read: Partial<MemoryState>): void => {
      if (reading === this.#readings) this.update({ ...shown, ...read, isBusy: false })
    }
    try {
      // An import may have opened another home.
      const memory = await this.#chat.memory()
      const { homes, destinations } = memory
      const query = this.#state.query.trim()
      const [facts, profile, skills] = await Promise.all([
        memory.facts(query ? { query } : {}),
        memory.profile(),
        memory.skills(),
      ])
      show({ homes, destinations, facts, profile, skills, unread: undefined })
    } catch (error) {
      show({ unread: problemOf(error) })
    }
  }

  /** Reads what is remembered when the panel is opened, and when the conversation has changed. */
  #follow({ ui, state }: PanelScene): void {
    // Somebody comes or leaves.
    if (!state.session) {
      this.#readAt = []
      return
    }
    const now = [ui.openings, state.messages]
    if (this.#state.isBusy || state.reply || now.every((one, place) => one === this.#readAt[place])) return
    this.#readAt = now
    void this.#read({ lost: undefined })
  }

  view(scene: PanelScene): TemplateResult {
    const { words, act } = scene
    this.#follow(scene)
    const state = this.#state
    const problem = state.problem ?? state.unread
    const { home } = state.certificate ?? {}
    // Of an import alone in that tab: nothing else there is given anything.
    const fault = state.tab === 'data' && problem && IMPORT_FAULTS[problem.code]
    // In sight beside the panel, the conversation says it where it has met it, too.
    const { storage, problem: met, online } = scene.state
    const isMet = storage === 'away' || (met?.code === 'ERR_OFFLINE' && met !== scene.ui.dismissed)
    const isSaid = isMet && online && problem?.code === 'ERR_OFFLINE'
    return html`<aside class="side memory" part="memory" aria-label=${words.text('memory')}>
      <header class="head">
        ${iconButton(words.text('back'), 'back', () => act.show(undefined))}
        <div class="titles"><h2>${words.text('memory')}</h2></div>
      </header>
      <div class="body" aria-busy=${state.isBusy ? 'true' : 'false'}>
        ${this.#tabs(scene)}
        <div class="cards" id="tab-panel" role="tabpanel" aria-label=${words.text(state.tab)}>
          ${
            problem
              ? html`<div class="notice bad ${isSaid ? 'said' : ''}" role="alert">${icon('warning')}<p>${words.text(fault || wordsFor(problem, online))}</p></div>`
              : nothing
          }
          ${state.certificate ? certificateView(scene, state.certificate, home ? [home] : state.homes) : nothing}
          ${this.#tab(scene)}
        </div>
      </div>
    </aside>`
  }

  #tab(scene: PanelScene): TemplateResult | typeof nothing {
    switch (this.#state.tab) {
      case 'facts':
        return factsTab(scene, this.#state, this)
      case 'profile':
        return profileTab(scene, this.#state, this)
      case 'skills':
        return skillsTab(scene, this.#state)
      case 'data':
        return dataTab(scene, this.#state, this)
    }
  }

  #tabs({ words }: PanelScene): TemplateResult {
    return html`<div class="tabs" role="tablist" @keydown=${this.#tabKey}>${TABS.map((tab) => {
      const isSelected = this.#state.tab === tab
      return html`<button type="button" role="tab" data-tab=${tab} aria-controls="tab-panel"
        aria-selected=${isSelected ? 'true' : 'false'} tabindex=${isSelected ? 0 : -1}
        @click=${() => this.#choose(tab)}>${words.text(tab)}</button>`
    })}</div>`
  }

  #choose(tab: Tab): void {
    this.update({
      ...{ tab, editing: undefined, forgetting: undefined, mayErase: false },
      ...{ certificate: undefined, imported: undefined, problem: undefined },
    })
  }

  readonly #tabKey = (event: KeyboardEvent): void => {
    const list = event.currentTarget as HTMLElement
    const isMirrored = list.matches(':dir(rtl)')
    const step = { ArrowRight: isMirrored ? -1 : 1, ArrowLeft: isMirrored ? 1 : -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const tab = TABS[(TABS.indexOf(this.#state.tab) + step + TABS.length) % TABS.length]
    if (!tab) return
    this.#choose(tab)
    list.querySelector<HTMLElement>(`[data-tab=${tab}]`)?.focus()
  }
}
