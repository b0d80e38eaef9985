/** The widget behind its launcher: everything that is loaded when it is first opened. */
import { html, nothing, render } from 'lit/html.js'
import { adopt } from '../adopt.ts'
import type { Added } from '../homes/added.ts'
import { type DraftEvent, draftOf, NEW } from '../homes/drafts.ts'
import { loaded } from '../homes/load.ts'
import { kept } from '../kept.ts'
import { adoptMarkdown } from '../markdown/prose.ts'
import type { Chat } from '../open-chat.ts'
import type { ConversationState, SessionEntry, Upload } from '../ports.ts'
import type { Words } from '../strings/words.ts'
import { Announcer } from './announcer.ts'
import { composer } from './composer.ts'
import { firstFocusable, keepFocusIn, placeOf } from './focus.ts'
import { header, notices } from './header.ts'
import { messageList } from './message-list.ts'
import { problemOf } from './problems.ts'
import { Reader } from './reader.ts'
import type { Actions, PanelScene, Scene, Side, Ui, ViewSettings } from './scene.ts'
import { viewStyle } from './style.ts'

/** What the view asks of the element around it. */
export interface ViewHost {
  settings(): ViewSettings
  /** Whether it covers the page, which then must not be reached. */
  isModal(): boolean
  hide(): void
}

const EMPTY_FIELD = {
  hasDraft: false,
  files: [],
  pasted: [],
  isUnkept: false,
  isEmptied: false,
  isLeft: false,
  problem: undefined,
} satisfies Partial<Ui>

const AT_FIRST: Ui = {
  openings: 0,
  isMore: false,
  ...EMPTY_FIELD,
  query: '',
  whole: new Set(),
}

/** What was said comes first; right after it, what stands beside it. */
const BESIDE_MS = 100
/** Then, before the page may be offline, what answering needs, and what a reader may scroll to. */
const PREPARE_MS = 1_000
const COPIED_MS = 1_600
const SOUGHT_MS = 3_000
const DRAFT_MS = 300
/** UTF-16 units. Browsers lay out a longer field for seconds, with each key that is pressed. */
const LONGEST_TYPED = 20_000

const KEY_EVENTS = ['keydown', 'keypress', 'keyup'] as const

type SidePanel = (scene: PanelScene) => unknown

/** One chat in one element: draws what its conversation says, at most once a frame. */
export class ChatView {
  readonly #root: HTMLElement
  readonly #host: ViewHost
  readonly #chat: Chat
  readonly #reader: Reader
  readonly #announcer: Announcer
  readonly #frame: HTMLElement
  readonly #ends: (() => void)[] = []
  #words: Words
  /** As they were given: without those of panels. */
  #given: Words
  #hasPanels = false
  #ui = AT_FIRST
  #frameRequest = 0
  readonly #closed = new AbortController()
  #newest: string | undefined
  #sidePanels: { readonly [Name in Side]?: SidePanel } = {}
  #listed: Promise<void> | undefined
  #hadReply = false
  #copiedTimer: ReturnType<typeof setTimeout> | undefined
  /** What had the focus when a panel was opened. */
  #opener: Element | null | undefined
  #soughtTimer: ReturnType<typeof setTimeout> | undefined
  #draftTimer: ReturnType<typeof setTimeout> | undefined
  /** Whose draft stands in the field. */
  #drafted: { readonly session: SessionEntry; readonly name: string } | undefined
  /** Whether something was typed since the field was read, and stands there or is not kept. */
  #isTyped = false
  /** Counts how often all drafts were forgotten: what was written before comes back no more. */
  #forgotten = 0
  /** Drafts that are on their way, by name: they stay kept until they are there. */
  readonly #sending = new Set<string>()

  /** @param root is emptied; it must be inside of a shadow root */
  constructor(root: HTMLElement, chat: Chat, words: Words, host: ViewHost) {
    this.#root = root
    this.#chat = chat
    this.#words = this.#given = words
    words.isHasty = true
    this.#host = host
    adopt(this.#shadow, viewStyle)
    adoptMarkdown(this.#shadow)
    const live = element('unseen')
    live.ariaLive = 'polite'
    this.#announcer = new Announcer(live)
    this.#frame = element('frame')
    const chatElement = element('chat')
    chatElement.append(this.#frame, live)
    root.replaceChildren(chatElement)
    this.#reader = new Reader({
      height: innerHeight,
      messages: () => chat.conversation.getSnapshot().messages,
      hasOlder: () => chat.conversation.getSnapshot().hasOlder,
      showOlder: () => chat.conversation.showOlder(),
      releaseOlder: (messages) => chat.conversation.releaseOlder(messages),
      draw: () => this.draw(),
    })
    const { signal } = this.#closed
    root.addEventListener('keydown', this.#keyPressed, { signal })
    for (const type of KEY_EVENTS) root.addEventListener(type, keepTyped, { signal })
    root.addEventListener('click', this.#clicked, { signal })
    addEventListener('pagehide', this.#keepDraft, { signal })
    chat.drafts.subscribe(this.#draftsChanged)
    this.#ends.push(
      this.#keepDraft,
      ...[chat.conversation, chat.sessions, chat.models].map((each) => each.subscribe(() => this.draw())),
    )
    this.#draw()
    // Wide windows have the list of conversations in sight.
    const sight = new ResizeObserver(([entry]) => {
      if (entry?.contentRect.width) this.#loadList()
    })
    // Behind what is shown first.
    const timers = [
      setTimeout(() => {
        words.isHasty = false
        this.draw()
        sight.observe(this.#frame.firstElementChild as Element)
      }, BESIDE_MS),
      setTimeout(() => {
        this.#reader.fillTwice()
        chat.conversation.prepare()
        this.#actions.loadLater()
      }, PREPARE_MS),
    ]
    this.#ends.push(() => {
      sight.disconnect()
      timers.forEach(clearTimeout)
    })
  }

  /** Shows other words; those of panels, too, once one was opened. */
  async reword(words: Words): Promise<void> {
    this.#given = words
    const shown = this.#hasPanels
      ? await (await import('../strings/panels/load.ts')).loadPanelWords(words)
      : words
    if (this.#given !== words) return
    this.#words = shown
    this.draw()
  }

  /** Draws with the next frame; as often as it is called before that, once. */
  draw(): void {
    if (!this.#closed.signal.aborted) this.#frameRequest ||= requestAnimationFrame(() => this.#draw())
  }

  /** Puts the caret where one writes. */
  focus(): void {
    this.#textarea()?.focus({ preventScroll: true })
  }

  close(): void {
    this.#closed.abort()
    for (const end of this.#ends) end()
    cancelAnimationFrame(this.#frameRequest)
    clearTimeout(this.#draftTimer)
    this.#reader.disconnect()
    render(nothing, this.#frame)
    this.#root.replaceChildren()
  }

  #draw(): void {
    this.#frameRequest = 0
    this.#noteNews(this.#chat.conversation.getSnapshot())
    // A panel shows once its words are there.
    const scene = this.#scene() as PanelScene
    const { side } = this.#ui
    const shown = side && this.#sidePanels[side]
    const panel = side === 'sessions' ? undefined : shown
    // Told of each drawing, it lets go of what it read once it is closed.
    const seen = this.#sidePanels.seen?.(scene)
    const sessions = this.#sidePanels.sessions?.(scene) ?? html`<aside class="side sessions"></aside>`
    const held = placeOf(this.#frame)
    // While a panel loads, what opened it stays in reach and keeps the focus.
    this.#frame.classList.toggle('covered', Boolean(shown))
    this.#frame.classList.toggle('remembering', Boolean(panel))
    render(
      html`${sessions}
        <section class="main">${header(scene)}${notices(scene)}${messageList(scene, this.#reader)}${composer(scene)}</section>
        ${side === 'seen' ? seen : panel?.(scene)}`,
      this.#frame,
    )
    this.#followDraft(scene.state)
    this.#awaitReply(scene.state)
    // What had the focus cannot have it any more: it goes to what stands there now.
    if (held?.element.matches(':disabled, :not(.chat *)')) (firstFocusable(held) ?? this.#textarea())?.focus()
    const scroller = this.#frame.querySelector<HTMLElement>('.scroller')
    if (scroller) this.#reader.follow(scroller)
    this.#reader.settle()
    this.#announcer.follow(scene.state.reply, this.#words, scene.now)
  }

  #scene(): Scene {
    return {
      words: this.#words,
      settings: this.#host.settings(),
      state: this.#chat.conversation.getSnapshot(),
      sessions: this.#chat.sessions.getSnapshot(),
      ui: this.#ui,
      chat: this.#chat,
      now: Date.now(),
      update: (change) => this.#update(change),
      attempt: (task) => this.#attempt(task),
      act: this.#actions,
    }
  }

  #update(change: Partial<Ui>): void {
    this.#ui = { ...this.#ui, ...change }
    this.draw()
  }

  #attempt(task: Promise<unknown>): void {
    task.catch((error: unknown) => this.#update({ problem: problemOf(error) }))
  }

  /** Notes whether somebody who reads above the end has missed something. */
  #noteNews({ messages }: ConversationState): void {
    const newest = messages.at(-1)?.message.id
    const isNew = newest !== this.#newest && this.#newest !== undefined
    this.#newest = newest
    const { isAtEnd } = this.#reader
    if (isAtEnd || isNew) this.#ui = { ...this.#ui, hasNews: !isAtEnd }
  }

  readonly #actions: Actions = {
    send: () => void this.#send(),
    stop: () => this.#attempt(this.#chat.conversation.stop()),
    openSession: (sessionId, home, messageId) =>
      this.#open(
        this.#chat.conversation.open(sessionId, { home }),
        messageId === undefined ? undefined : () => this.#seek(sessionId, messageId),
      ),
    newSession: (home = this.#chat.conversation.getSnapshot().session?.home) =>
      this.#open(this.#chat.conversation.create(home && { home })),
    hide: () => this.#host.hide(),
    toEnd: () => {
      this.#reader.toEnd()
      this.focus()
    },
    copy: (text, messageId) => this.#attempt(this.#copy(text, messageId)),
    show: (side) => this.#show(side),
    say: (text) => this.#announcer.say([text]),
    showSeen: (sentFor) => {
      this.#update({ sentFor })
      this.#show('seen')
    },
    showAll: (messageId) => this.#update({ whole: new Set([...this.#ui.whole, messageId]) }),
    loadLater: () => void this.#loadLater().catch(() => {}),
    edit: (messageId) => this.#attempt(this.#edit(messageId)),
    forget: (messageId) => this.#attempt(this.#forget(messageId)),
    typed: () => {
      this.#isTyped = true
      const hasDraft = !!this.#textarea()?.value.trim()
      if (hasDraft !== this.#ui.hasDraft) this.#update({ hasDraft })
      clearTimeout(this.#draftTimer)
      this.#draftTimer = setTimeout(this.#keepDraft, DRAFT_MS)
      // Where that was not done, or failed.
      if (hasDraft) this.#chat.conversation.prepare()
    },
    add: (change) => this.#add(change),
    addFiles: (files) => this.#attempt(this.#addFiles(files)),
    paste: (text) => {
      if (text.length <= LONGEST_TYPED) return false
      this.#add({ pasted: [...this.#ui.pasted, text] })
      return true
    },
  }

  /** What was typed leaves the composer at once, and comes back if it could not be kept. */
  async #send(): Promise<void> {
    const textarea = this.#textarea()
    const { files, pasted } = this.#ui
    const typed = textarea?.value.trim() ?? ''
    const text = [typed, ...pasted].filter((each) => each.trim() !== '').join('\n\n')
    if (!textarea || (text === '' && files.length === 0)) return
    const name = this.#drafted?.name ?? NEW
    const session = this.#target()
    const forgotten = this.#forgotten
    const own = this.#chat.drafts.own()
    this.#keepDraft()
    textarea.value = ''
    this.#isTyped = false
    this.#sending.add(name)
    this.#update(EMPTY_FIELD)
    this.#reader.toEnd()
    let isSent = false
    try {
      const uploads = await Promise.all(files.map(uploadOf))
      // Somebody else's by now.
      if (forgotten === this.#forgotten)
        isSent = await this.#chat.conversation.send(text, { uploads, by: own.by, session })
    } catch (error) {
      this.#update({ problem: problemOf(error) })
    }
    this.#sending.delete(name)
    const isOver = forgotten !== this.#forgotten
    const isThere = draftOf(this.#chat.conversation.getSnapshot().session) === draftOf(session)
    const isShown = !isOver && (name === this.#drafted?.name || isThere)
    if (!isSent && !isOver && session && !isThere) this.#update({ isLeft: true })
    if (isSent) {
      own.write(name, isShown ? textarea.value : '')
      if (!isOver && hasAdded({ files, pasted })) this.#keepAdded(name, isShown ? this.#ui : EMPTY_FIELD)
    } else if (isShown) {
      textarea.value = [typed, textarea.value].filter(Boolean).join('\n')
      this.#add({ files: [...files, ...this.#ui.files], pasted: [...pasted, ...this.#ui.pasted] })
      this.#actions.typed()
    }
  }

  /**
   * The session that what is in the field is for. What was written in one in which nothing was said
   * yet is for the next such one, too.
   */
  #target(): SessionEntry | undefined {
    const { session, loaded, messages } = this.#chat.conversation.getSnapshot()
    const isNew = this.#drafted?.name === NEW && loaded && messages.length === 0
    return (!isNew && this.#drafted?.session) || session
  }

  #open(opened: Promise<unknown>, seek?: () => Promise<void>): void {
    this.#update({
      ...{ side: undefined, editing: undefined, forgetting: undefined },
      ...{ problem: undefined, sought: undefined },
      hasNews: false,
    })
    this.#newest = undefined
    this.#announcer.forget()
    this.#reader.toEnd()
    if (!seek) this.focus()
    this.#attempt(seek ? opened.then(seek) : opened)
  }

  /** Shows a message of a conversation that was opened for it, marks it, and gives it the focus. */
  async #seek(sessionId: string, messageId: string): Promise<void> {
    const { seek } = await this.#loadPart(() => import('./session-list.ts'), false)
    const sought = await seek(this.#chat.conversation, this.#reader, sessionId, messageId)
    this.#update({ sought })
    this.#focusSoon('.sought')
    clearTimeout(this.#soughtTimer)
    this.#soughtTimer = setTimeout(() => this.#update({ sought: undefined }), SOUGHT_MS)
  }

  #show(side: Side | undefined): void {
    const before = this.#ui.side
    this.#update({ side, openings: this.#ui.openings + 1 })
    if (side === undefined) {
      if (before) this.#focusSoon(`.to-${before}`, this.#opener)
      return
    }
    this.#opener = this.#ui.isMore ? this.#frame.querySelector('.to-more') : this.#shadow.activeElement
    const enter = (): void => {
      if (this.#ui.side === side) this.#focusSoon(`.side.${side} :is(button, input)`)
    }
    if (this.#sidePanels[side]) enter()
    else this.#attempt(this.#loadPanel(side).then(enter))
  }

  async #loadPanel(side: Side): Promise<void> {
    try {
      const panel = await this.#loadPart(() => this.#panel(side), side !== 'sessions')
      // Asked for twice before it was there, the first one goes on: it knows what was done in it.
      this.#sidePanels = { [side]: panel, ...this.#sidePanels }
    } catch (error) {
      if (this.#ui.side === side) this.#update({ side: undefined })
      throw error
    }
    this.draw()
  }

  async #panel(side: Side): Promise<SidePanel> {
    switch (side) {
      case 'sessions':
        return (await import('./session-list.ts')).sessionList()
      case 'memory':
        return (await import('./memory-panel.ts')).memoryPanel(
          this.#chat,
          () => this.draw(),
          (selector) => this.#focusSoon(selector),
        )
      case 'seen': {
        const { seenPanel, seenStyle } = await import('./seen-panel.ts')
        adopt(this.#shadow, seenStyle)
        return seenPanel(this.#chat, () => this.draw())
      }
      case 'model':
        return (await import('./model-panel.ts')).modelPanel
    }
  }

  async #edit(editing: string): Promise<void> {
    await this.#loadLater()
    this.#update({ editing })
    this.#focusSoon('.editor textarea')
  }

  readonly #loadLater = kept(async () => {
    const later = await this.#loadPart(() => import('./later.ts'), false)
    later.attach(this.#frame, this.#scene())
    this.#update({ later })
  })

  async #forget(messageId: string): Promise<void> {
    const { activeElement: asker } = this.#shadow
    // It stood in the page for screen readers, whatever was forgotten.
    this.#announcer.forget()
    const { forgetting } = await this.#loadPart(() => import('./forget-message.ts'))
    const update = (shown: Ui['forgetting']): void => this.#update({ forgetting: shown })
    const untitled = this.#words.text('untitled')
    const focus = this.#focusSoon.bind(this)
    update(forgetting(messageId, { chat: this.#chat, untitled, asker, update, focus }))
    this.#focusSoon('.forgetting button')
  }

  /** Loads a part with the look of panels, and with their words. @throws ERR_NOT_LOADED */
  async #loadPart<Part>(load: () => Promise<Part>, hasWords = true): Promise<Part> {
    this.#hasPanels ||= hasWords
    const [part, { panelStyle }] = await loaded(() =>
      Promise.all([load(), import('./panel-style.ts'), hasWords && this.reword(this.#given)]),
    )
    adopt(this.#shadow, panelStyle)
    return part
  }

  async #copy(text: string, messageId: string): Promise<void> {
    await navigator.clipboard.writeText(text)
    this.#update({ copied: messageId })
    clearTimeout(this.#copiedTimer)
    this.#copiedTimer = setTimeout(() => this.#update({ copied: undefined }), COPIED_MS)
  }

  /** Puts what was typed before in a conversation into the field, when that conversation shows. */
  #followDraft({ session, loaded, messages }: ConversationState): void {
    const textarea = this.#textarea()
    const before = this.#drafted
    if (!textarea || !session) return
    // One in which nothing was said yet has another id after a reload.
    const isNew = messages.length === 0
    const own = draftOf(session)
    const name = isNew && loaded ? NEW : own
    if (before && own === draftOf(before.session)) {
      if (before.name === name) return
      if (textarea.value && !this.#sending.has(before.name)) this.#chat.drafts.write(before.name, '')
      if (hasAdded(this.#ui)) {
        this.#keepAdded(before.name, EMPTY_FIELD)
        this.#keepAdded(name, this.#ui)
      }
    } else if (before) {
      this.#keepDraft()
      textarea.value = ''
      this.#update(EMPTY_FIELD)
    } else if (isNew && !loaded) return
    this.#drafted = { session, name }
    const isEmpty = !textarea.value
    if (!this.#sending.has(name)) {
      if (!hasAdded(this.#ui) && this.#chat.hasAdded(name)) this.#attempt(this.#showAdded(name))
      if (isEmpty) textarea.value = this.#chat.drafts.read(name)
    }
    // What is only read here may have been sent by now, or changed, where it was typed.
    const isTyped = !isEmpty && this.#isTyped
    if (textarea.value) this.#actions.typed()
    this.#isTyped = isTyped
  }

  /** Loads the list of conversations once a reply was made here. */
  #awaitReply({ reply, online }: ConversationState): void {
    if (reply) this.#hadReply = true
    else if (this.#hadReply && online) this.#loadList()
  }

  #loadList(): void {
    // Where that fails, opening it says so.
    this.#listed ??= this.#loadPanel('sessions').catch(() => {})
  }

  /** What was only read may be older by now than what another tab wrote. */
  readonly #keepDraft = (): void => {
    const { name } = this.#drafted ?? {}
    if (!name || !this.#isTyped || this.#sending.has(name)) return
    const value = this.#textarea()?.value ?? ''
    this.#chat.drafts.write(name, value)
    this.#isTyped = !!value
  }

  /** The next who writes here may be somebody else. */
  readonly #draftsChanged = (event: DraftEvent): void => {
    const isFilled = !!this.#textarea()?.value || hasAdded(this.#ui)
    if (event !== 'gone') this.#keepDraft()
    if (event === 'named' ? isFilled : event === 'asked') return
    if (event !== 'named') {
      this.#forgotten++
      this.#sending.clear()
      this.#announcer.forget()
    }
    this.#drafted = undefined
    this.#textarea()?.form?.reset()
    const isEmptied = event === 'gone' && isFilled
    this.#update({ ...EMPTY_FIELD, isEmptied, query: '', found: undefined })
  }

  /** Changes what was added, and keeps it until it is sent. */
  #add(change: Partial<Ui>): void {
    this.#update(change)
    this.#keepAdded(this.#drafted?.name, this.#ui)
  }

  /** They are where they were chosen at once, and go with what is sent; a bad one is taken out. */
  async #addFiles(files: readonly File[]): Promise<void> {
    this.#add({ files: [...this.#ui.files, ...files], problem: undefined })
    // Where it does not load, a bad one is refused with its message.
    const local = await import('../homes/local-changes.ts').catch(() => undefined)
    const checked = await local?.checkFiles(files, this.#words.text('comma'))
    const isBad = (file: File) => files.includes(file) && !checked?.taken.includes(file)
    // As it is if it was sent by now, or if something else shows.
    if (checked?.problem && this.#ui.files.some(isBad))
      this.#add({ files: this.#ui.files.filter((file) => !isBad(file)), problem: checked.problem })
  }

  #keepAdded(name: string | undefined, added: Added): void {
    if (name === undefined || this.#sending.has(name)) return
    void this.#chat
      .added()
      .then((all) => all.write(name, added))
      .catch(() => true)
      .then((isLost) => name === this.#drafted?.name && this.#update({ isUnkept: !!isLost }))
  }

  async #showAdded(name: string): Promise<void> {
    const drafted = this.#drafted
    const added = await (await this.#chat.added()).read(name)
    // Another user or conversation shows, or something else was added.
    if (this.#drafted === drafted && !hasAdded(this.#ui)) this.#update(added)
  }

  /** Escape ends the nearest thing: the reply, what covers the messages, the widget. */
  readonly #keyPressed = (event: KeyboardEvent): void => {
    if (event.isComposing) return
    if (event.key === 'Tab' && this.#host.isModal()) keepFocusIn(this.#frame, event)
    if (event.key !== 'Escape') return
    if (this.#ui.isMore) {
      this.#update({ isMore: false })
      this.#focusSoon('.to-more')
    } else if (this.#ui.side) this.#show(undefined)
    else if (this.#chat.conversation.getSnapshot().reply) this.#actions.stop()
    else if (this.#host.settings().isFloating) this.#host.hide()
    else return
    event.stopPropagation()
  }

  /** Copies a code block; any click but that which opens it ends the menu. */
  readonly #clicked = ({ target }: Event): void => {
    const clicked = target as Element
    if (this.#ui.isMore && !clicked.closest('.to-more')) this.#update({ isMore: false })
    const button = clicked.closest('[data-copy]')
    const code = button?.closest('figure')?.querySelector('code')
    if (!button || !code) return
    this.#attempt(
      navigator.clipboard.writeText(code.textContent).then(() => {
        button.textContent = this.#words.text('copied')
        setTimeout(() => {
          button.textContent = this.#words.text('copyCode')
        }, COPIED_MS)
      }),
    )
  }

  /** @param first what takes it before what the selector names, if it is there */
  #focusSoon(selector: string, first?: Element | null): void {
    requestAnimationFrame(() => {
      this.#draw()
      const found = [first, ...this.#frame.querySelectorAll(selector)] as (HTMLElement | undefined)[]
      const seen = found.find((each) => each?.offsetParent) ?? this.#textarea()
      seen?.focus()
      // Firefox leaves a part of what takes the focus out of sight.
      seen?.scrollIntoView({ block: 'nearest' })
      if (seen instanceof HTMLTextAreaElement) seen.setSelectionRange(seen.value.length, seen.value.length)
    })
  }

  get #shadow(): ShadowRoot {
    return this.#root.getRootNode() as ShadowRoot
  }

  #textarea(): HTMLTextAreaElement | null {
    return this.#frame.querySelector('.composer textarea')
  }
}

/**
 * Keeps what is typed in a field from the page, whose shortcuts it would be: from there the target
 * is the widget, and no field.
 */
function keepTyped(event: Event): void {
  const [target] = event.composedPath()
  if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) event.stopPropagation()
}

function hasAdded({ files, pasted }: Added): boolean {
  return files.length + pasted.length > 0
}

async function uploadOf(file: File): Promise<Upload> {
  const mediaType = file.type || 'application/octet-stream'
  // More than 8 MiB is refused, however much more it is.
  return { name: file.name, mediaType, bytes: new Uint8Array(await file.slice(0, 9e6).arrayBuffer()) }
}

function element(className: string): HTMLElement {
  const made = document.createElement('div')
  made.className = className
  return made
}
