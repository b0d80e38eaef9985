import { PlimsollError } from '../../ports/errors.ts'
import type { SqlStorageLike } from '../../stores/sql-schema.ts'
import { EdgeTables } from './edge-tables.ts'

/** `begun`: what the guest did is being moved; `done`: all of it was, and the token is dead. */
export type ClaimState = 'begun' | 'done'

const SCHEMA = [
  'CREATE TABLE IF NOT EXISTS plimsoll_edge_guest (id INTEGER PRIMARY KEY CHECK (id = 1), claim TEXT NOT NULL)',
]

/** What the object of a guest knows of being claimed. In memory after its first read. */
export class GuestRecord {
  readonly #tables: EdgeTables
  #isRead = false
  #claim: ClaimState | undefined

  constructor(storage: SqlStorageLike) {
    this.#tables = new EdgeTables(storage, SCHEMA)
  }

  /**
   * @param writes whether the guest's call would write
   * @throws ERR_UNAUTHENTICATED: the guest was claimed; ERR_CONFLICT: it writes while that goes on
   */
  check(writes: boolean): void {
    const claim = this.#get()
    if (claim === 'done')
      throw new PlimsollError('ERR_UNAUTHENTICATED', 'authenticate: the token is not valid', {
        cause: 'the guest was claimed',
      })
    if (claim === 'begun' && writes)
      throw new PlimsollError('ERR_CONFLICT', 'guest: what it holds is being moved to another user')
  }

  /** Idempotent; what is done stays so. */
  set(claim: ClaimState): void {
    const before = this.#get()
    if (before === 'done' || before === claim) return
    this.#tables.insert(
      'INSERT INTO plimsoll_edge_guest VALUES (1, ?1) ON CONFLICT DO UPDATE SET claim = ?1',
      claim,
    )
    this.#claim = claim
  }

  #get(): ClaimState | undefined {
    if (!this.#isRead) {
      const [row] = this.#tables.run('SELECT claim FROM plimsoll_edge_guest')
      this.#claim = row?.claim as ClaimState | undefined
      this.#isRead = true
    }
    return this.#claim
  }
}
