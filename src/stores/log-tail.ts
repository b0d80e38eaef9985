import {
  type Decision,
  type EntriesQuery,
  isEntry,
  type LogRow,
  PAGE_ROWS,
  PAGE_UNITS,
  type Page,
} from '../ports/store.ts'
import { firstAfter, PageFill, pageOfEntries, pageOfOps, unitsOf } from './page-fill.ts'

/** The newest rows of a log in memory: all after one seq. Bounded to two pages. */
export class LogTail {
  readonly #rows: LogRow[] = []
  #after: number
  #units = 0

  /** @param rows all rows after that seq; 0: the whole log. */
  constructor(after: number, rows: readonly LogRow[]) {
    this.#after = after
    this.push(rows)
  }

  /** The seq after which all rows are here. */
  get after(): number {
    return this.#after
  }

  get rows(): readonly LogRow[] {
    return this.#rows
  }

  /**
   * Adds the rows that follow. Lets go of whole ops at the beginning, when there are more than two
   * pages of rows.
   */
  push(rows: readonly LogRow[]): void {
    for (const row of rows) this.#units += unitsOf(row)
    this.#rows.push(...rows)
    if (this.#rows.length <= 2 * PAGE_ROWS && this.#units <= 2 * PAGE_UNITS) return
    const kept = new PageFill()
    let start = this.#rows.length
    while (start > 0 && kept.take(this.#rows[start - 1] as LogRow)) start--
    this.#after = this.#rows[start - 1]?.seq ?? this.#after
    this.#rows.splice(0, firstAfter(this.#rows, this.#after))
    this.#units = this.#rows.reduce((sum, row) => sum + unitsOf(row), 0)
  }

  /** The entry of that id, if it is here. */
  find(id: string): LogRow | undefined {
    return this.#rows.findLast((row) => row.id === id && isEntry(row))
  }

  /** What a query finds, if all that it asks for is here. */
  entries(query: EntriesQuery): Page | undefined {
    const whole = this.#after === 0
    const isOpen = query.after === undefined && query.from === undefined
    if (isOpen && query.first !== undefined && !whole) return undefined
    const page = pageOfEntries(this.#rows, query, (id) => {
      const place = this.#rows.findLastIndex((row) => row.id === id && isEntry(row))
      return place < 0 ? undefined : place
    })
    return page?.more || whole || !isOpen ? page : undefined
  }

  /** The page of rows after a seq, if they are all here. */
  pageAfter(seq: number): { readonly rows: readonly LogRow[]; readonly more: boolean } | undefined {
    return seq < this.#after ? undefined : pageOfOps(this.#rows, firstAfter(this.#rows, seq))
  }
}

/**
 * The tail after a commit.
 *
 * @param tail of the rows up to seq `before`, if they are known.
 */
export function tailAfter(
  tail: LogTail | undefined,
  before: number,
  { erase, emptied, log, replica }: Pick<Decision, 'erase' | 'emptied' | 'log' | 'replica'>,
): LogTail {
  const { seq = before } = replica?.rebase?.to ?? {}
  // Rows that are in it may have lost their bodies, or be there no more.
  if (!tail || erase || emptied.length > 0 || replica?.rebase) return new LogTail(erase ? 0 : seq, log)
  tail.push(log)
  return tail
}
