import type { Json } from '../../ports/message.ts'
import { NUMBER, type SqlRow, type SqlStorageLike } from '../../stores/sql-schema.ts'
import { EdgeTables } from '../rows/edge-tables.ts'

/** Work of one object, by kind and key. */
export interface WorkItem {
  readonly kind: string
  readonly key: string
  readonly payload: Json | undefined
  /** How often it was begun since it last succeeded. */
  readonly attempts: number
}

/** Work that was given up. */
export interface QuarantinedWork extends WorkItem {
  /** Unix milliseconds. */
  readonly at: number
  /** Code or name of its last error; never a message, since those may quote content. */
  readonly error: string
}

/**
 * `due` is null in quarantine; `again` is when work is to be done once more that was asked for
 * after it was begun.
 */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS plimsoll_edge_work (kind TEXT NOT NULL, key TEXT NOT NULL, due INTEGER, again INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0, payload TEXT, failed INTEGER, error TEXT, PRIMARY KEY (kind, key)) WITHOUT ROWID`,
  'CREATE INDEX IF NOT EXISTS plimsoll_edge_work_due ON plimsoll_edge_work (due) WHERE due IS NOT NULL',
]
/** What is read of a quarantine at once. */
const MOST_QUARANTINED = 100
const WHERE = 'WHERE kind = ? AND key = ?'

/** The rows of a work queue. Each call is synchronous, one row written at most beside its index. */
export class WorkTable {
  readonly #tables: EdgeTables

  constructor(storage: SqlStorageLike) {
    this.#tables = new EdgeTables(storage, SCHEMA)
  }

  /**
   * Notes work that is to be done. Of work that is noted already the earlier time counts; work that
   * failed keeps its time, and work in quarantine stays there; both get the new payload.
   *
   * @returns when the item is due; undefined: it is as it was, or in quarantine
   */
  put(kind: string, key: string, due: number, payload: Json | undefined): number | undefined {
    const [before] = this.#tables.run(
      `SELECT due, again, attempts, payload FROM plimsoll_edge_work ${WHERE}`,
      kind,
      key,
    )
    const text = payload === undefined ? null : JSON.stringify(payload)
    if (!before) {
      this.#tables.insert(
        'INSERT INTO plimsoll_edge_work (kind, key, due, payload) VALUES (?, ?, ?, ?)',
        kind,
        key,
        due,
        text,
      )
      return due
    }
    const column = before.attempts === 0 ? 'due' : 'again'
    const noted = before[column] as number | null
    const earlier = Math.min(noted ?? due, due)
    if (earlier === noted && before.payload === text) return undefined
    this.#tables.run(
      `UPDATE plimsoll_edge_work SET ${column} = ?, payload = ? ${WHERE}`,
      earlier,
      text,
      kind,
      key,
    )
    return column === 'due' ? earlier : undefined
  }

  payloadOf(kind: string, key: string): Json | undefined {
    const [row] = this.#tables.run(
      `SELECT kind, key, payload, attempts FROM plimsoll_edge_work ${WHERE}`,
      kind,
      key,
    )
    return row && itemIn(row).payload
  }

  /** When the next item is due. One row read. */
  earliest(): number | undefined {
    const [row] = this.#tables.run(
      'SELECT due FROM plimsoll_edge_work WHERE due IS NOT NULL ORDER BY due LIMIT 1',
    )
    return row?.due as number | undefined
  }

  /** What is due by then, what waits longest first. */
  due(now: number, most: number): WorkItem[] {
    return this.#tables
      .run(
        `SELECT kind, key, payload, attempts FROM plimsoll_edge_work WHERE due <= ? ORDER BY due LIMIT ${NUMBER}`,
        now,
        most,
      )
      .map(itemIn)
  }

  /**
   * Counts an attempt, and notes when the next one is due if this one does not come to an end.
   *
   * @returns the item as it is now; undefined: it is gone
   */
  begin({ kind, key }: WorkItem, due: number): WorkItem | undefined {
    const [row] = this.#tables.run(
      `UPDATE plimsoll_edge_work SET attempts = attempts + 1, due = ?, again = NULL ${WHERE}
        RETURNING kind, key, payload, attempts`,
      due,
      kind,
      key,
    )
    return row && itemIn(row)
  }

  /**
   * Work that came to its end: it is gone, unless it is to be done again then, or was asked for
   * since it began.
   */
  end({ kind, key, attempts }: WorkItem, next: number | undefined): void {
    if (next === undefined)
      this.#tables.run(
        `DELETE FROM plimsoll_edge_work ${WHERE} AND attempts = ? AND again IS NULL`,
        kind,
        key,
        attempts,
      )
    this.#tables.run(
      `UPDATE plimsoll_edge_work SET attempts = 0, due = MIN(COALESCE(again, ?1), COALESCE(?1, again)), again = NULL,
        failed = NULL, error = NULL WHERE kind = ?2 AND key = ?3 AND attempts = ?4`,
      next ?? null,
      kind,
      key,
      attempts,
    )
  }

  /** Puts off work, as if it had not been begun. */
  postpone({ kind, key }: WorkItem, due: number): void {
    this.#tables.run(`UPDATE plimsoll_edge_work SET due = ? ${WHERE}`, due, kind, key)
  }

  /** Notes why an attempt failed; `due` is null where the work is given up. */
  fail({ kind, key, attempts }: WorkItem, due: number | null, error: string, now: number): void {
    this.#tables.run(
      `UPDATE plimsoll_edge_work SET due = ?, failed = ?, error = ? ${WHERE} AND attempts = ?`,
      due,
      now,
      error,
      kind,
      key,
      attempts,
    )
  }

  quarantined(): QuarantinedWork[] {
    return this.#tables
      .run(
        `SELECT kind, key, payload, attempts, failed, error FROM plimsoll_edge_work WHERE due IS NULL
          ORDER BY failed LIMIT ${NUMBER}`,
        MOST_QUARANTINED,
      )
      .map((row) => ({ ...itemIn(row), at: row.failed as number, error: row.error as string }))
  }

  /** Takes work out of quarantine. @returns whether it was there */
  release(kind: string, key: string, due: number): boolean {
    const released = this.#tables.run(
      `UPDATE plimsoll_edge_work SET due = ?, attempts = 0, failed = NULL, error = NULL, again = NULL ${WHERE} AND due IS NULL
        RETURNING kind`,
      due,
      kind,
      key,
    )
    return released.length > 0
  }

  remove(kind: string, key: string): void {
    this.#tables.run(`DELETE FROM plimsoll_edge_work ${WHERE}`, kind, key)
  }
}

function itemIn({ kind, key, payload, attempts }: SqlRow): WorkItem {
  return {
    kind: kind as string,
    key: key as string,
    payload: payload === null ? undefined : (JSON.parse(payload as string) as Json),
    attempts: attempts as number,
  }
}
