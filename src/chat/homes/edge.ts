import type { Client } from '../../client/client.ts'
import { checkSubject, EdgeAccess, type EdgeAccessParts, isOwn } from './edge-access.ts'
import { edgeHome } from './edge-home.ts'
import { sayAtEdge } from './edge-session.ts'
import type { Home } from './home.ts'
import { idbRows, memoryRows } from './idb-rows.ts'
import { loaded } from './load.ts'
import { Outbox } from './outbox.ts'

export interface EdgeParts extends EdgeAccessParts {
  /** Told of each session of which messages were sent, once all were. */
  readonly onSent: (sessionId: string) => void
}

/** Who signs in: with a token of the edge, and by the name of what is kept in this browser. */
export interface SigningIn {
  readonly token: string | undefined
  readonly userId: string | undefined
}

/** How somebody signs out: as the widget's method says. */
export interface SigningOut {
  readonly erase: boolean
  readonly force: boolean
  readonly dryRun: boolean
}

/**
 * What would be lost by signing out, or was: of the session of an id, or of none, which is what all
 * share, or a conversation in which nothing was said.
 */
export interface Lost {
  readonly sessionId?: string
  /** What was not sent yet. */
  readonly waiting: number
  /** What the edge refused, and nobody has looked after. */
  readonly refused: number
  /** Whether something stands in its field: text or files, of anybody who used this browser. */
  readonly draft?: true
  /** Whether it is a guest's in this browser alone, whom nobody can be again. */
  readonly local?: true
}

/** What a sign-out came to at an edge. */
export interface LeftEdge {
  /** What would be lost; then nothing was removed, unless it is forced. */
  readonly lost: readonly Lost[]
  /** Removes what a guest has there; never rejects. Undefined: there is none, or it stays. */
  readonly eraseGuest?: (() => Promise<void>) | undefined
  /** Removes what came here meanwhile: to be called once nobody is known any more. */
  readonly removeRest?: () => Promise<void>
}

/** An edge, as one user of the widget has it: the sessions there, and what is to be sent. */
export interface Edge {
  /** Whose it is: {@link Identity.owner} when it was opened. */
  readonly owner: string
  readonly client: Client
  readonly home: Home
  /** Begins to send what was said before. */
  open(): Promise<void>
  /**
   * Has a session answered that is not on the screen: the edge goes on by itself once it was asked.
   */
  answerUnseen(sessionId: string): Promise<void>
  /**
   * Gives what a guest said to who signs in. Idempotent.
   *
   * @returns new ids of sessions
   * @throws ERR_STORAGE: the edge was not reached
   */
  handOver(to: SigningIn): Promise<ReadonlyMap<string, string>>
  /** Resolves once nothing is on its way, or cannot be now, or a person would wait no longer. */
  restSoon?(): Promise<void>
  /**
   * Removes what is kept here, with `erase` all of it, and gives what removes the rest. With
   * `dryRun` nothing ever is removed.
   */
  signOut(options: SigningOut): Promise<LeftEdge>
  close(): Promise<void>
}

const loadGuest = () => import('./guest.ts')
/** How long a message waits to hear from the page whose it is, in milliseconds. */
const ASK_MS = 1_000

/** With an outbox, and all else at the edge. */
export class PlainEdge implements Edge {
  readonly owner: string
  readonly client: Client
  readonly home: Home
  readonly #access: EdgeAccess
  readonly #outbox: Outbox
  readonly #parts: EdgeParts

  constructor(parts: EdgeParts) {
    const { src, platform, name, identity, onSent } = parts
    this.#parts = parts
    const access = new EdgeAccess({ ...parts, check: (token) => this.#hear(token) })
    this.#access = access
    const { client } = access
    this.client = client
    const { now, network } = platform
    const { owner } = identity
    this.owner = owner
    this.#outbox = new Outbox({
      store: platform.indexedDB ? idbRows(platform.indexedDB, `${name}/outbox`) : memoryRows(),
      author: async () => ({ owner: `${src} ${owner}`, subject: await this.#asked() }),
      isOwn: (entry) => isOwn(entry, { src, owner, subject: identity.heard }),
      writing: (write) => access.writing(write),
      locks: platform.locks,
      lockName: `${name}/outbox`,
      network,
      sleep: platform.sleep,
      send: async ({ id, sessionId, text, title, subject }) => {
        const check = (token: string | undefined): void => {
          this.#hear(token)
          checkSubject(subject, token)
        }
        const named = title === undefined ? {} : { title }
        const { client: author } = new EdgeAccess({ ...parts, check })
        await sayAtEdge(author, sessionId, { id, role: 'user', content: text }, named)
      },
      onSent,
    })
    this.home = edgeHome({
      ...parts,
      access,
      client,
      outbox: this.#outbox,
      now,
      isOnline: () => network.isOnline(),
    })
  }

  async open(): Promise<void> {
    await this.#outbox.open().catch(() => {})
    // What waits may be of who has come back, and is sent once the page says so.
    if (this.#outbox.all.length > 0) void this.#access.given().catch(() => {})
  }

  answerUnseen(sessionId: string): Promise<void> {
    return answerUnseen(this.home, sessionId)
  }

  async handOver(to: SigningIn): Promise<ReadonlyMap<string, string>> {
    return (await loaded(loadGuest)).handOverOf(this.#outbox, this.#access, this.#parts, to)
  }

  async signOut(options: SigningOut): Promise<LeftEdge> {
    return (await loaded(loadGuest)).signOutOf(this.#outbox, this.#access, this.#parts, options)
  }

  async close(): Promise<void> {
    await this.#outbox.close()
  }

  /** Takes in whom a token of the page names. */
  #hear(token: string | undefined): void {
    const { identity } = this.#parts
    // After a reload nobody may have said yet who the user is.
    if (token === undefined && !identity.isGuest) return
    const subject = checkSubject(undefined, token)
    const isOther = subject !== identity.heard
    identity.subject = subject
    if (isOther) void this.#outbox.flush()
  }

  /** Whom the page's tokens name now, where it says so in time. */
  async #asked(): Promise<string | undefined> {
    const late = new AbortController()
    const { sleep } = this.#parts.platform
    await Promise.race([this.#access.given(), sleep(ASK_MS, late.signal)]).catch(() => {})
    late.abort()
    return this.#parts.identity.heard
  }
}

/** As {@link Edge.answerUnseen}. */
export async function answerUnseen(home: Pick<Home, 'session'>, sessionId: string): Promise<void> {
  const { signal } = new AbortController()
  const session = home.session(sessionId)
  await session.reply({ signal, leave: signal, tell: () => {} }).catch(() => {})
  await session.close()
}
