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
  /**
   * What was taken beyond what was granted before: it is counted, and never refused. Nothing else
   * is asked for with it.
   */
  readonly owed?: number
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
    await this.#pay()
    for (let asks = 0; asks < MOST_ASKS; asks++) {
      const left = Math.max(0, this.#left())
      if (left >= tokens) break
      const least = tokens - left
      const granted = await this.#grant({ least, wanted: Math.max(least, this.#size) })
      this.#add(granted)
      // Else another call may have taken meanwhile what was left.
      if (granted >= tokens) break
    }
    this.#add(-tokens)
  }

  /**
   * What a call took beyond what was foretold of it; below 0: it took less. What was not granted is
   * counted at once where the budget is kept: nobody may come back to this lease. Where that one
   * does not answer, the next take does it.
   */
  async settle(difference: number): Promise<void> {
    if (difference !== 0) this.#add(-difference)
    await this.#pay().catch(() => {})
  }

  async #pay(): Promise<void> {
    const owed = -this.#left()
    if (owed <= 0) return
    // Else another call would have it counted too.
    this.#add(owed)
    try {
      await this.#grant({ least: 0, wanted: 0, owed })
    } catch (error) {
      this.#add(-owed)
      throw error
    }
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
