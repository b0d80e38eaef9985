import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { guard } from 'lit/directives/guard.js'
import { defaultCounter } from '../../counters/default.ts'
import type { Counter } from '../../ports/counter.ts'
import { Desk, type DeskSettings } from '../model/desk.ts'
import { type InspectedCall, NEXT } from '../model/inspection.ts'
import type { LoggedConversation } from '../model/log.ts'
import type { OpenedFile } from '../model/opened-file.ts'
import { SAMPLE_BUDGET, sampleLog } from '../model/sample.ts'
import { pageTurns } from '../model/slices.ts'
import type { InspectorSource } from '../model/source.ts'
import { checkedWords } from '../strings/checked.ts'
import { english } from '../strings/en.ts'
import type { Strings } from '../strings/strings.ts'
import { callBar, facts, legend } from './call-view.ts'
import { diffView } from './diff-view.ts'
import { fills, mark } from './drawing.ts'
import { raceView } from './race-view.ts'
import { emptyTab, leftOutView, requestView } from './request-view.ts'
import { styles } from './styles.ts'
import { isBuilt, mostAbove, timelineView } from './timeline-view.ts'
import { type Words, wordsIn } from './words.ts'

const BUDGET = 16_000
/** Lines that could not be read, of which the reason is said. */
const MOST_REASONS = 20
/** Conversations that are offered as a list. */
const MOST_OPTIONS = 200
const TABS = ['request', 'left', 'diff'] as const
type Tab = (typeof TABS)[number]

/**
 * Shows what model calls were given: every call of a session or a log as a bar against the line,
 * where each stretch of a request comes from, what was left out and why, and where two calls part.
 * A log that is dropped on it is read in the page: it sends nothing.
 *
 * Registered as `<plimsoll-inspector>` by `plimsoll/inspector/define`.
 *
 * @slot tools - Further buttons of the header
 */
export class PlimsollInspector extends LitElement {
  static override readonly styles = styles
  static override readonly properties = {
    source: { attribute: false },
    counter: { attribute: false },
    strings: { attribute: false },
    budget: { type: Number },
    tab: { state: true },
    stretch: { state: true },
    isDropping: { state: true },
    isPasting: { state: true },
  }

  /**
   * A session to show; `sessionSource` and `clientSource` make one. A log that is opened takes its
   * place on the screen.
   */
  declare source: InspectorSource | undefined
  /** Counts the tokens of logs. Default: the library's estimate, and the page says so. */
  declare counter: Counter
  /** Words of the page. @default english */
  declare strings: Strings
  /** The line for logs, in tokens. @default 16000 */
  declare budget: number
  declare tab: Tab
  declare stretch: number
  declare isDropping: boolean
  declare isPasting: boolean
  /** The line before the sample was loaded, while that is shown. */
  #ownBudget: number | undefined
  readonly #desk = new Desk({ turns: pageTurns, onChange: () => this.requestUpdate() })

  constructor() {
    super()
    this.source = undefined
    this.counter = defaultCounter
    this.strings = english
    this.budget = BUDGET
    this.tab = 'request'
    this.stretch = 0
    this.isDropping = false
    this.isPasting = false
  }

  /**
   * Reads a log as if it had been dropped. Resolves when everything is shown; what cannot be read
   * is said on the page, nothing rejects.
   */
  open(file: OpenedFile): Promise<void> {
    this.#afterSample()
    return this.#open(file)
  }

  #open(file: OpenedFile, at?: 'cut'): Promise<void> {
    this.isPasting = false
    this.stretch = 0
    return this.#keepFocus(() => this.#desk.open(file, this.#settings, at), 'input[type=range]')
  }

  /**
   * Shows a conversation that comes with the inspector, at a line of its own and at the first call
   * where that line cuts. Resolves when everything is shown.
   */
  openSample(): Promise<void> {
    this.#ownBudget ??= this.budget
    this.budget = SAMPLE_BUDGET
    return this.#open(new File([sampleLog()], this.strings.sampleName), 'cut')
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    if (this.source) this.#desk.clear()
    else this.#desk.cancel()
  }

  override connectedCallback(): void {
    super.connectedCallback()
    // What was put away when it left the page.
    if (this.hasUpdated && this.source) void this.#desk.watch(this.source, this.#settings)
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('source')) {
      if (this.source) {
        this.#afterSample()
        void this.#desk.watch(this.source, this.#settings)
      } else if (this.#desk.source) this.#desk.clear()
    } else if (changed.has('budget') || (changed.has('counter') && changed.get('counter') !== undefined)) {
      if (this.#desk.log) void this.#desk.replay(this.#settings)
    }
  }

  get #settings(): DeskSettings {
    return { budget: this.budget, counter: this.counter }
  }

  protected override render(): TemplateResult {
    const words = wordsIn(this.strings)
    const { log, source, inspection, failure, failureKind } = this.#desk
    const isEmpty = !log && !source && !this.#desk.work
    return html`
      <div
        class="frame"
        @dragenter=${this.#drag}
        @dragover=${this.#drag}
        @dragleave=${this.#leave}
        @drop=${this.#drop}
      >
        <svg class="defs" width="0" height="0" aria-hidden="true">${fills()}</svg>
        ${this.#head(words, isEmpty)} ${this.#work(words)}
        ${failure === undefined ? nothing : html`<p class="notice" role="alert">${failureKind ? this.strings[failureKind] : this.strings.failed(words.label(failure, 300))}</p>`}
        ${log ? this.#unreadable(words) : nothing}
        ${isEmpty ? this.#invitation() : nothing}
        ${inspection && inspection.calls.length > 0 ? this.#calls(words) : nothing}
        ${log && inspection?.calls.length === 0 && !this.#desk.work ? html`<p class="notice">${this.strings.empty}</p>` : nothing}
        ${this.isDropping ? html`<div class="drop">${this.strings.dropHere}</div>` : nothing}
      </div>
    `
  }

  #head(words: Words, isEmpty: boolean): TemplateResult {
    const { strings } = this
    const { log, source } = this.#desk
    const name = log?.name ?? source?.name
    return html`
      <header class="bar-top">
        <div class="of-log">
          <h2>
            ${mark(22)} ${strings.title}
            ${name === undefined ? nothing : html`<span class="name" dir="auto">${words.label(name)}</span>`}
          </h2>
          ${log && log.requests.length === 0 ? this.#lineField() : nothing}
          ${isEmpty ? nothing : html`<div class="actions">${this.#actions()}${log ? html`<button @click=${this.#close}>${strings.close}</button>` : nothing}</div>`}
        </div>
        <slot name="tools"></slot>
      </header>
      ${this.isPasting ? this.#pasting() : nothing}
      ${log && log.conversations.length > 1 ? this.#conversations(words) : nothing}
    `
  }

  #actions(): TemplateResult {
    return html`
      <button class="pick" @click=${this.#pick}>${this.strings.open}</button>
      <button aria-expanded=${this.isPasting} @click=${() => {
        this.isPasting = !this.isPasting
      }}>
        ${this.strings.paste}
      </button>
      <input class="file hidden" type="file" tabindex="-1" aria-hidden="true" accept=".jsonl,.json,.ndjson,.txt" @change=${this.#picked} />
    `
  }

  #lineField(): TemplateResult {
    return html`
      <label class="field">
        ${this.strings.line}
        <input type="number" min="100" step="100" inputmode="numeric" .value=${String(this.budget)} @change=${this.#lined} />
        <span class="quiet">${this.strings.lineUnit}</span>
      </label>
    `
  }

  #pasting(): TemplateResult {
    return html`
      <form class="paste" @submit=${this.#pasted}>
        <label for="pasted">${this.strings.pasteLabel}</label>
        <textarea id="pasted" spellcheck="false"></textarea>
        <div class="actions"><button class="primary">${this.strings.pasteDone}</button></div>
      </form>
    `
  }

  /** A list, or, of more conversations than anybody reads through, a number. */
  #conversations(words: Words): TemplateResult {
    const { log, conversation } = this.#desk
    const { strings } = this
    const { count, label } = words
    const all = log?.conversations ?? []
    const nameOf = ({ title, conversation: { id, messages } }: LoggedConversation) =>
      strings.conversationOption(label(title || id, 60), count(messages.length))
    const chosen = all[conversation]
    return html`
      <label class="field">
        ${strings.conversation}
        ${
          all.length > MOST_OPTIONS
            ? html`
                <input
                  type="number"
                  min="1"
                  max=${all.length}
                  .value=${String(conversation + 1)}
                  @change=${({ target }: Event) => this.#choose(Number((target as HTMLInputElement).value) - 1)}
                />
                <span class="quiet">${strings.ofAll(count(all.length))} ${chosen ? nameOf(chosen) : nothing}</span>
              `
            : html`
                <select @change=${({ target }: Event) => this.#choose(Number((target as HTMLSelectElement).value))}>
                  ${guard([log, conversation, strings], () =>
                    all.map(
                      (one, index) =>
                        html`<option value=${index} ?selected=${index === conversation}>${nameOf(one)}</option>`,
                    ),
                  )}
                </select>
              `
        }
      </label>
    `
  }

  #invitation(): TemplateResult {
    const { strings } = this
    return html`
      <section class="empty">
        ${mark(88)}
        <h3>${strings.invitation}</h3>
        <p>${strings.shapes}</p>
        <div class="actions">
          <button class="primary" @click=${this.openSample}>${strings.sample}</button>
          ${this.#actions()}
        </div>
        <p class="quiet small">${strings.stays}</p>
      </section>
    `
  }

  #work({ strings, label, count, share }: Words): TemplateResult {
    const { work, isCancelled, log, inspection } = this.#desk
    const said =
      work?.type === 'reading'
        ? strings.reading(label(work.name), share(work.share, 1))
        : work?.type === 'racing'
          ? strings.racing(count(work.done), count(work.of))
          : isCancelled && log
            ? strings.cancelled
            : ''
    const done = work?.type === 'reading' ? work.share : work ? work.done / work.of : 0
    return html`
      <div class="work" role="status">
        ${said === '' ? nothing : html`<span class="small">${said}</span>`}
        ${work || !inspection ? nothing : html`<span class="hidden">${strings.shown(count(inspection.calls.length))}</span>`}
        ${
          work
            ? html`<progress max="1" .value=${done} aria-label=${said}></progress>
                <button @click=${() => this.#desk.cancel()}>${strings.cancel}</button>`
            : nothing
        }
      </div>
    `
  }

  #unreadable({ strings, count, label }: Words): TemplateResult | typeof nothing {
    const { log, race } = this.#desk
    const { first, count: lines } = log?.unreadable ?? { first: [], count: 0 }
    const refused = race?.refused ?? []
    const many = lines + refused.length
    if (many === 0) return nothing
    const shown = [...first, ...refused].slice(0, MOST_REASONS)
    return html`
      <details class="notice" ?open=${log?.conversations.length === 0}>
        <summary>${strings.unreadable(count(many))}</summary>
        <ul class="small">
          ${shown.map(({ line, reason }) => html`<li>${strings.unreadableLine(count(line), label(reason, 300))}</li>`)}
          ${many > shown.length ? html`<li>${strings.more(count(many - shown.length))}</li>` : nothing}
        </ul>
      </details>
    `
  }

  #calls(words: Words): TemplateResult {
    const { strings, counter } = this
    const { inspection, call, detail, comparison, race, log } = this.#desk
    const calls = inspection?.calls ?? []
    const chosen = calls[call]
    const compared = this.#desk.other ?? (call > 0 ? call - 1 : undefined)
    const shown = detail?.shown
    const hasOthers = isBuilt(chosen?.outcomes.full)
    const hit = hitOf(chosen)
    const estimated = counter.kind === 'estimate' && log !== undefined && !shown?.shared
    return html`
      <section class="card hero" aria-labelledby="timeline">
        <div class="heading">
          <h2 id="timeline">${strings.timeline}</h2>
          <p class="small quiet">
            ${estimated ? strings.estimate : nothing} ${shown?.shared ? strings.shares : nothing}
          </p>
        </div>
        ${timelineView({
          calls,
          cap: inspection?.cap,
          chosen: call,
          compared: this.tab === 'diff' ? compared : undefined,
          pick: (to) => void this.#select(to),
        })}
        ${calls.length === 1 && inspection?.cap !== undefined && shown ? html`<p class="small">${strings.single(words.share(shown.used, inspection.cap))}</p>` : nothing}
        ${this.#scrubber(words)} ${this.#callView(words)}
        ${legend(shown, { hit, hasOthers, above: mostAbove(calls, inspection?.cap) }, words)}
        ${chosen ? facts(chosen, detail, words) : nothing}
        ${detail?.verified === undefined ? nothing : html`<p class="small quiet">${checkedWords(strings, detail)}</p>`}
      </section>
      ${
        race
          ? html`<section class="card hero" aria-labelledby="race">
              <div class="heading">
                <h2 id="race">${strings.race}</h2>
                <p class="small quiet">${strings.raceNote}</p>
              </div>
              ${raceView(race.lanes(), log?.conversations.length ?? 0, words)}
            </section>`
          : nothing
      }
      <section class="card">
        <div class="tabs" role="tablist" @keydown=${this.#tabKeys}>
          ${TABS.map(
            (tab) => html`
              <button
                role="tab"
                id="tab-${tab}"
                aria-controls="panel"
                aria-selected=${tab === this.tab}
                tabindex=${tab === this.tab ? 0 : -1}
                @click=${() => {
                  this.tab = tab
                }}
              >
                ${strings.tabs[tab]}
              </button>
            `,
          )}
        </div>
        <div class="panel" id="panel" role="tabpanel" aria-labelledby="tab-${this.tab}">
          ${guard([detail, comparison, this.tab, this.stretch, this.#desk.isBuilding, compared, strings], () => this.#panel(words, compared, comparison))}
        </div>
      </section>
    `
  }

  #scrubber({ strings, count }: Words): TemplateResult {
    const { inspection, call } = this.#desk
    const calls = inspection?.calls ?? []
    const figures = calls[call]?.outcomes.plimsoll
    const used = isBuilt(figures) ? count(figures.tokens) : '0'
    const cause = isBuilt(figures) && figures.cause ? (strings.epochCauses[figures.cause] ?? '') : ''
    const cap = inspection?.cap === undefined ? '' : count(inspection.cap)
    const last = calls.length - 1
    const arrow = (path: string) =>
      html`<svg width="36" height="16" viewBox="-10 0 36 16" aria-hidden="true"><path d=${path} fill="none" stroke="currentColor" stroke-width="2" /></svg>`
    return html`
      <div class="scrub">
        <button class="step" aria-label=${strings.previous} ?disabled=${call === 0} @click=${() => void this.#select(call - 1)}>
          ${arrow('M10 3L5 8l5 5')}
        </button>
        <input
          type="range"
          min="0"
          max=${last}
          .value=${String(call)}
          aria-label=${strings.call}
          aria-valuetext=${strings.callValue(count(call + 1), count(calls.length), used, cap, cause)}
          @input=${this.#scrubbed}
        />
        <button class="step" aria-label=${strings.next} ?disabled=${call >= last} @click=${() => void this.#select(call + 1)}>
          ${arrow('M6 3l5 5-5 5')}
        </button>
      </div>
    `
  }

  #callView(words: Words): TemplateResult {
    const { strings, count, share, label } = words
    const { inspection, call, detail, isBuilding } = this.#desk
    const calls = inspection?.calls ?? []
    const outcome = calls[call]?.outcomes.plimsoll
    const place = strings.callOf(count(call + 1), count(calls.length))
    if (outcome && !isBuilt(outcome))
      return html`
        <p class="big">${place}</p>
        <p>
          ${strings.refusedCall(label(outcome.reason, 200))}
          ${outcome.floor === undefined ? nothing : strings.refusedFloor(count(outcome.floor))}
        </p>
      `
    const shown = detail?.shown
    const used = shown?.used ?? outcome?.tokens ?? 0
    const cap = shown?.cap ?? inspection?.cap
    return html`
      <p class="big">
        ${place}
        <small>
          ${cap === undefined ? strings.usedAlone(count(used)) : strings.used(count(used), count(cap), share(used, cap))}
        </small>
      </p>
      ${shown ? callBar(shown, hitOf(calls[call]), words) : html`<p class="quiet">${isBuilding ? strings.waiting : nothing}</p>`}
    `
  }

  #panel(words: Words, compared: number | undefined, comparison: ReturnType<() => Desk['comparison']>) {
    const { strings } = this
    const { detail, inspection, call, isBuilding } = this.#desk
    if (this.tab === 'diff')
      return html`
        <div class="actions">
          <label class="field">
            ${strings.compareWith}
            <input
              type="number"
              min="1"
              max=${inspection?.calls.length ?? 1}
              .value=${compared === undefined ? '' : String(compared + 1)}
              @change=${this.#compared}
            />
          </label>
          <span class="small quiet">${strings.compareHint}</span>
        </div>
        ${comparison ? diffView(comparison, words) : isBuilding ? nothing : emptyTab(this.#notCompared(compared))}
      `
    if (isBuilding) return html`<p class="quiet">${strings.waiting}</p>`
    if (!detail) return this.#desk.failure === undefined ? emptyTab(strings.requestRefused) : nothing
    if (this.tab === 'left') return leftOutView(detail.shown, words)
    const pick = (stretch: number) => {
      this.stretch = stretch
    }
    const isUnsaid =
      inspection?.calls[call]?.answers === NEXT &&
      !detail.shown.segments.some(({ section }) => section === 'window')
    if (isUnsaid) return emptyTab(strings.requestUnsaid)
    return requestView({ shown: detail.shown, picked: this.stretch, pick }, words)
  }

  /** Why there is no comparison. */
  #notCompared(compared: number | undefined): string {
    const { strings } = this
    if (compared === this.#desk.call) return strings.compareSame
    if (compared !== undefined) return strings.compareNothing
    return this.#desk.inspection?.calls.length === 1 ? strings.compareOnly : strings.compareFirst
  }

  #select(call: number): Promise<void> {
    return this.#desk.select(call)
  }

  #scrubbed(event: Event): void {
    void this.#select(Number((event.target as HTMLInputElement).value))
  }

  #compared(event: Event): void {
    const { value } = event.target as HTMLInputElement
    void this.#desk.compareWith(value === '' ? undefined : Number(value) - 1)
  }

  #choose(conversation: number): void {
    if (this.#desk.log?.conversations[conversation]) void this.#desk.choose(conversation, this.#settings)
    else this.requestUpdate()
  }

  #lined(event: Event): void {
    const tokens = Number((event.target as HTMLInputElement).value)
    if (!Number.isSafeInteger(tokens) || tokens <= 0) return
    this.#ownBudget = undefined
    this.budget = tokens
  }

  #tabKeys(event: KeyboardEvent): void {
    const rtl = getComputedStyle(this).direction === 'rtl'
    const step = { ArrowRight: rtl ? -1 : 1, ArrowLeft: rtl ? 1 : -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const to = (TABS.indexOf(this.tab) + step + TABS.length) % TABS.length
    this.tab = TABS[to] ?? 'request'
    void this.updateComplete.then(() =>
      this.renderRoot.querySelector<HTMLElement>(`#tab-${this.tab}`)?.focus(),
    )
  }

  #pick(): void {
    this.renderRoot.querySelector<HTMLInputElement>('.file')?.click()
  }

  #picked(event: Event): void {
    const input = event.target as HTMLInputElement
    const file = input.files?.[0]
    if (file) void this.open(file)
    // So that the same file can be picked again.
    input.value = ''
  }

  #pasted(event: Event): void {
    event.preventDefault()
    const text = this.renderRoot.querySelector<HTMLTextAreaElement>('#pasted')?.value ?? ''
    if (text.trim() !== '') void this.open(new File([text], this.strings.pastedName))
  }

  #afterSample(): void {
    this.budget = this.#ownBudget ?? this.budget
    this.#ownBudget = undefined
  }

  /** Puts a log away; the session that it was opened over shows again. */
  #close(): void {
    const { source } = this
    this.isPasting = false
    this.#afterSample()
    void this.#keepFocus(
      () => (source ? this.#desk.watch(source, this.#settings) : this.#desk.clear()),
      source ? '.pick' : '.primary',
    )
  }

  /** What had the focus may go away with what is done; then it moves on, and is not lost. */
  async #keepFocus(run: () => Promise<void> | void, to: string): Promise<void> {
    const root = this.shadowRoot
    const hadFocus = root?.activeElement != null
    await run()
    await this.updateComplete
    if (hadFocus && root?.activeElement == null) root?.querySelector<HTMLElement>(to)?.focus()
  }

  #drag(event: DragEvent): void {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    this.isDropping = true
  }

  #leave(event: DragEvent): void {
    const { currentTarget, relatedTarget } = event
    if (!(relatedTarget instanceof Node) || !(currentTarget as Node).contains(relatedTarget))
      this.isDropping = false
  }

  #drop(event: DragEvent): void {
    this.isDropping = false
    const file = event.dataTransfer?.files[0]
    if (!file) return
    event.preventDefault()
    void this.open(file)
  }
}

/** Tokens that the call repeats of the one before. */
function hitOf(call: InspectedCall | undefined): number {
  const figures = call?.outcomes.plimsoll
  return isBuilt(figures) ? figures.hit : 0
}
