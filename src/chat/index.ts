/** `<plimsoll-chat>`: a chat over an agent's memory. `plimsoll/chat/define` registers it. */
import type { AgentTool } from '../agent/options.ts'
import type { Message } from '../ports/message.ts'
import { adopt } from './adopt.ts'
import type { ChatView, ViewHost } from './element/view.ts'
import { type LauncherLabels, labelsFor } from './launcher/labels.ts'
import { launcher, waiting } from './launcher/parts.ts'
import { launcherStyle } from './launcher/style.ts'
import type { Chat, SignedOut, SignOutOptions } from './open-chat.ts'
import type { HomeKind, Inspected, Problem, ShownCall } from './ports.ts'
import type { ChatEvent, ChatModel, ChatSettings } from './settings.ts'
import { loadStrings } from './strings/load.ts'
import type { Strings } from './strings/panels/catalogue.ts'
import type { Words } from './strings/words.ts'

export type { Lost } from './homes/edge.ts'
export type { LauncherLabels } from './launcher/labels.ts'
export type { SignedOut, SignOutOptions } from './open-chat.ts'
export type { HomeKind, Inspected, Problem, ShownCall } from './ports.ts'
export type { ChatModel, ReplyFunction } from './settings.ts'
export type { Plural } from './strings/catalogue.ts'
export type { Strings } from './strings/panels/catalogue.ts'

/** Words of the app's own; what is left out is the catalogue's. */
export type ChatStrings = Partial<Strings & LauncherLabels>

/** Where the widget is: in a corner behind a button, or filling its container or the page. */
export type Placement = 'bottom-right' | 'bottom-left' | 'inline' | 'page'

/** Who the user is, from now on: of a local memory an id, of an edge a token. */
export type ChatUser = { readonly userId: string } | { readonly token: string }

/** Type of the events, by their names. */
export interface PlimsollChatEventMap {
  'plimsoll-open': CustomEvent<undefined>
  'plimsoll-close': CustomEvent<undefined>
  'plimsoll-message': CustomEvent<{ readonly sessionId: string; readonly message: Message }>
  'plimsoll-tool-call': CustomEvent<{ readonly sessionId: string; readonly call: ShownCall }>
  'plimsoll-error': CustomEvent<{ readonly sessionId: string | undefined; readonly problem: Problem }>
}

/** Milliseconds after which it says that it opens: before that, nobody would read it. */
const SLOW_MS = 200
const NARROW = '(max-width: 30em)'

/** No DOM, as on a server: the class can be named there, but nothing can be made of it. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

/**
 * A chat. It is a small launcher; all else is loaded when it is first opened.
 *
 * @tag plimsoll-chat
 * @tagname plimsoll-chat
 *
 * @attr {string} src - Base URL of an edge; empty: where the page is from. Without it everything
 * stays in this browser
 * @attr {boolean} synced - With `src`: whether this browser keeps the edge's conversations, too, so
 * that they are there without a network. Without `src` the chat does not open
 * @attr {string} session - Id of the conversation to show; it follows what is shown. Without it:
 * the newest, or an empty one
 * @attr {boolean} linked - Whether `session` comes from a link: where no conversation has that id,
 * the chat says so, instead of beginning one
 * @attr {string} lang - Language, as a BCP 47 tag. Default: that of the document
 * @attr {'bottom-right'|'bottom-left'|'inline'|'page'} placement - Where it is. Default
 * `bottom-right`
 * @attr {string} heading - Title of the widget, where the conversation has none
 * @attr {string} placeholder - What the empty field for messages says
 * @attr {boolean} open - Whether it is open; it follows `show()` and `hide()`
 * @attr {boolean} developer - Shows codes of errors, and a form for a model's endpoint
 *
 * @fires {CustomEvent<undefined>} plimsoll-open - It was opened
 * @fires {CustomEvent<undefined>} plimsoll-close - It was closed
 * @fires {CustomEvent} plimsoll-message - A message is durable, sent or received:
 * `detail.sessionId`, `detail.message`
 * @fires {CustomEvent} plimsoll-tool-call - A tool begins: `detail.sessionId`, `detail.call`
 * @fires {CustomEvent} plimsoll-error - Something failed: `detail.problem`
 *
 * @slot launcher - Picture of the button that opens it
 * @slot header - Further buttons of the header; where there is little room, they are in a menu
 * @slot empty - What an empty conversation shows
 * @slot footer - Below the field for messages
 *
 * @csspart launcher - The button that opens it
 * @csspart frame - All that it opens
 * @csspart header - Its header
 * @csspart messages - The list of messages
 * @csspart message - One message
 * @csspart composer - The field for messages with its buttons
 * @csspart send - The button that sends or stops
 * @csspart sessions - The list of conversations
 * @csspart memory - The panel of what is remembered
 *
 * @cssprop [--plimsoll-accent=light-dark(#14598c, #7cc0ee)] - The one accent
 * @cssprop [--plimsoll-on-accent=light-dark(#fff, #06202f)] - Text on the accent
 * @cssprop [--plimsoll-surface=light-dark(#fff, #12171c)] - Background
 * @cssprop [--plimsoll-raised=light-dark(#f3f5f7, #1c232a)] - Background of code, notices and side
 * panels
 * @cssprop [--plimsoll-text=light-dark(#17202a, #e8edf2)] - Text
 * @cssprop [--plimsoll-muted=light-dark(#566270, #9dabb9)] - Text beside the text
 * @cssprop [--plimsoll-line=light-dark(#dfe4e9, #2c353e)] - Lines and borders
 * @cssprop [--plimsoll-danger=light-dark(#a8281f, #ff9d92)] - What went wrong, or removes
 * @cssprop [--plimsoll-font=system-ui] - Font of the text
 * @cssprop [--plimsoll-mono=ui-monospace] - Font of code
 * @cssprop [--plimsoll-radius=1.25rem] - Corners of the frame
 * @cssprop [--plimsoll-width=25rem] - Width of the frame in a corner
 * @cssprop [--plimsoll-height=42rem] - Height of the frame in a corner
 * @cssprop [--plimsoll-offset=1.25rem] - Distance from the corner
 * @cssprop [--plimsoll-z-index=2147483000] - Place in the stack of the page
 */
export class PlimsollChat extends Base {
  static readonly observedAttributes =
    'src synced session linked lang placement heading placeholder open developer'.split(' ')

  /**
   * The model of conversations in this browser: one of the library's, or a function that answers.
   */
  declare model?: ChatModel | undefined
  /** Tools that run in this page, for conversations in this browser. */
  declare tools?: readonly AgentTool[] | undefined
  /** Gives what the model is to know of the page, asked for each call. */
  declare pageContext?: (() => string | Promise<string>) | undefined
  #getToken: ChatSettings['getToken']
  #strings: ChatStrings = {}
  #shell: HTMLElement | undefined
  #frame: HTMLElement | undefined
  #button: HTMLButtonElement | undefined
  #chat: Promise<Chat> | undefined
  #view: ChatView | undefined
  #viewing: Promise<void> | undefined
  readonly #documentLanguage = new MutationObserver(() => this.#relabel())

  /**
   * Gives the token of the edge; it is given the one that the edge refused, if it did. Without it:
   * a guest's. A chat that has begun as a guest's opens again where it is given one.
   */
  get getToken(): ((refused?: string) => string | Promise<string>) | undefined {
    return this.#getToken
  }
  set getToken(value: ((refused?: string) => string | Promise<string>) | undefined) {
    const isOther = !this.#getToken !== !value
    this.#getToken = value
    if (!isOther || !this.#chat || this.src === undefined) return
    const leave = ({ conversation }: Chat): void => {
      const { loaded, isMissing, messages } = conversation.getSnapshot()
      // Nothing was said in it: the newest conversation shows, as it would have at first.
      if (loaded && !isMissing && messages.length === 0) this.session = undefined
    }
    this.#chat.then(leave, () => {})
    this.#reopen()
  }

  /** Words that win over the catalogue's. */
  get strings(): ChatStrings {
    return this.#strings
  }
  set strings(strings: ChatStrings | undefined) {
    this.#strings = strings ?? {}
    this.#relabel()
  }

  get src(): string | undefined {
    return this.getAttribute('src') ?? undefined
  }
  set src(value: string | undefined) {
    this.#reflect('src', value)
  }

  get synced(): boolean {
    return this.hasAttribute('synced')
  }
  set synced(value: boolean) {
    this.toggleAttribute('synced', value)
  }

  get session(): string | undefined {
    return this.getAttribute('session') || undefined
  }
  set session(value: string | undefined) {
    this.#reflect('session', value)
  }

  get placement(): Placement {
    const value = this.getAttribute('placement')
    return value === 'inline' || value === 'page' || value === 'bottom-left' ? value : 'bottom-right'
  }
  set placement(value: Placement | undefined) {
    this.#reflect('placement', value)
  }

  get heading(): string | undefined {
    return this.getAttribute('heading') ?? undefined
  }
  set heading(value: string | undefined) {
    this.#reflect('heading', value)
  }

  get placeholder(): string | undefined {
    return this.getAttribute('placeholder') ?? undefined
  }
  set placeholder(value: string | undefined) {
    this.#reflect('placeholder', value)
  }

  get open(): boolean {
    return this.hasAttribute('open')
  }
  set open(value: boolean) {
    this.toggleAttribute('open', value)
  }

  get developer(): boolean {
    return this.hasAttribute('developer')
  }
  set developer(value: boolean) {
    this.toggleAttribute('developer', value)
  }

  get linked(): boolean {
    return this.hasAttribute('linked')
  }
  set linked(value: boolean) {
    this.toggleAttribute('linked', value)
  }

  connectedCallback(): void {
    this.#adoptEarlyProperties()
    // What it loads is on its way while the rest is made.
    if (this.#isShown) this.#opened().catch(() => {})
    this.#layOut()
    this.#documentLanguage.observe(document.documentElement, { attributeFilter: ['lang'] })
    if (this.#isShown) void this.#reveal()
  }

  disconnectedCallback(): void {
    this.#documentLanguage.disconnect()
    // Moved within its page it is connected again at once.
    queueMicrotask(() => {
      if (!this.isConnected) void this.#close()
    })
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now || !this.#shell || !this.isConnected) return
    if (name === 'open') this.#openChanged()
    else if (name === 'src' || name === 'synced') this.#reopen()
    else if (name === 'placement') this.#layOut()
    else if (name === 'session' && now) void this.#chat?.then((chat) => showSession(chat, now))
    else this.#relabel()
  }

  /** Opens it. Resolves when it can be written in. */
  async show(): Promise<void> {
    this.open = true
    await this.#reveal()
    this.#view?.focus()
  }

  /** Closes it. Nothing that runs is stopped. */
  hide(): void {
    this.open = false
  }

  /** Sends a message in the conversation that is shown. Resolves whether it is kept. */
  async send(text: string): Promise<boolean> {
    return (await this.#opened()).conversation.send(text)
  }

  /**
   * Shows an empty conversation; `home` is where it is kept, by default the edge where there is
   * one. Resolves its id.
   */
  async newSession(options?: { readonly home?: HomeKind }): Promise<string> {
    return (await this.#opened()).conversation.create(options)
  }

  /** Says who the user is; what they said as a guest goes with them. */
  async identify(user: ChatUser): Promise<void> {
    await (await this.#opened()).identify(user)
  }

  /**
   * Ends the user's time here; with `erase` nothing readable of it stays in this browser. Where
   * something that was not sent would be lost by that, nothing is done without `force`, and `lost`
   * says what it is. With `dryRun` nothing is done: ask the person by what it says.
   */
  async signOut(options?: SignOutOptions): Promise<SignedOut> {
    const chat = await this.#opened()
    const signedOut = await chat.signOut(options)
    if (!signedOut.done) return signedOut
    // Nobody can open it again.
    if (options?.erase) this.session = undefined
    // As to a new visitor.
    await chat.conversation.create()
    return signedOut
  }

  /**
   * The session behind the conversation that is shown, for `sessionSource` or `clientSource` of
   * `plimsoll/inspector`. Undefined: nothing was said in it yet.
   */
  async inspected(): Promise<Inspected | undefined> {
    return (await this.#opened()).conversation.inspected()
  }

  /** Opens what is behind the view. Replaceable in tests. */
  protected async openChat(settings: ChatSettings): Promise<Chat> {
    // Both at once: where there is no edge, the second is needed next.
    const local = settings.src === undefined ? import('./homes/local.ts') : undefined
    local?.catch(() => {})
    return (await import('./element/opened.ts')).openChat(settings, local)
  }

  get #isFloating(): boolean {
    return this.placement.startsWith('bottom-')
  }

  get #isShown(): boolean {
    return !this.#isFloating || this.open
  }

  get #language(): string {
    return (
      this.closest<HTMLElement>('[lang]')?.lang || document.documentElement.lang || navigator.language || 'en'
    )
  }

  /** Properties that were set before the class was known stand in front of its accessors. */
  #adoptEarlyProperties(): void {
    const own = this as unknown as Record<string, unknown>
    for (const name of [...PlimsollChat.observedAttributes, 'strings', 'getToken']) {
      if (!Object.hasOwn(own, name)) continue
      const value = own[name]
      delete own[name]
      own[name] = value
    }
  }

  /** Makes what is always there: the button and the empty frame. */
  #layOut(): void {
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
    adopt(root, launcherStyle)
    const shell = this.#shell ?? document.createElement('div')
    if (!this.#shell) {
      this.#frame = document.createElement('div')
      this.#frame.setAttribute('part', 'frame')
      this.#frame.className = 'frame'
      shell.append(this.#frame)
      root.append(shell)
      this.#shell = shell
    }
    if (this.#isFloating && !this.#button) {
      this.#button = launcher(() => (this.open ? this.hide() : void this.show()))
      // Behind the frame in the order of the focus, so that Tab leads from the page to the frame.
      shell.append(this.#button)
    }
    const isLeft = this.placement === 'bottom-left'
    shell.className = `shell ${this.#isFloating ? `floating ${isLeft ? 'left' : ''}` : `filling ${this.placement}`}`
    this.#showOpen()
    this.#relabel()
  }

  #showOpen(): void {
    const isOpen = this.#isShown
    if (this.#frame) {
      this.#frame.hidden = !isOpen
      this.#frame.role = this.#isFloating ? 'dialog' : 'region'
      this.#frame.ariaModal = this.#isModal ? 'true' : null
    }
    if (this.#button) {
      this.#button.hidden = !this.#isFloating
      this.#button.ariaExpanded = String(isOpen)
    }
    this.#shell?.classList.toggle('open', isOpen)
  }

  get #isModal(): boolean {
    return this.#isFloating && matchMedia(NARROW).matches
  }

  #openChanged(): void {
    const held = this.shadowRoot?.activeElement
    this.#showOpen()
    this.#relabel()
    if (this.open) void this.#reveal()
    else if (held) this.#button?.focus()
    this.#tell(this.open ? 'open' : 'close')
  }

  readonly #relabel = (): void => {
    const language = this.#language
    const labels = labelsFor(language, this.#strings)
    if (this.#button) this.#button.ariaLabel = this.open ? labels.close : labels.open
    if (this.#frame) {
      this.#frame.ariaLabel = this.heading ?? 'Plimsoll'
      this.#frame.lang = language
    }
    // Where its words cannot be loaded, they are asked for again once there is a network.
    if (this.#view) this.#reword().catch(() => addEventListener('online', this.#relabel, { once: true }))
  }

  async #reword(): Promise<void> {
    const language = this.#language
    const words = await wordsIn(language, this.#strings)
    // Another one was asked for meanwhile, and may be there already.
    if (language !== this.#language || !this.#view || !this.#frame) return
    this.#frame.dir = words.direction
    await this.#view.reword(words)
  }

  #reveal(): Promise<void> {
    this.#viewing ??= this.#load()
    return this.#viewing
  }

  async #load(): Promise<void> {
    const frame = this.#frame
    if (!frame) return
    const language = this.#language
    const strings = this.#strings
    const labels = labelsFor(language, strings)
    const slow = setTimeout(() => frame.replaceChildren(waiting(labels.opening)), SLOW_MS)
    try {
      const [{ ChatView }, words, chat] = await Promise.all([
        import('./element/opened.ts'),
        wordsIn(language, strings),
        this.#opened(),
      ])
      // It left the page meanwhile.
      if (!this.#viewing) return
      frame.dir = words.direction
      this.#view = new ChatView(frame, chat, words, this.#host)
      // Others were asked for meanwhile.
      if (language !== this.#language || strings !== this.#strings) this.#relabel()
    } catch (cause) {
      this.#viewing = undefined
      frame.replaceChildren(
        waiting(labels.openFailed, { label: labels.tryAgain, click: () => void this.show() }),
      )
      this.#report({
        type: 'error',
        sessionId: undefined,
        problem: {
          code: 'ERR_INTERNAL',
          message: `Open the chat: ${cause instanceof Error ? cause.message : cause}`,
          retryable: true,
        },
      })
    } finally {
      clearTimeout(slow)
    }
  }

  readonly #host: ViewHost = {
    settings: () => ({
      heading: this.heading,
      placeholder: this.placeholder,
      isFloating: this.#isFloating,
      isDeveloper: this.developer,
      hasEdge: this.src !== undefined,
      isSynced: this.synced,
      isLinked: this.linked,
      hasButtons: this.querySelector(':scope > [slot=header]') !== null,
    }),
    isModal: () => this.#isModal,
    hide: () => this.hide(),
  }

  #opened(): Promise<Chat> {
    this.#chat ??= this.#openChat().catch((error: unknown) => {
      this.#chat = undefined
      throw error
    })
    return this.#chat
  }

  async #openChat(): Promise<Chat> {
    const element = this
    const opening = this.openChat({
      get src() {
        return element.src
      },
      get synced() {
        return element.synced
      },
      get getToken() {
        return element.getToken
      },
      get model() {
        return element.model
      },
      get tools() {
        return element.tools
      },
      get pageContext() {
        return element.pageContext
      },
    })
    void loadAgain()
    const [chat, { firstSession }] = await Promise.all([opening, import('./element/opened.ts')])
    chat.onEvent((event) => this.#report(event))
    chat.conversation.subscribe(() => {
      this.session = chat.conversation.getSnapshot().session?.sessionId ?? this.session
    })
    await firstSession(chat, this.session)
    return chat
  }

  #report({ type, ...detail }: ChatEvent): void {
    this.#tell(type, detail)
  }

  #tell(type: string, detail?: object): void {
    this.dispatchEvent(new CustomEvent(`plimsoll-${type}`, { detail, bubbles: true, composed: true }))
  }

  #reopen(): void {
    void this.#close().then(() => this.connectedCallback())
  }

  async #close(): Promise<void> {
    const chat = this.#chat
    this.#view?.close()
    this.#view = undefined
    this.#viewing = undefined
    this.#chat = undefined
    await chat?.then(
      (opened) => opened.close(),
      () => {},
    )
  }

  #reflect(name: string, value: string | undefined): void {
    if (value === undefined || value === null) this.removeAttribute(name)
    else this.setAttribute(name, value)
  }
}

/** Words of a language, which is asked for beside the view. */
async function wordsIn(language: string, own: ChatStrings): Promise<Words> {
  const [{ wordsOf }, loaded] = await Promise.all([import('./element/opened.ts'), loadStrings(language)])
  return wordsOf(loaded, own)
}

/** Loads what shows replies ahead, where a chat was opened in this browser before. */
async function loadAgain(): Promise<void> {
  try {
    if (localStorage.getItem('plimsoll-chat/identity')) await import('./markdown/blocks.ts')
  } catch {
    // Storage is forbidden, or the file did not come: the first reply asks for it again.
  }
}

/** Shows a session, unless it shows already. */
async function showSession({ conversation }: Chat, sessionId: string): Promise<void> {
  if (conversation.getSnapshot().session?.sessionId !== sessionId) await conversation.open(sessionId)
}
