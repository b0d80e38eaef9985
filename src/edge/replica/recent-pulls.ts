import { NUMBER, type SqlStorageLike } from '../../stores/sql-schema.ts'

/** Copies that are remembered. */
const MOST_KEPT = 64
/** Copies that one commit pokes. */
const MOST_POKED = 32
/**
 * A replica that pulled longer ago gets no hint: that would only wake it, and it pulls by itself
 * when it is used again.
 */
export const LATELY_MS = 600_000
/**
 * How far behind the times are that are stored: a replica that pulls often is not written down each
 * time. Exact ones are in memory.
 */
const BEHIND_MS = 600_000
/** Exact times in memory. */
const MOST_TIMES = 1_024

export interface RecentPullsParts {
  readonly storage: SqlStorageLike
  readonly now: () => number
}

/**
 * Which sessions' objects pulled lately, so that they get a hint when something changes: kept in
 * the database of the user's object, in the table `plimsoll_edge_replica`. At most 64; the longest
 * ago are forgotten first.
 */
export class RecentPulls {
  readonly #parts: RecentPullsParts
  /** Since the object woke. */
  readonly #times = new Map<string, number>()
  #isReady = false

  constructor(parts: RecentPullsParts) {
    this.#parts = parts
  }

  /** Notes that a session's replica pulled. Idempotent. */
  pulled(sessionId: string): void {
    const { now } = this.#parts
    const at = now()
    if (this.#times.size >= MOST_TIMES) this.#times.clear()
    this.#times.set(sessionId, at)
    const [row] = this.#rows('SELECT at FROM plimsoll_edge_replica WHERE session = ?', sessionId)
    if (row && Math.abs(at - (row.at as number)) < BEHIND_MS) return
    this.#parts.storage.transactionSync(() => {
      this.#rows('INSERT OR REPLACE INTO plimsoll_edge_replica VALUES (?, ?)', sessionId, at)
      this.#rows(
        `DELETE FROM plimsoll_edge_replica WHERE session NOT IN
          (SELECT session FROM plimsoll_edge_replica ORDER BY at DESC, session LIMIT ${NUMBER})`,
        MOST_KEPT,
      )
    })
  }

  /**
   * Whether a session pulled so lately that it may have been in use since a time. Who is in use and
   * did not pull for ten minutes sees to it itself that others learn of it.
   */
  mayHaveChanged(sessionId: string, since: number): boolean {
    const [row] = this.#rows('SELECT at FROM plimsoll_edge_replica WHERE session = ?', sessionId)
    return row !== undefined && this.#latest(sessionId, row.at as number) + LATELY_MS >= since
  }

  /**
   * Sessions that pulled lately, the latest first, at most 32.
   *
   * @param but not this one: it knows what it wrote itself
   * @param within milliseconds. Default: ten minutes. Of those that pulled before the object woke,
   * nobody knows it so exactly: ten minutes more
   */
  recent(but?: string, within = LATELY_MS): readonly string[] {
    const since = this.#parts.now() - within
    return this.#rows(
      'SELECT session, at FROM plimsoll_edge_replica WHERE at > ? AND session IS NOT ? ORDER BY at DESC, session',
      since - BEHIND_MS,
      but ?? null,
    )
      .map(({ session, at }) => ({ session: session as string, at: at as number }))
      .filter(({ session, at }) => this.#latest(session, at) > since)
      .sort((one, other) => this.#timeOf(other) - this.#timeOf(one))
      .slice(0, MOST_POKED)
      .map(({ session }) => session)
  }

  /** As far as it is known. */
  #timeOf({ session, at }: { readonly session: string; readonly at: number }): number {
    return this.#times.get(session) ?? at
  }

  /** When it pulled at the latest. @param stored the time that is stored */
  #latest(session: string, stored: number): number {
    return this.#times.get(session) ?? stored + BEHIND_MS
  }

  /**
   * Tells the recent ones that something changed. A hint: what fails is passed over.
   *
   * @param poke Contract: tells one session's object to call its replica's `poke`
   * @param by the session that wrote
   */
  async poke(poke: (sessionId: string) => Promise<unknown>, by?: string): Promise<void> {
    await Promise.allSettled(this.recent(by).map(async (sessionId) => poke(sessionId)))
  }

  /** Forgets all of them. */
  clear(): void {
    this.#times.clear()
    this.#rows('DELETE FROM plimsoll_edge_replica')
  }

  #rows(query: string, ...bindings: (string | number | null)[]) {
    const { sql } = this.#parts.storage
    if (!this.#isReady)
      sql.exec(
        'CREATE TABLE IF NOT EXISTS plimsoll_edge_replica (session TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID',
      )
    this.#isReady = true
    return sql.exec(query, ...bindings).toArray()
  }
}
