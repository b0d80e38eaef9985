import { PlimsollError } from '../../ports/errors.ts'
import type { Home } from '../homes/home.ts'
import type { HomeCertificate, HomeKind, SessionEntry, SessionList } from '../ports.ts'
import { hasAll, wordsOf } from '../search-words.ts'

export interface SessionListParts {
  /** Contract: the homes that have sessions. */
  readonly kinds: () => readonly HomeKind[]
  readonly home: (kind: HomeKind) => Promise<Home>
  /** Contract: told before a session is deleted; resolves once nothing writes to it here. */
  readonly onDelete: (sessionId: string, home: HomeKind) => Promise<void>
  /** Contract: told of the list whenever it is another one. */
  readonly onRead: (sessions: readonly SessionEntry[]) => void
}

interface InHome {
  readonly home?: HomeKind
}

interface State {
  readonly loaded: boolean
  readonly sessions: readonly SessionEntry[]
}

/**
 * The sessions of all homes, the newest first. A home that cannot be read keeps what was read of it
 * before.
 */
export class ChatSessionList implements SessionList {
  readonly #parts: SessionListParts
  readonly #listeners = new Set<() => void>()
  readonly #entries = new Map<HomeKind, readonly SessionEntry[]>()
  #state: State = { loaded: false, sessions: [] }

  constructor(parts: SessionListParts) {
    this.#parts = parts
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) void this.refresh()
    return () => this.#listeners.delete(listener)
  }

  getSnapshot(): State {
    return this.#state
  }

  async search(query: string): ReturnType<SessionList['search']> {
    await this.refresh()
    const words = wordsOf(query)
    const { sessions } = this.#state
    if (words.length === 0) return sessions
    const titled = sessions.filter(({ title }) => hasAll(title, words))
    const found = await this.#each(async (home) =>
      (await home.search(query)).map((one) => ({ ...one, home: home.kind })),
    )
    const said = found.flatMap((one) => sessions.filter((entry) => isSame(entry, one)))
    return [...new Set([...titled, ...said])].map((entry) => ({
      ...entry,
      ...found.find((one) => isSame(entry, one)),
    }))
  }

  async rename(sessionId: string, title: string, { home }: InHome = {}): Promise<void> {
    await (await this.#homeOf(sessionId, home)).rename(sessionId, title)
    await this.refresh()
  }

  async delete(sessionId: string, { home: kind }: InHome = {}): Promise<HomeCertificate> {
    const home = await this.#homeOf(sessionId, kind)
    await this.#parts.onDelete(sessionId, home.kind)
    const certificate = await home.delete(sessionId)
    await this.refresh()
    return certificate
  }

  /** Forgets what was read, since it is somebody else's now; reads again if anybody looks. */
  async reset(): Promise<void> {
    this.#entries.clear()
    this.#state = { loaded: false, sessions: [] }
    for (const listener of [...this.#listeners]) listener()
    if (this.#listeners.size > 0) await this.refresh()
  }

  /** Reads the lists again. Never rejects. */
  async refresh(): Promise<void> {
    await this.#each(async (home) => {
      const listed = await home.list()
      this.#entries.set(
        home.kind,
        listed.map(({ sessionId, title, createdAt }) => ({ sessionId, title, createdAt, home: home.kind })),
      )
      return []
    })
    const sessions = [...this.#entries.values()]
      .flat()
      .sort((one, other) => other.createdAt - one.createdAt || (one.sessionId < other.sessionId ? 1 : -1))
    if (this.#state.loaded && JSON.stringify(sessions) === JSON.stringify(this.#state.sessions)) return
    this.#state = { loaded: true, sessions }
    this.#parts.onRead(sessions)
    for (const listener of [...this.#listeners]) listener()
  }

  async #homeOf(sessionId: string, kind: HomeKind | undefined): Promise<Home> {
    await this.refresh()
    const entry = this.#state.sessions.find((one) => isSame(one, { sessionId, home: kind ?? one.home }))
    if (!entry)
      throw new PlimsollError('ERR_NOT_FOUND', `sessions: there is no session ${sessionId}`, {
        id: sessionId,
      })
    return this.#parts.home(entry.home)
  }

  /** What the homes give; one that fails gives nothing. */
  async #each<Found>(ask: (home: Home) => Promise<readonly Found[]>): Promise<readonly Found[]> {
    const given = await Promise.all(
      this.#parts.kinds().map(async (kind) => {
        try {
          return await ask(await this.#parts.home(kind))
        } catch {
          return []
        }
      }),
    )
    return given.flat()
  }
}

type Named = Pick<SessionEntry, 'sessionId' | 'home'>

/** Two homes may have a session of one id: one of them was imported from the other. */
function isSame(one: Named, other: Named): boolean {
  return one.sessionId === other.sessionId && one.home === other.home
}
