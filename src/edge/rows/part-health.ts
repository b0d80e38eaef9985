import type { ErrorCode } from '../../ports/errors.ts'
import type { SqlStorageLike } from '../../stores/sql-schema.ts'
import { EdgeTables } from './edge-tables.ts'

/** What works behind the answers. */
export type Part = 'model' | 'alarm' | 'queue'

export const PARTS: readonly Part[] = ['model', 'alarm', 'queue']

/** How a part is. */
export interface PartState {
  readonly status: 'ok' | 'failing'
  /** Of the newest failure. */
  readonly code?: ErrorCode
  /** When that was, Unix milliseconds. */
  readonly at?: number
}

interface Noted {
  readonly code: ErrorCode
  readonly at: number
  readonly isOver: boolean
}

const SCHEMA = [
  'CREATE TABLE IF NOT EXISTS plimsoll_edge_health (part TEXT PRIMARY KEY, noted TEXT NOT NULL) WITHOUT ROWID',
]
/** For how long a failure counts of which nobody said that it is over. */
const FAILING_MS = 5 * 60_000

/** What the objects of a deployment say of their parts: one row a part. */
export class PartHealth {
  readonly #tables: EdgeTables
  readonly #now: () => number

  constructor(storage: SqlStorageLike, now: () => number) {
    this.#tables = new EdgeTables(storage, SCHEMA)
    this.#now = now
  }

  failed(part: Part, code: ErrorCode): void {
    this.#put(part, { code, at: this.#now(), isOver: false })
  }

  passed(part: Part): void {
    const noted = this.#get(part)
    if (noted && !noted.isOver) this.#put(part, { ...noted, isOver: true })
  }

  of(part: Part): PartState {
    const noted = this.#get(part)
    if (!noted) return { status: 'ok' }
    const { code, at, isOver } = noted
    return { status: isOver || this.#now() - at >= FAILING_MS ? 'ok' : 'failing', code, at }
  }

  #get(part: Part): Noted | undefined {
    const [row] = this.#tables.run('SELECT noted FROM plimsoll_edge_health WHERE part = ?', part)
    return row && (JSON.parse(row.noted as string) as Noted)
  }

  #put(part: Part, noted: Noted): void {
    this.#tables.insert(
      'INSERT OR REPLACE INTO plimsoll_edge_health VALUES (?, ?)',
      part,
      JSON.stringify(noted),
    )
  }
}
