import { type Context, isPlimsollError, type Message, type Session } from '../src/index.ts'
import { refusalOf, replyTo, scriptedMessages } from './scripted.ts'

/** Messages on the page, and how many more `showOlder` brings. */
const PAGE = 100
const REPLY_MS = 400

/** What the page shows. */
export interface Shown {
  readonly messages: readonly Message[]
  /** Whether the log has more in front of them. */
  readonly older: boolean
  readonly replying: boolean
  /** What the next model call would be given, or why there is no such thing. */
  readonly context: Context | Error | undefined
}

/** One session on the page: follows it, whoever writes, and has the script reply to what is sent here. */
export class Conversation {
  readonly #openSession: () => Session
  readonly #show: (shown: Shown) => void
  readonly #failed: (error: unknown) => void
  #session: Session
  #unsubscribe: () => void = () => {}
  #shown: Shown = EMPTY
  #most = PAGE
  #reading = false
  #stale = false
  #asked = false

  constructor(openSession: () => Session, show: (shown: Shown) => void, failed: (error: unknown) => void) {
    this.#openSession = openSession
    this.#show = show
    this.#failed = failed
    this.#session = this.#open()
  }

  /** Begins anew with what the store has now. */
  reopen(): void {
    this.#unsubscribe()
    void this.#session.close().catch(() => {})
    this.#become({ ...EMPTY, replying: this.#shown.replying })
    this.#session = this.#open()
  }

  /** Resolves when the message is durable. The reply comes later. */
  async send(content: string, opId: string): Promise<void> {
    await this.#session.append({ role: 'user', content }, { opId })
    this.#asked = true
    void this.#reply()
  }

  /** Adds scripted messages as an agent would: each message of the assistant answers a context. */
  async fill(messages: number, progress: (added: number) => void): Promise<void> {
    let added = 0
    for (const message of scriptedMessages(messages)) {
      if (message.role === 'assistant') await this.#session.context()
      await this.#session.append(message)
      progress(++added)
    }
  }

  async showOlder(): Promise<void> {
    const [first] = this.#shown.messages
    if (!first) return
    const older = await this.#session.history({ messages: PAGE, before: first.id })
    // Loaded twice, or the page shows something else by now.
    if (this.#shown.messages[0] !== first) return
    // From now on nothing leaves the page while its reader is at the older ones.
    this.#most = Infinity
    this.#become({ messages: [...older, ...this.#shown.messages], older: older.length >= PAGE })
  }

  #open(): Session {
    const session = this.#openSession()
    this.#unsubscribe = session.subscribe(() => void this.#follow())
    return session
  }

  /** One reply at a time; what is sent meanwhile is answered by the next one. */
  async #reply(): Promise<void> {
    if (this.#shown.replying) return
    this.#become({ replying: true })
    try {
      while (this.#asked) {
        this.#asked = false
        const session = this.#session
        const [content] = await Promise.all([contextOf(session).then(answer), pause(REPLY_MS)])
        await session.append({ role: 'assistant', content })
      }
    } catch (error) {
      this.#failed(error)
    }
    this.#become({ replying: false })
  }

  /** Brings the page up to date with the session. Changes that come meanwhile are read once, at the end. */
  async #follow(): Promise<void> {
    this.#stale = true
    if (this.#reading) return
    this.#reading = true
    try {
      while (this.#stale) {
        this.#stale = false
        const session = this.#session
        const change = await this.#read(session)
        if (session === this.#session) this.#become(change)
      }
    } catch (error) {
      this.#failed(error)
    }
    this.#reading = false
  }

  async #read(session: Session): Promise<Pick<Shown, 'messages' | 'older' | 'context'>> {
    const context = await contextOf(session, true)
    const joined = join(this.#shown.messages, session.getSnapshot().messages)
    if (joined) {
      const messages = joined.slice(Math.max(0, joined.length - this.#most))
      return { messages, older: this.#shown.older || messages.length < joined.length, context }
    }
    this.#most = PAGE
    const messages = (await session.history({ messages: PAGE })).slice(-PAGE)
    return { messages, older: messages.length >= PAGE, context }
  }

  #become(change: Partial<Shown>): void {
    this.#shown = { ...this.#shown, ...change }
    this.#show(this.#shown)
  }
}

const EMPTY: Shown = { messages: [], older: false, replying: false, context: undefined }

/** What is on the page, brought up to date with the window; nothing if the two do not meet. */
function join(shown: readonly Message[], window: readonly Message[]): readonly Message[] | undefined {
  const start = shown.findIndex(({ id }) => id === window[0]?.id)
  if (start >= 0) return [...shown.slice(0, start), ...window]
  const from = window.findIndex(({ id }) => id === shown[0]?.id)
  return from >= 0 ? window.slice(from) : undefined
}

/** The context of a call now, or the refusal. A preview writes nothing. */
async function contextOf(session: Session, preview = false): Promise<Context | Error> {
  try {
    return await session.context({ preview, onPending: 'abandon' })
  } catch (error) {
    if (isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) return error
    throw error
  }
}

function answer(context: Context | Error): string {
  return context instanceof Error ? refusalOf(context) : replyTo(context)
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds))
}
