/** Everything behind the widget's view, wired. */
import { PlimsollError } from '../ports/errors.ts'
import { ChatConversation } from './conversation/conversation.ts'
import { ChatSessionList } from './conversation/session-list.ts'
import type { AddedDrafts } from './homes/added.ts'
import { type Drafts, draftOf, storedDrafts } from './homes/drafts.ts'
import type { Edge, Lost } from './homes/edge.ts'
import type { Home } from './homes/home.ts'
import { Identity, type Move, mayBe } from './homes/identity.ts'
import { loadAdded, loaded } from './homes/load.ts'
import type { LocalStore } from './homes/open-local.ts'
import { pagePlatform } from './homes/platform.ts'
import { kept } from './kept.ts'
import { type ModelPicker, Models } from './models/picker.ts'
import type { Conversation, HomeKind, MemoryPanelModel, SessionList } from './ports.ts'
import type { ChatEvent, ChatPlatform, ChatSettings } from './settings.ts'
import type { UsersParts } from './users.ts'

export interface Chat {
  readonly conversation: Conversation
  readonly sessions: SessionList
  /** Which model answers local sessions. */
  readonly models: ModelPicker
  readonly drafts: Drafts
  /** Whether something was added to a message of a conversation, and not sent. */
  hasAdded(name: string): boolean
  /** That, of all conversations; of who uses the chat at the call. Loaded when it is asked for. */
  added(): Promise<AddedDrafts>
  /**
   * When the edge erases what it has of the user, who is a guest there, in Unix milliseconds.
   * Undefined: nobody is, or the edge does not say it.
   */
  guestEnd(): number | undefined
  /** What is remembered, in all homes. Loaded when it is asked for. */
  memory(): Promise<MemoryPanelModel>
  /**
   * Moves what a guest has to the user, once. Idempotent: after an error or a crash, the same call
   * finishes it. With `token`, the edge's, what is at the edge moves; local sessions do with
   * `userId`, or where the token names its subject.
   *
   * @throws ERR_INVALID_ARGUMENT, ERR_STORAGE or ERR_TIMEOUT (no answer of the edge), as
   * `client.me.claim` and `memory.import`
   */
  identify(user: { readonly userId: string } | { readonly token: string }): Promise<void>
  /**
   * Ends what the user does here; the next user is a new guest. With `erase`, nothing readable is
   * left in this browser: local sessions, messages that wait to be sent, and who the guest was; a
   * guest's sessions at the edge are removed where it can be reached. A `synced` edge's sessions
   * leave this browser in any case, and so does what a guest has in it alone. Where something
   * that was not sent would be lost by that, nothing is done, unless `force` says so. With
   * `dryRun` nothing is done in any case.
   */
  signOut(options?: SignOutOptions): Promise<SignedOut>
  /** Calls the listener with what the element tells its page of. @returns what ends it */
  onEvent(listener: (event: ChatEvent) => void): () => void
  close(): Promise<void>
}

export interface SignOutOptions {
  readonly erase?: boolean
  /** Whether what would be lost is no reason to stay. */
  readonly force?: boolean
  /** Whether it only says what would be lost, and of a guest until when the edge has it. */
  readonly dryRun?: boolean
}

export interface SignedOut {
  readonly done: boolean
  /** Where it is not done: what would be lost. */
  readonly lost: readonly Lost[]
  /** Where it is not done: as {@link Chat.guestEnd}. */
  readonly guestEnd?: number
}

/**
 * Opens a chat, at once; homes, databases and models are loaded behind it, when they are needed.
 *
 * @example
 * ```ts
 * const chat = openChat({ model: async (messages) => answerTo(messages) })
 * await chat.conversation.create()
 * await chat.conversation.send('Which trains go to Turin?')
 * ```
 */
export function openChat(settings: ChatSettings = {}, local?: Promise<LocalHome>): Chat {
  return new OpenedChat(settings, local)
}

type LocalHome = typeof import('./homes/local.ts')

const DEMO = { id: 'demo', isDemo: true }
const loadUsers = () => import('./users.ts')
const LOCAL: readonly HomeKind[] = ['local']
const BOTH: readonly HomeKind[] = ['local', 'edge']

class OpenedChat implements Chat {
  readonly conversation: ChatConversation
  readonly sessions: ChatSessionList
  readonly models: Models
  readonly drafts: Drafts
  /** Of what was added, where it is. */
  readonly #places: Drafts
  /** The conversations that were begun here, kept as drafts are: `empty` or `said`. */
  readonly #begun: Drafts
  /** Of a synced edge: what no answer was asked for yet. */
  readonly #unasked: Drafts
  /** By edge, whether a script answers there: without a network it cannot be asked. */
  readonly #scripted: Drafts
  /** All that is kept by conversation. */
  readonly #kept: readonly Drafts[]
  readonly #settings: ChatSettings
  readonly #platform: ChatPlatform
  readonly #name: string
  readonly #identity: Identity
  readonly #listeners = new Set<(event: ChatEvent) => void>()
  readonly #ends: readonly (() => void)[]
  #token: string | undefined
  #isClosed = false
  #opening = new AbortController()
  #local: Promise<{ readonly home: Home; readonly opened: LocalStore }> | undefined
  #edge: Promise<Edge> | undefined

  constructor(settings: ChatSettings, local?: Promise<LocalHome>) {
    this.#loadLocal = kept(() => {
      // Asked for again, what is there takes the browser some tasks to give.
      const early = local
      local = undefined
      return early ?? import('./homes/local.ts')
    })
    const { name = 'plimsoll-chat', src, synced = false, platform } = settings
    if (synced && src === undefined)
      throw new PlimsollError('ERR_INVALID_ARGUMENT', 'openChat: synced needs src', { argument: 'synced' })
    this.#settings = settings
    this.#platform = pagePlatform(platform)
    this.#name = name
    const { storage } = this.#platform
    // At a plain edge, what an earlier page heard may be of somebody else than who is here now.
    const by = (): string | undefined =>
      this.#identity.hasHeard || synced || !settings.getToken ? this.#identity.heard : undefined
    this.drafts = storedDrafts(storage, `${name}/drafts`, by)
    this.#places = storedDrafts(storage, `${name}/added`, by)
    this.#identity = new Identity(this.#platform, name, (subject) => {
      const before = by()
      for (const each of [this.drafts, this.#places])
        each.tell(mayBe(before, subject) ? 'named' : 'left', before ?? subject)
    })
    this.#begun = storedDrafts(storage, `${name}/begun`)
    // A page of another service has none of its sessions.
    this.#unasked = storedDrafts(storage, `${name}/unasked/${src}`)
    this.#scripted = storedDrafts(storage, `${name}/scripted`)
    this.#kept = [this.drafts, this.#places, this.#begun, this.#unasked]
    const { onForgotten } = this.#platform
    this.#ends = [
      onForgotten(this.#identity.key, () => void this.#leave()),
      // Another tab has erased everything.
      onForgotten(`${name}/erased`, () => this.#forget()),
    ]
    this.models = new Models({ given: () => settings.model, platform: this.#platform })
    const homes = {
      home: (kind: HomeKind, isLost?: boolean) => this.#home(kind, isLost),
      kinds: () => this.#kinds(),
    }
    this.conversation = new ChatConversation({
      ...homes,
      defaultHome: src === undefined ? 'local' : 'edge',
      model: (home) => home.model() ?? (this.#scripted.read(src ?? '') ? DEMO : undefined),
      platform: this.#platform,
      emit: (event) => this.#emit(event),
      begun: this.#begun,
      onListed: () => void this.sessions.refresh(),
    })
    this.sessions = new ChatSessionList({
      ...homes,
      onRead: (sessions) => this.conversation.onList(sessions),
      onDelete: async (sessionId, home) => {
        const { session } = this.conversation.getSnapshot()
        if (session?.sessionId === sessionId && session.home === home) {
          // What stands in its field would be kept as that of a conversation that is left.
          this.drafts.tell('gone')
          await this.conversation.create()
        }
        await this.conversation.settled(sessionId)
        const name = draftOf({ home, sessionId })
        if (this.hasAdded(name)) await (await this.added()).write(name, { files: [], pasted: [] })
        this.drafts.write(name, '')
        this.#begun.write(sessionId, '')
        if (home === 'edge') this.#unasked.write(sessionId, '')
      },
    })
    this.models.subscribe(() => this.conversation.onModel())
    // What was said before the page was left is sent, whatever it shows now.
    if (src !== undefined) void this.#openEdge().catch(() => {})
    else this.#loadLocal().catch(() => {})
  }

  hasAdded(name: string): boolean {
    return this.#places.read(name) !== ''
  }

  guestEnd(): number | undefined {
    return this.#identity.guestEnd
  }

  async added(): Promise<AddedDrafts> {
    const own = this.#places.own()
    return (await this.#added())(own)
  }

  readonly #added = kept(async () => {
    return (await loaded(loadAdded)).addedDrafts(this.#platform, this.#name, this.#places)
  })

  async memory(): Promise<MemoryPanelModel> {
    const { chatPanel } = await loaded(() => import('./chat-panel.ts'))
    return chatPanel({
      ...this.#users,
      kinds: this.#kinds(),
      destinations: this.#settings.src === undefined ? LOCAL : BOTH,
      open: async (kind) => (await this.#home(kind)).memory(),
    })
  }

  async identify(user: { readonly userId: string } | { readonly token: string }): Promise<void> {
    await (await loaded(loadUsers)).identify(this.#users, user)
  }

  async signOut(options: SignOutOptions = {}): Promise<SignedOut> {
    return (await loaded(loadUsers)).signOut(this.#users, options)
  }

  onEvent(listener: (event: ChatEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#listeners.clear()
    for (const end of this.#ends) end()
    await this.conversation.close()
    await this.#closeHomes()
  }

  #emit(event: ChatEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch {
        // The event has already happened.
      }
    }
  }

  /** What changing the user takes. */
  get #users(): UsersParts {
    return {
      conversation: this.conversation,
      sessions: this.sessions,
      identity: this.#identity,
      drafts: this.drafts,
      places: this.#places,
      kept: this.#kept,
      platform: this.#platform,
      name: this.#name,
      openEdge: async () => (this.#settings.src === undefined ? undefined : this.#openEdge()),
      openLocal: async () => (this.#usesLocal() ? (await this.#openLocal()).opened : undefined),
      usesLocal: () => this.#usesLocal(),
      move: (move) => this.#move(move),
      closeHomes: () => this.#closeHomes(),
      setToken: (token) => {
        this.#token = token
      },
      localKey: this.#localKey,
    }
  }

  /** Another tab forgot what was kept by conversation. */
  #forget(): void {
    for (const each of this.#kept) each.tell('gone')
  }

  /** Another tab has signed out, and forgot what was kept: what shows here is nobody's. */
  async #leave(): Promise<void> {
    this.#forget()
    const leave = async (): Promise<void> => {
      await this.#closeHomes()
      this.#token = undefined
      this.#identity.leave()
    }
    await this.conversation.whileAway(leave, true)
    await this.conversation.create()
    await this.sessions.reset()
  }

  /**
   * The homes that have sessions. The local one of a page with an edge is not opened before it is
   * used.
   */
  #kinds(): readonly HomeKind[] {
    if (this.#settings.src === undefined) return LOCAL
    return this.#usesLocal() ? BOTH : ['edge']
  }

  get #localKey(): string {
    return `${this.#name}/local`
  }

  #usesLocal(): boolean {
    return this.#local !== undefined || this.#platform.storage.getItem(this.#localKey) !== null
  }

  async #home(kind: HomeKind, isLost?: boolean): Promise<Home> {
    // Who signs in or out meanwhile is shown nothing, and a home would stay open.
    if (this.#isClosed) throw new PlimsollError('ERR_STORAGE', 'chat: it was closed')
    if (isLost) {
      await (await this.#home(kind)).acceptLoss?.()
      // What is open still shows what there was.
      await this.#closeHomes()
      void this.sessions.reset()
    }
    if (kind === 'local') return (await this.#openLocal()).home
    // Nobody waits for it; where it fails, the next conversation asks again.
    this.#askService().catch(() => {})
    return (await this.#openEdge()).home
  }

  /** Learns whether a script answers at the edge. */
  readonly #askService = kept(async () => {
    const { demo } = await (await this.#openEdge()).client.health()
    this.#scripted.write(this.#settings.src ?? '', demo ? 'on' : '')
    this.conversation.onModel()
  })

  #openLocal(): Promise<{ readonly home: Home; readonly opened: LocalStore }> {
    if (this.#local) return this.#local
    const local = this.#makeLocal()
    this.#local = local
    local.catch(() => {
      if (this.#local === local) this.#local = undefined
    })
    return local
  }

  async #makeLocal(): Promise<{ readonly home: Home; readonly opened: LocalStore }> {
    const { signal } = this.#opening
    const { localHome } = await this.#loadLocal()
    if (this.#identity.moving) await (await loaded(loadUsers)).finishMove(this.#users, signal)
    const { storage, locks, now } = this.#platform
    storage.setItem(this.#localKey, 'used')
    const opened = await this.#openStore(this.#identity.owner)
    const { store, memory } = opened
    const home = localHome({
      store,
      memory,
      database: store,
      close: () => store.close(),
      userId: this.#identity.owner,
      locks,
      now,
      name: this.#name,
      reply: async () => ({
        model: await this.models.current(),
        tools: this.#settings.tools ?? [],
        memoryTools: this.#settings.memoryTools ?? true,
        pageContext: this.#settings.pageContext,
      }),
      model: () => this.models.describe(),
      onListed: () => void this.sessions.refresh(),
    })
    return { home, opened }
  }

  readonly #loadLocal: () => Promise<LocalHome>

  /** The database of an owner. */
  async #openStore(owner: string): Promise<LocalStore> {
    const { openLocal } = await this.#loadLocal()
    const { system, budget } = this.#settings
    return openLocal({ name: this.#name, owner, system, budget, platform: this.#platform })
  }

  async #move(move: Move): Promise<void> {
    const { moveOwner } = await loaded(() => import('./homes/move-local.ts'))
    await moveOwner(move, {
      open: (owner) => this.#openStore(owner),
      identity: this.#identity,
      platform: this.#platform,
      name: this.#name,
    })
  }

  #openEdge(): Promise<Edge> {
    if (this.#edge) return this.#edge
    const edge = this.#makeEdge()
    this.#edge = edge
    edge.catch(() => {
      if (this.#edge === edge) this.#edge = undefined
    })
    return edge
  }

  async #makeEdge(): Promise<Edge> {
    const { system, budget, synced = false, src = '' } = this.#settings
    const parts = {
      src,
      platform: this.#platform,
      name: this.#name,
      identity: this.#identity,
      getToken: () => this.#settings.getToken,
      token: () => this.#token,
      onSent: (sessionId: string) => {
        void this.sessions.refresh()
        if (!this.conversation.onSent(sessionId)) void edge.answerUnseen(sessionId)
      },
    }
    const { locks } = this.#platform
    // Where another tab signs out, it deletes the database that this one would open.
    if (synced) await locks.request(this.#identity.lockName, { signal: this.#opening.signal }, async () => {})
    const edge: Edge = synced
      ? new (await import('./homes/synced.ts')).SyncedEdge({
          ...parts,
          ...{ system, budget, unasked: this.#unasked },
          identify: (token) => this.identify({ token }),
          onListed: () => void this.sessions.refresh(),
          onRefused: (error) => this.conversation.onProblem(error),
        })
      : new (await import('./homes/edge.ts')).PlainEdge(parts)
    await edge.open()
    // There may be no network when the user changes.
    if (synced) loadUsers().catch(() => {})
    return edge
  }

  async #closeHomes(): Promise<void> {
    const [local, edge] = [this.#local, this.#edge]
    this.#local = undefined
    this.#edge = undefined
    this.#opening.abort(new PlimsollError('ERR_UNAUTHENTICATED', 'chat: somebody signs in or out'))
    this.#opening = new AbortController()
    await Promise.all([
      local?.then(({ home }) => home.close()).catch(() => {}),
      edge?.then((one) => one.close()).catch(() => {}),
    ])
  }
}
