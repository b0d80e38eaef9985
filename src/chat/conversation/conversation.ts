import { versionsIn } from '../../operations/versions.ts'
import type { Branch } from '../../ports/branch.ts'
import { isPlimsollError, isUnreachable, PlimsollError } from '../../ports/errors.ts'
import type { Message, MessageInput, Part } from '../../ports/message.ts'
import { sameAttachment } from '../../ports/same-attachment.ts'
import type { Attachment } from '../../ports/store.ts'
import { isAnswered } from '../homes/answered.ts'
import { type Drafts, draftOf } from '../homes/drafts.ts'
import type { Home, HomeSession, Outgoing, RememberedFact, ReplyEvent, ReplyOptions } from '../homes/home.ts'
import { problemOf } from '../homes/problem.ts'
import type {
  Conversation,
  ConversationState,
  HomeCertificate,
  HomeKind,
  Inspected,
  Problem,
  SendOptions,
  SessionEntry,
  Upload,
} from '../ports.ts'
import type { ChatEvent, ChatPlatform } from '../settings.ts'
import { textIn, titleOf, titleWithout } from '../text.ts'
import { NOTHING, PAGE, type Run, released, withNewest, withOlder } from './pages.ts'
import { nextReply, WAITING } from './running-reply.ts'
import { shownMessages, type Undone } from './shown.ts'

export interface ConversationParts {
  /**
   * Contract: opens a home, the same each time; with `isLost` another one, since what it had in
   * this browser is lost. @throws where there is none of that kind
   */
  readonly home: (kind: HomeKind, isLost?: boolean) => Promise<Home>
  /** Of sessions that are made without one. */
  readonly defaultHome: HomeKind
  /** Contract: the homes that have sessions, the quickest first. */
  readonly kinds: () => readonly HomeKind[]
  /** What answers in a home, where that is known. */
  readonly model: (home: Home) => ConversationState['model']
  readonly platform: Pick<ChatPlatform, 'newId' | 'now' | 'network' | 'sleep'>
  readonly emit: (event: ChatEvent) => void
  /** Of sessions that were begun in this browser: `empty` or `said`, and the home: `said/local`. */
  readonly begun: Pick<Drafts, 'read' | 'write'>
  /** Contract: told that a session was made or named. */
  readonly onListed: () => void
}

/** Milliseconds after which it is asked whether a reply goes on that others asked for. */
const JOIN_AFTER = [0, 200, 800, 3_000]

/** What was said and could not be kept. */
interface Said {
  readonly sessionId: string
  readonly id: string
  readonly text: string
  readonly replaces: string | undefined
  readonly uploads: readonly Upload[]
}

interface SayOptions extends Omit<SendOptions, 'session'> {
  readonly replaces?: string
  /** Of what it is said in place of. */
  readonly files?: readonly Part[]
}

/** The session that is open. */
interface Open {
  readonly entry: SessionEntry
  readonly home: Home
  readonly session: HomeSession
  readonly leave: AbortController
  readonly ends: (() => void)[]
  /** Hears of what others write, from now on. */
  readonly watch: () => void
  /** Counts what others write: the newest is followed. */
  changes: number
  /** Whether what is said here is being answered. */
  isAnswering: boolean
  /** Takes back what the reply was to replace. */
  takeBack: (() => Promise<void>) | undefined
}

/**
 * One conversation on the screen: follows a session with all its writers, and sends what is
 * said here.
 */
export class ChatConversation implements Conversation {
  readonly #parts: ConversationParts
  readonly #listeners = new Set<() => void>()
  readonly #ends: (() => void)[]
  /** Replies of sessions that were left, which go on. */
  readonly #left = new Map<Promise<unknown>, AbortController>()
  #state: ConversationState
  #open: Open | undefined
  #run: Run = NOTHING
  #branches: readonly Branch[] = []
  #facts: readonly RememberedFact[] = []
  /** Facts that are forgotten while this shows. */
  readonly #undone = new Map<string, Undone>()
  /** Counts the readings of facts: the newest counts. */
  #factReadings = 0
  /** Counts what was opened, so that what was asked for before shows no more. */
  #opened = 0
  /** While something is opened: ends once what is said belongs to it. */
  #entering: Promise<unknown> | undefined
  /** Ends once it is known who uses the chat. */
  #away: Promise<unknown> | undefined
  /** What is being said, and in which session. */
  readonly #saying = new Map<Promise<unknown>, string>()
  #reading: Promise<void> | undefined
  #stale = false
  #isWhole = false
  #stop: AbortController | undefined
  #asked = false
  /** Whether somebody has stopped the reply that is made. */
  #isStopped = false
  #answering: Promise<unknown> = Promise.resolve()
  /** Id of the newest message that was reported. */
  #told: string | undefined
  #unkept: Said | undefined
  /** What was told of a reply that failed: past once there is another. */
  #failed: Problem | undefined

  constructor(parts: ConversationParts) {
    this.#parts = parts
    this.#state = { ...CLOSED, online: parts.platform.network.isOnline() }
    this.#ends = [
      parts.platform.network.subscribe(() => {
        this.#become({ online: parts.platform.network.isOnline() })
        if (!this.#state.online) return
        this.#back()
        void this.#refresh()
      }),
    ]
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  getSnapshot(): ConversationState {
    return this.#state
  }

  async open(sessionId: string, { home: kind }: { readonly home?: HomeKind } = {}): Promise<void> {
    if (this.#away) await this.#away
    this.#leave()
    const opened = ++this.#opened
    // Nobody has it yet: its home would answer each question with an error.
    const isEmpty = this.#parts.begun.read(sessionId).startsWith('empty')
    // Until it is found, what showed before is not what is written in.
    if (!kind) this.#become({ ...CLOSED, online: this.#state.online })
    const entering = this.#enterBy(async () =>
      this.#enter(sessionId, kind ?? (await this.#kindOf(sessionId)), opened, isEmpty),
    )
    await this.#try(async () => {
      const open = await entering
      if (!open) return
      this.#show()
      if (isEmpty) return
      await this.#load(open)
      if (this.#open === open) void this.#goOn(open)
    })
  }

  async create({ home: kind = this.#parts.defaultHome }: { readonly home?: HomeKind } = {}): Promise<string> {
    if (this.#away) await this.#away
    this.#leave()
    const opened = ++this.#opened
    const sessionId = this.#parts.platform.newId()
    this.#parts.begun.write(sessionId, `empty/${kind}`)
    await this.#try(() => this.#enterBy(() => this.#enter(sessionId, kind, opened, true)))
    return sessionId
  }

  prepare(): void {
    this.#open?.session.prepare().catch(() => {})
  }

  async send(text: string, options: SendOptions = {}): Promise<boolean> {
    if ((text.trim() === '' && !options.uploads?.length) || this.#away) return false
    const { session } = this.#state
    // One that could not be opened is tried again where it was to be, and in no other home.
    if (!this.#open && !this.#entering) void (session ? this.open(session.sessionId, session) : this.create())
    const opened = this.#opened
    await this.#entering
    const open = this.#open
    const isThere = open && opened === this.#opened
    if (!isThere || draftOf(options.session ?? open.entry) !== draftOf(open.entry)) return false
    return this.#say(open, text, options)
  }

  async stop(): Promise<void> {
    this.#isStopped = !!this.#stop
    this.#stop?.abort(new Error('stopped'))
  }

  /** Ends what is being answered, to change something. @returns whether the session still shows */
  async #halt(open: Open): Promise<boolean> {
    // Nobody waits for an answer to what is about to change.
    this.#asked = false
    this.#stop?.abort(new Error('stopped'))
    await this.#answering
    return this.#open === open
  }

  async edit(messageId: string, text: string): Promise<boolean> {
    const open = this.#open
    if (text.trim() === '' || !open || !(await this.#halt(open))) return false
    const { content = '' } = this.#run.messages.find(({ id }) => id === messageId) ?? {}
    const files = typeof content === 'string' ? [] : content.filter(({ type }) => type === 'media')
    return this.#say(open, text, { replaces: messageId, files })
  }

  async regenerate(messageId?: string): Promise<void> {
    const open = this.#open
    if (!open || !(await this.#halt(open))) return
    const { messages } = this.#run
    const asked = messages.findLastIndex(({ role }) => role === 'user')
    const named = messageId === undefined ? -1 : messages.findIndex(({ id }) => id === messageId)
    const place =
      named < 0 ? asked + 1 : messages[named]?.role === 'user' ? named + 1 : firstOfReply(messages, named)
    const first = messages[place]
    if (!first || place === 0) return this.#answer()
    await this.#replace(open, first.id)
  }

  /** Has what comes from a message on made again. */
  #replace(open: Open, messageId: string): Promise<void> {
    return this.#try(async () => {
      const rewind = await open.session.rewind(messageId)
      // Without another reply, the old one shows again.
      open.takeBack = () => open.session.undo(rewind)
      await this.#refresh()
      if (this.#open === open) await this.#answer()
    })
  }

  async switchVersion(messageId: string, index: number): Promise<void> {
    const open = this.#open
    if (!open || !(await this.#halt(open))) return
    const version = versionsIn(this.#run.messages, this.#branches, !this.#run.hasOlder).get(messageId)
    const wanted = version?.versions[index - 1]
    if (wanted === undefined || wanted === messageId) return
    await this.#try(async () => {
      await open.session.switchTo(wanted)
      await this.#refresh()
    })
  }

  async retry(messageId?: string): Promise<void> {
    const open = this.#open
    if (!open) return
    this.#become({ problem: undefined })
    const { outgoing } = open.session
    if (messageId !== undefined && outgoing?.list().some(({ id }) => id === messageId))
      return this.#try(async () => {
        await outgoing.retry(messageId)
        if (this.#open !== open) return
        await this.#refresh()
        void this.#answer()
      })
    if (!this.#state.loaded) return this.open(open.entry.sessionId, { home: open.home.kind })
    const newest = this.#run.messages.at(-1)
    return newest?.metadata?.stopped === 'error' ? this.#replace(open, newest.id) : this.#answer()
  }

  async drop(messageId: string): Promise<void> {
    const open = this.#open
    const title = titleWithout(messageId, this.#state)
    await this.#try(async () => {
      // Where it was never sent, its home may know of no such session, and then of no title.
      const find = async () => title !== undefined && open?.home.find(open.entry.sessionId)
      if (await find().catch(() => false)) await this.#rename(open as Open, title as string)
      await open?.session.outgoing?.drop(messageId)
    })
  }

  async forget(factId: string): Promise<void> {
    await this.#try(() => this.undoing(factId, async () => this.#open?.session.forget(factId, 'fact')))
  }

  async forgetMessage(messageId: string): Promise<HomeCertificate | undefined> {
    const open = this.#open
    const isNewest = this.#run.messages.at(-1)?.id === messageId
    const certificate = await open?.session.forget(messageId, 'message')
    await this.#refresh(true)
    if (isNewest && open && this.#open === open && !this.#stop) await this.#try(() => this.#showLeft(open))
    return certificate
  }

  async attachment(ref: string): Promise<Attachment | undefined> {
    return this.#open?.session.attachment(ref)
  }

  /** Shows another version where nothing is left of one, at which it could be chosen. */
  async #showLeft({ session }: Open): Promise<void> {
    const newest = this.#run.messages.at(-1)?.id ?? null
    const { versions = [], shown } = this.#branches.find(({ after }) => after === newest) ?? {}
    const left = versions.findLast((id) => id !== shown)
    if (left === undefined) return
    await session.switchTo(left)
    await this.#refresh()
  }

  async showOlder(): Promise<void> {
    const open = this.#open
    const first = this.#run.messages[0]
    if (!open || !first || !this.#run.hasOlder) return
    await this.#try(async () => {
      const page = await open.session.history({ messages: PAGE, before: first.id })
      // Read twice, or something else shows by now.
      if (this.#run.messages[0] !== first) return
      this.#run = withOlder(this.#run, page, PAGE)
      this.#show()
    })
  }

  releaseOlder(messages: number): void {
    const run = released(this.#run, messages)
    if (run === this.#run) return
    this.#run = run
    this.#show()
  }

  /**
   * Shows nothing, and ends all replies that are made here.
   *
   * @param loaded whether nothing is to come: what a new visitor sees shows. Default: it is
   */
  async reset(loaded = false): Promise<void> {
    this.#leave()
    this.#opened++
    this.#become({ ...CLOSED, loaded, online: this.#parts.platform.network.isOnline() })
    for (const stop of this.#left.values()) stop.abort(new Error('closed'))
    await Promise.allSettled([...this.#left.keys(), ...this.#saying.keys()])
  }

  async inspected(): Promise<Inspected | undefined> {
    const open = this.#open
    if (!open || this.#run.messages.length === 0) return undefined
    const inspected = await open.session.inspected()
    const { title } = this.#state.session ?? open.entry
    return inspected && { ...inspected, title }
  }

  /**
   * Shows nothing while it changes who uses the chat: what is said meanwhile is not kept, and what
   * is opened waits.
   *
   * @param loaded as of {@link reset}
   */
  async whileAway<Done>(work: () => Promise<Done>, loaded = false): Promise<Done> {
    const done = (async () => {
      await this.reset(loaded)
      return work()
    })()
    const away = Promise.allSettled([this.#away, done])
    this.#away = away
    try {
      return await done
    } finally {
      if (this.#away === away) this.#away = undefined
    }
  }

  /** Resolves once nothing is being said in a session. */
  async settled(sessionId: string): Promise<void> {
    const own = [...this.#saying].flatMap(([saying, of]) => (of === sessionId ? saying : []))
    await Promise.allSettled(own)
  }

  async close(): Promise<void> {
    for (const end of this.#ends) end()
    this.#listeners.clear()
    await this.reset()
  }

  /** Shows which model answers now. */
  onModel(): void {
    if (this.#open) this.#become({ model: this.#parts.model(this.#open.home) })
  }

  /** Reads again what is remembered, which somebody has changed. */
  onFacts(): void {
    void this.#readFacts().catch(() => {})
  }

  /** Says at a fact's message how far it is that `forget` forgets it. */
  async undoing<Done>(factId: string, forget: () => Promise<Done>): Promise<Done> {
    const fact = this.#facts.find(({ id }) => id === factId)
    const become = (undo?: Undone['undo']): void => {
      if (!fact) return
      if (undo) this.#undone.set(factId, { ...fact, undo, ...(undo === 'done' && { text: '' }) })
      else this.#undone.delete(factId)
      this.#show()
    }
    become('begun')
    try {
      const done = await forget()
      become('done')
      return done
    } catch (error) {
      become()
      throw error
    } finally {
      this.onFacts()
    }
  }

  /** Takes over what is listed of the session that shows: it may be called otherwise by now. */
  onList(sessions: readonly SessionEntry[]): void {
    const { session } = this.#state
    const listed = sessions.find((one) => one.sessionId === session?.sessionId && one.home === session.home)
    if (listed?.title) this.#become({ session: listed })
    else if (!listed && session?.title) {
      const open = this.#open
      void this.#refresh().then(() => this.#open === open && this.#noteDeleted())
    }
  }

  /** Where nothing of what showed is left, another tab or device has deleted it. */
  #noteDeleted(): void {
    const { session, messages } = this.#state
    if (session && messages.length === 0)
      this.#become({ isMissing: 'deleted', session: { ...session, title: '' } })
  }

  /** Says what went wrong beside the conversation. */
  onProblem(error: unknown): void {
    this.#report(error)
  }

  /**
   * Sends what a session of an edge waits for, if it is the one that is open. @returns whether it
   * is
   */
  onSent(sessionId: string): boolean {
    const open = this.#open
    if (open?.entry.sessionId !== sessionId) return false
    void this.#refresh().then(() => {
      if (this.#open !== open) return
      this.#tellNewest()
      return this.#answer()
    })
    return true
  }

  /**
   * Where a session is: that of no other home is the default one's, which need not be asked. Where
   * a home cannot say, it is taken for that one's, so that no other is told what is said in it.
   */
  async #kindOf(sessionId: string): Promise<HomeKind> {
    const { begun, defaultHome, home, kinds } = this.#parts
    const [, kept] = begun.read(sessionId).split('/')
    if (kept) return kept as HomeKind
    for (const kind of kinds()) {
      if (kind === defaultHome) continue
      const found = await home(kind).then(
        (one) => one.find(sessionId),
        () => true,
      )
      if (found) return kind
    }
    return defaultHome
  }

  /** What is said meanwhile waits for it. */
  #enterBy(enter: () => Promise<Open | undefined>): Promise<Open | undefined> {
    const entering = enter()
    const done = entering
      .catch(() => {})
      .then(() => {
        if (this.#entering === done) this.#entering = undefined
      })
    this.#entering = done
    return entering
  }

  /** @returns undefined: another one was opened meanwhile */
  async #enter(
    sessionId: string,
    kind: HomeKind,
    opened: number,
    isFresh = false,
  ): Promise<Open | undefined> {
    if (opened !== this.#opened) return undefined
    const { platform } = this.#parts
    // The person has been told, and begins a new one all the same.
    const isLost = isFresh && this.#state.storage === 'lost'
    const fresh = { sessionId, title: '', home: kind, createdAt: platform.now() }
    this.#become({ ...CLOSED, online: platform.network.isOnline(), session: fresh })
    const home = await this.#parts.home(kind, isLost)
    if (opened !== this.#opened) return undefined
    const open: Open = {
      entry: fresh,
      home,
      session: home.session(sessionId),
      leave: new AbortController(),
      ends: [],
      watch: () => watch(),
      changes: 0,
      isAnswering: false,
      takeBack: undefined,
    }
    this.#open = open
    open.ends.push(
      home.onStorage(() => {
        const wasAway = this.#state.storage === 'away'
        this.#become({ storage: home.storage() })
        if (wasAway && this.#state.storage === 'ok') this.#back()
      }),
    )
    this.#become({ storage: home.storage(), model: this.#parts.model(home), takesUploads: home.takesUploads })
    let isWatched = false
    // Before something was sent, an edge may have nothing to tell of.
    let isSent = false
    const watch = (): void => {
      if (isWatched) return
      isWatched = true
      isSent = false
      const follow = (): void => void this.#follow(open).catch(() => {})
      open.ends.push(
        open.session.watch(follow, () => {
          isWatched = false
          if (isSent) watch()
          else if (this.#run.messages.length > 0) follow()
        }),
      )
    }
    const sent = (): void => {
      isSent = true
      watch()
    }
    const { outgoing } = open.session
    if (outgoing)
      open.ends.push(
        outgoing.subscribe(() => this.#show()),
        onSent(outgoing, sent),
      )
    if (!isFresh || kind === 'local') watch()
    if (isFresh) this.#become({ loaded: true })
    return open
  }

  async #load(open: Open): Promise<void> {
    const { sessionId } = open.entry
    const found = open.home.find(sessionId).then((info) => {
      if (info && this.#open === open) this.#become({ session: { ...info, home: open.home.kind } })
      return info
    })
    const [info] = await Promise.all([found, this.#readAll(open)])
    if (this.#open !== open) return
    const isMissing = !info && this.#state.messages.length === 0 && this.#parts.begun.read(sessionId) === ''
    this.#become({ loaded: true, isMissing })
    const [first] = this.#run.messages
    // Its maker's process ended before it had a name.
    if (info?.title === '' && first?.role === 'user' && !this.#run.hasOlder)
      await this.#name(open, textIn(first)).catch(() => {})
  }

  async #name(open: Open, text: string): Promise<void> {
    const title = titleOf(text)
    if (title !== '') await this.#rename(open, title)
  }

  async #rename(open: Open, title: string): Promise<void> {
    await open.home.rename(open.entry.sessionId, title)
    if (this.#open === open) this.#become({ session: { ...(this.#state.session ?? open.entry), title } })
    this.#parts.onListed()
  }

  /** Reads what others wrote, and follows a reply that they asked for. */
  async #follow(open: Open): Promise<void> {
    const change = ++open.changes
    await this.#refresh(true)
    let wasThere = false
    // Who wrote asks for a reply next.
    for (const ms of JOIN_AFTER) {
      if (ms > 0) await this.#parts.platform.sleep(ms, open.leave.signal)
      // It may answer what was said before, or be left to another tab.
      while (this.#stop && this.#open === open) await this.#answering
      if (open.changes !== change || this.#isStopped || !this.#asking(open)) return
      wasThere = (await this.#join(open)) || wasThere
    }
    if (wasThere) this.#noteUnanswered(open)
  }

  /** Follows a reply that goes on, or says that one was cut off. */
  async #goOn(open: Open): Promise<void> {
    // It is answered once it is sent.
    if (this.#isUnsent) return this.#answer()
    if (this.#asking(open) && !(await this.#join(open))) this.#noteUnanswered(open)
  }

  #noteUnanswered(open: Open): void {
    if (!this.#asking(open) || this.#isUnsent || this.#state.problem) return
    this.#failed = {
      code: 'ERR_INTERRUPTED',
      message: 'chat: it has no answer',
      retryable: true,
    }
    this.#become({ problem: this.#failed })
  }

  /** Says so where nothing had come of a reply that was stopped. */
  #noteStopped(open: Open): void {
    if (this.#isStopped && !this.#asked) this.#noteUnanswered(open)
    this.#isStopped = false
  }

  /** @returns whether there was a reply to follow */
  async #join(open: Open): Promise<boolean> {
    const isJoined = await this.#replying(open, (options) => open.session.join(options))
    if (this.#open !== open) return isJoined
    if (isJoined) await this.#refresh()
    this.#noteStopped(open)
    // What was said here meanwhile.
    if (this.#asked) void this.#answer()
    return isJoined
  }

  #say(open: Open, text: string, options: SayOptions): Promise<boolean> {
    const saying = this.#keep(open, text, options).finally(() => this.#saying.delete(saying))
    this.#saying.set(saying, open.entry.sessionId)
    return saying
  }

  async #keep(
    open: Open,
    text: string,
    { uploads = [], files = [], replaces, by }: SayOptions,
  ): Promise<boolean> {
    const { sessionId } = open.entry
    const { platform } = this.#parts
    const isFirst = this.#run.messages.length === 0
    // What could not be kept may have been: said again, it is the same message.
    const said = { sessionId, text, replaces, uploads }
    const id = this.#unkept && isSame(this.#unkept, said) ? this.#unkept.id : platform.newId()
    this.#become({ problem: undefined })
    const { begun } = this.#parts
    if (begun.read(sessionId).startsWith('empty')) begun.write(sessionId, `said/${open.home.kind}`)
    let isThere: boolean
    try {
      const { attach } = open.session
      if (uploads.length > 0 && !attach)
        throw new PlimsollError('ERR_INVALID_ARGUMENT', 'chat: it takes no files', {
          argument: 'uploads',
        })
      const title = isFirst ? { title: titleOf(text) } : {}
      const added = await Promise.all(
        attach ? uploads.map((upload, place) => attach(upload, `${id}.${place}`)) : [],
      )
      const parts = [...files, ...added]
      const words = text.trim() === '' ? [] : [{ type: 'text' as const, text }]
      const content = parts.length === 0 ? text : [...words, ...parts]
      const message = { id, role: 'user', content } as MessageInput
      isThere = await open.session.append(message, {
        ...title,
        by,
        replaces,
      })
      if (this.#open === open)
        this.#become({
          storage: open.home.storage(),
          model: this.#parts.model(open.home),
          session: { ...(this.#state.session ?? open.entry), ...title },
        })
    } catch (error) {
      this.#unkept = { id, ...said }
      this.#report(error, sessionId, this.#open === open)
      return false
    }
    this.#unkept = undefined
    if (!isThere) return true
    open.watch()
    if (isFirst) this.#parts.onListed()
    if (this.#open === open) {
      await this.#refresh()
      this.#tellNewest()
      void this.#answer()
    }
    return true
  }

  /** Has what was said answered; what is said meanwhile, after that. */
  async #answer(): Promise<void> {
    const open = this.#open
    this.#asked = true
    if (!open || open.isAnswering) return
    open.isAnswering = true
    while (this.#asked && this.#open === open) {
      // One that is only followed comes first.
      while (this.#stop && this.#open === open) await this.#answering
      if (this.#open !== open) return
      this.#asked = false
      const { takeBack } = open
      open.takeBack = undefined
      const newest = this.#run.messages.at(-1)?.id
      if (this.#asking(open) && !this.#isUnsent) this.#become({ reply: WAITING, problem: undefined })
      await this.#replying(open, async (options) => {
        await open.session.reply(options)
        return true
      })
      if (this.#open !== open) return
      await this.#refresh()
      if (takeBack && this.#run.messages.at(-1)?.id === newest) {
        // The old reply is not the one that failed.
        this.#failed = undefined
        await this.#try(takeBack)
        await this.#refresh()
      }
      this.#noteStopped(open)
    }
    open.isAnswering = false
  }

  /** Takes part in a reply, one at a time. @returns false: there was none */
  #replying(open: Open, work: (options: ReplyOptions) => Promise<boolean>): Promise<boolean> {
    if (this.#stop) return Promise.resolve(true)
    const stop = new AbortController()
    this.#stop = stop
    const done = this.#take(open, stop, work).finally(() => {
      this.#left.delete(done)
      if (this.#stop === stop) this.#stop = undefined
      if (this.#open === open) this.#become({ reply: undefined })
    })
    this.#left.set(done, stop)
    this.#answering = done
    return done
  }

  async #take(
    open: Open,
    stop: AbortController,
    work: (options: ReplyOptions) => Promise<boolean>,
  ): Promise<boolean> {
    const tell = async (event: ReplyEvent): Promise<void> => {
      if (this.#open === open) await this.#see(open, event)
    }
    try {
      return await work({ signal: stop.signal, leave: open.leave.signal, tell })
    } catch (error) {
      if (this.#open === open && !stop.signal.aborted) {
        this.#report(error)
        this.#failed = this.#state.problem
      }
      return true
    }
  }

  /** Whether a message waits for its answer, and none is on its way here. */
  #asking(open: Open): boolean {
    return this.#open === open && !this.#stop && !isAnswered(this.#run.messages)
  }

  /** Whether the newest message is kept here and waits to be sent. */
  get #isUnsent(): boolean {
    return this.#run.messages.at(-1)?.delivery === 'local'
  }

  async #see(open: Open, event: ReplyEvent): Promise<void> {
    const { sessionId } = open.entry
    if (event.type === 'receipt') {
      this.#become({ receipt: event.receipt })
      return
    }
    if (event.type === 'call' && event.call.status === 'running')
      this.#parts.emit({ type: 'tool-call', sessionId, call: event.call })
    if (event.type === 'recorded') {
      if (event.message) this.#add(event.message)
      else await this.#refresh()
      this.#tellNewest()
    }
    if (this.#open !== open) return
    const { reply } = this.#state
    if (!reply) this.#endFailed()
    this.#become({ reply: nextReply(reply ?? WAITING, event) })
  }

  /** There is another reply than the one that failed. */
  #endFailed(): void {
    if (this.#state.problem === this.#failed) this.#become({ problem: undefined })
  }

  /** Shows a message that was recorded, before anybody reads it. */
  #add(message: Message): void {
    if (this.#run.messages.some(({ id }) => id === message.id)) return
    this.#run = { ...this.#run, messages: [...this.#run.messages, message] }
    this.#show()
  }

  #tellNewest(): void {
    const message = this.#run.messages.at(-1)
    const sessionId = this.#open?.entry.sessionId
    if (!message || sessionId === undefined || message.id === this.#told) return
    this.#told = message.id
    this.#parts.emit({ type: 'message', sessionId, message })
  }

  /**
   * Reads what is new. Changes that come meanwhile are read once, at the end.
   *
   * @param isWhole whether all that shows is read again: some of it may be forgotten
   */
  #refresh(isWhole = false): Promise<void> {
    this.#stale = true
    this.#isWhole ||= isWhole
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #read(): Promise<void> {
    while (this.#stale) {
      this.#stale = false
      const isWhole = this.#isWhole
      this.#isWhole = false
      const open = this.#open
      if (!open) return
      try {
        await this.#readAll(open, isWhole)
        if (this.#open !== open) return
        this.#become({ loaded: true })
        const { messages } = this.#run
        if (isAnswered(messages) && messages.at(-1)?.metadata?.stopped !== 'error') this.#endFailed()
        if (!open.home.isHere) this.#back()
      } catch (error) {
        if (this.#open === open) this.#report(error)
        return
      }
    }
  }

  /** The network is back. */
  #back(): void {
    if (this.#state.problem?.code === 'ERR_OFFLINE') this.#become({ problem: undefined })
  }

  async #readAll(open: Open, isWhole = false): Promise<void> {
    const newest = open.session.history({ messages: PAGE })
    const [branches, first] = await Promise.all([open.session.branches(), newest])
    // Where something was hidden or shown again, all that shows may be another.
    const hasChanged = JSON.stringify(branches) !== JSON.stringify(this.#branches)
    const asked = hasChanged ? Math.max(PAGE, this.#run.messages.length) : PAGE
    const page = asked > PAGE ? await open.session.history({ messages: asked }) : first
    if (this.#open !== open) return
    if (page.length === 0 && this.#run.messages.length > 0) {
      this.#parts.onListed()
      open.home.find(open.entry.sessionId).then(
        (found) => !found && this.#open === open && this.#noteDeleted(),
        () => {},
      )
    }
    this.#branches = branches
    const run = hasChanged ? NOTHING : this.#run
    const [begin] = page
    const before = run.messages.findIndex(({ id }) => id === begin?.id)
    if (isWhole && begin && before > 0) {
      const older = await open.session.history({ messages: before + 1, before: begin.id })
      if (this.#open !== open) return
      this.#run = { messages: [...older, ...page], hasOlder: run.hasOlder || older.length > before }
    } else this.#run = withNewest(run, page, asked)
    this.#show()
    // Beside what was said: where they cannot be read, the next reading tries again.
    if (!this.#stop) void this.#readFacts().catch(() => {})
  }

  async #readFacts(): Promise<void> {
    const open = this.#open
    const reading = ++this.#factReadings
    const facts = await open?.session.facts()
    if (!facts || this.#open !== open || reading !== this.#factReadings) return
    this.#facts = facts
    this.#show()
  }

  #show(): void {
    const open = this.#open
    if (!open) return
    const parts = {
      run: this.#run,
      branches: this.#branches,
      facts: this.#facts,
      undone: this.#undone,
      outgoing: open.session.outgoing?.list() ?? [],
    }
    this.#become({ messages: shownMessages(parts, this.#state.messages), hasOlder: this.#run.hasOlder })
  }

  /** Shows nothing. A local reply goes on behind; that of an edge does anyway. */
  #leave(): void {
    const open = this.#open
    this.#open = undefined
    this.#stop = undefined
    this.#asked = this.#isStopped = false
    this.#run = NOTHING
    this.#branches = []
    this.#facts = []
    this.#undone.clear()
    if (!open) return
    open.leave.abort(new Error('left'))
    for (const end of open.ends) end()
    Promise.allSettled([this.#answering, this.settled(open.entry.sessionId)])
      .then(() => open.session.close())
      .catch(() => {})
  }

  async #try(work: () => Promise<unknown> | undefined): Promise<void> {
    const { session } = this.#state
    const opened = this.#opened
    try {
      await work()
    } catch (error) {
      this.#report(error, session?.sessionId, opened === this.#opened)
    }
  }

  /** @param isShown whether the session shows in which it happened */
  #report(error: unknown, sessionId = this.#state.session?.sessionId, isShown = true): void {
    const problem: Problem = problemOf(error)
    const storage = isPlimsollError(error, 'ERR_STORAGE_FULL') ? { storage: 'full' as const } : {}
    if (isShown) this.#become({ problem, ...storage })
    if (!isUnreachable(error)) this.#parts.emit({ type: 'error', sessionId, problem })
  }

  #become(change: Partial<ConversationState>): void {
    const keys = Object.keys(change) as (keyof ConversationState)[]
    if (keys.every((key) => this.#state[key] === change[key])) return
    this.#state = { ...this.#state, ...change }
    for (const listener of [...this.#listeners]) {
      try {
        listener()
      } catch {
        // A listener stops nothing: the event has already happened.
      }
    }
  }
}

const CLOSED: ConversationState = {
  session: undefined,
  loaded: false,
  isMissing: false,
  messages: [],
  hasOlder: false,
  reply: undefined,
  problem: undefined,
  online: true,
  storage: 'ok',
  takesUploads: false,
  receipt: undefined,
  model: undefined,
}

function isSame(one: Said, { sessionId, text, replaces, uploads }: Omit<Said, 'id'>): boolean {
  const isThere = one.sessionId === sessionId && one.replaces === replaces
  const isWritten = isThere && one.text === text && one.uploads.length === uploads.length
  return isWritten && one.uploads.every((upload, place) => sameAttachment(upload, uploads[place] as Upload))
}

/** Place of the first message of the reply that holds the message of a place. */
function firstOfReply(messages: readonly Message[], place: number): number {
  return messages.findLastIndex(({ role }, index) => role === 'user' && index < place) + 1
}

/** Calls back whenever all messages on their way have left, whichever tab sent them. */
function onSent(outgoing: Outgoing, sent: () => void): () => void {
  let waited = outgoing.list().length > 0
  return outgoing.subscribe(() => {
    const waits = outgoing.list().length > 0
    if (waited && !waits) sent()
    waited = waits
  })
}
