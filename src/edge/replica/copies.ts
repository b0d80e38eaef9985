import { NUMBER, type SqlStorageLike } from '../../stores/sql-schema.ts'
import { EdgeTables } from '../rows/edge-tables.ts'

/** `seq` is how far of the user's scope a session has confirmed that its copy is. */
const SCHEMA = [
  'CREATE TABLE IF NOT EXISTS plimsoll_edge_copy (session TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID',
]
/** Sessions of which it is kept in memory that they are on the list. */
const MOST_KNOWN = 4_096

/**
 * All sessions that hold a copy of the user's scope, in the database of the user's object: who has
 * to confirm that something is gone. Costs a row written when a session pulls for the first time,
 * and one when it confirms a deletion.
 */
export class Copies {
  readonly #tables: EdgeTables
  readonly #known = new Set<string>()

  constructor(storage: SqlStorageLike) {
    this.#tables = new EdgeTables(storage, SCHEMA)
  }

  /**
   * Notes that a session has a copy. Idempotent.
   *
   * @param seq up to which it holds nothing that was deleted, if it was not on the list
   */
  add(session: string, seq: number): void {
    if (this.#known.has(session)) return
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    this.#tables.insert('INSERT OR IGNORE INTO plimsoll_edge_copy VALUES (?, ?)', session, seq)
    this.#known.add(session)
  }

  /** Sessions that have not confirmed up to there, by id after one of them. */
  behind(seq: number, after: string, most: number): readonly string[] {
    return this.#tables
      .run(
        `SELECT session FROM plimsoll_edge_copy WHERE session > ? AND seq < ? ORDER BY session LIMIT ${NUMBER}`,
        after,
        seq,
        most,
      )
      .map(({ session }) => session as string)
  }

  confirm(session: string, seq: number): void {
    this.#tables.run('UPDATE plimsoll_edge_copy SET seq = ?1 WHERE session = ?2 AND seq < ?1', seq, session)
  }

  /** Of a session that is gone. */
  remove(session: string): void {
    this.#known.delete(session)
    this.#tables.run('DELETE FROM plimsoll_edge_copy WHERE session = ?', session)
  }

  clear(): void {
    this.#known.clear()
    this.#tables.run('DELETE FROM plimsoll_edge_copy')
  }
}
