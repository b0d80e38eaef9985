import type { SqlStorageLike } from '../../stores/sql-schema.ts'

/** Copies that are remembered. */
const MOST_KEPT = 64
/** Copies that one commit pokes. */
const MOST_POKED = 32
/**
 * A replica that pulled longer ago gets no hint: that would only wake it, and it pulls by itself
 * when it is used again.
 */
export const LATELY_MS = 600_000
/** How exact the times are: a replica that pulls often is not written down each time. */
const EXACT_MS = 10_000

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
  #isReady = false

  constructor(parts: RecentPullsParts) {
    this.#parts = parts
  }

  /** Notes that a session's replica pulled. Idempotent. */
  pulled(sessionId: string): void {
    const { now } = this.#parts
    const at = now()
    const [row] = this.#rows('SELECT at FROM plimsoll_edge_replica WHERE session = ?', sessionId)
    if (row && Math.abs(at - (row.at as number)) < EXACT_MS) return
    this.#parts.storage.transactionSync(() => {
      this.#rows('INSERT OR REPLACE INTO plimsoll_edge_replica VALUES (?, ?)', sessionId, at)
      this.#rows(
        `DELETE FROM plimsoll_edge_replica WHERE session NOT IN
          (SELECT session FROM plimsoll_edge_replica ORDER BY at DESC, session LIMIT ?)`,
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
    return row !== undefined && (row.at as number) + EXACT_MS + LATELY_MS >= since
  }

  /**
   * Sessions that pulled within ten minutes, the latest first, at most 32. @param but not this one:
   * it knows what it wrote itself
   */
  recent(but?: string): readonly string[] {
    return this.#rows(
      'SELECT session FROM plimsoll_edge_replica WHERE at > ? AND session IS NOT ? ORDER BY at DESC, session LIMIT ?',
      this.#parts.now() - LATELY_MS,
      but ?? null,
      MOST_POKED,
    ).map(({ session }) => session as string)
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
