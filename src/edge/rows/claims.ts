import type { SqlStorageLike } from '../../stores/sql-schema.ts'
import { EdgeTables } from './edge-tables.ts'

/** What was moved from one guest to a user, all of it together. */
export interface Claimed {
  /** What each session was called, and what it is called now. */
  readonly sessions: readonly { readonly from: string; readonly to: string }[]
  readonly facts: number
}

const SCHEMA = [
  'CREATE TABLE IF NOT EXISTS plimsoll_edge_claim (guest TEXT PRIMARY KEY, claimed TEXT NOT NULL) WITHOUT ROWID',
]
const NOTHING: Claimed = { sessions: [], facts: 0 }

/**
 * What a user claimed, by the name of the guest's object: a claim that is repeated is answered as
 * the first one was.
 */
export class Claims {
  readonly #tables: EdgeTables

  constructor(storage: SqlStorageLike) {
    this.#tables = new EdgeTables(storage, SCHEMA)
  }

  get(guest: string): Claimed {
    const [row] = this.#tables.run('SELECT claimed FROM plimsoll_edge_claim WHERE guest = ?', guest)
    return row ? (JSON.parse(row.claimed as string) as Claimed) : NOTHING
  }

  /** Forgets all of them. */
  clear(): void {
    this.#tables.run('DELETE FROM plimsoll_edge_claim')
  }

  /** Adds to what was moved from a guest; a session that is noted already is noted once. */
  add(guest: string, { sessions = [], facts = 0 }: Partial<Claimed>): void {
    const before = this.get(guest)
    const known = new Set(before.sessions.map(({ to }) => to))
    const fresh = sessions.filter(({ to }) => !known.has(to))
    const claimed: Claimed = { sessions: [...before.sessions, ...fresh], facts: before.facts + facts }
    this.#tables.insert(
      'INSERT OR REPLACE INTO plimsoll_edge_claim VALUES (?, ?)',
      guest,
      JSON.stringify(claimed),
    )
  }
}
