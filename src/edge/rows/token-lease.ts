import type { SqlStorageLike } from '../../stores/sql-schema.ts'
import { EdgeTables } from './edge-tables.ts'

const SCHEMA = [
  'CREATE TABLE IF NOT EXISTS plimsoll_edge_lease (id INTEGER PRIMARY KEY CHECK (id = 1), remaining REAL NOT NULL)',
]
/** Others may take meanwhile what was asked for. */
const MOST_ASKS = 3

/** How much is asked for: `least` or nothing, at best `wanted`. */
export interface Ask {
  readonly least: number
  readonly wanted: number
}

/** Contract: resolves with what is granted, from `least` on. @throws ERR_RATE_LIMIT, ERR_LIMIT */
export type Grant = (ask: Ask) => Promise<number>

/**
 * Tokens that were taken in advance of a budget which another object keeps, so that not each call
 * asks there. What is taken is on disk before the call; what is left when the object is erased
 * counts as spent.
 */
export class TokenLease {
  readonly #tables: EdgeTables
  readonly #grant: Grant
  readonly #size: number

  /** @param size how much is asked for at once, where a call needs no more */
  constructor(storage: SqlStorageLike, size: number, grant: Grant) {
    this.#tables = new EdgeTables(storage, SCHEMA)
    this.#size = size
    this.#grant = grant
  }

  /** @throws as what grants it: then nothing is taken */
  async take(tokens: number): Promise<void> {
    for (let asks = 0; asks < MOST_ASKS; asks++) {
      const left = this.#left()
      if (left >= tokens) break
      // A debt is paid where there is plenty, and does not keep a call from being made.
      const least = tokens - Math.max(0, left)
      const granted = await this.#grant({ least, wanted: Math.max(tokens - left, this.#size) })
      this.#add(granted)
      // Else another call may have taken meanwhile what was left.
      if (granted >= tokens) break
    }
    this.#add(-tokens)
  }

  /**
   * What a call took beyond what was foretold of it; below 0: it took less. The debt is bounded by
   * what is asked for at once.
   */
  settle(difference: number): void {
    if (difference !== 0) this.#add(Math.max(-difference, -this.#size - Math.max(0, this.#left())))
  }

  /** Forgets what is left. */
  clear(): void {
    this.#tables.run('DELETE FROM plimsoll_edge_lease')
  }

  #left(): number {
    const [row] = this.#tables.run('SELECT remaining FROM plimsoll_edge_lease')
    return (row?.remaining as number | undefined) ?? 0
  }

  #add(tokens: number): void {
    this.#tables.insert(
      'INSERT INTO plimsoll_edge_lease VALUES (1, ?1) ON CONFLICT DO UPDATE SET remaining = remaining + ?1',
      tokens,
    )
  }
}
