import type { Scope } from '../../ports/op.ts'
import type { SqlStorageLike } from '../../stores/sql-schema.ts'

export type SessionScope = Scope & { readonly sessionId: string }

/** What an object knows of the session that it holds. */
export interface SessionRecord {
  /** Tells it from sessions that had its name before it, or get it after it. */
  readonly id: string
  readonly scope: SessionScope
  /** Whose facts belong to it beside those of no project. Sealed where there is a key. */
  readonly project?: string
  /**
   * Wraps what seals all that the object keeps beside its memory. Absent: that is in the clear. It
   * goes with this record.
   */
  readonly key?: string
  /** Unix milliseconds, for display only. */
  readonly createdAt: number
  /**
   * `copying`: it is taken over from another object, and not there yet; `moving`: another object
   * takes it over, and nobody else may touch it; `erasing`: its rows are being removed, and to
   * callers it is not there.
   */
  readonly state: 'live' | 'copying' | 'moving' | 'erasing'
  /** Name of the object of the user who takes it over. */
  readonly movingTo?: string
  /** Id of the session that it was taken over from. */
  readonly movedFrom?: string
}

const TABLE = 'plimsoll_edge_session'

/**
 * The one row that says whose an object is; in memory after its first read, since nobody else
 * writes it.
 */
export class SessionRecords {
  readonly #storage: SqlStorageLike
  #read = false
  #record: SessionRecord | undefined

  constructor(storage: SqlStorageLike) {
    this.#storage = storage
  }

  get(): SessionRecord | undefined {
    if (!this.#read) {
      const { sql } = this.#storage
      const made = sql.exec(`SELECT 1 FROM sqlite_master WHERE name = '${TABLE}'`).toArray().length > 0
      const [row] = made ? sql.exec(`SELECT record FROM ${TABLE}`).toArray() : []
      this.#record = row && (JSON.parse(row.record as string) as SessionRecord)
      this.#read = true
    }
    return this.#record
  }

  put(record: SessionRecord): void {
    const { sql } = this.#storage
    // An object holds one session.
    sql.exec(
      `CREATE TABLE IF NOT EXISTS ${TABLE} (id INTEGER PRIMARY KEY CHECK (id = 1), record TEXT NOT NULL)`,
    )
    sql.exec(`INSERT OR REPLACE INTO ${TABLE} VALUES (1, ?)`, JSON.stringify(record))
    this.#record = record
    this.#read = true
  }

  remove(): void {
    if (!this.get()) return
    this.#storage.sql.exec(`DELETE FROM ${TABLE}`)
    this.#record = undefined
  }
}
