import { type EntriesQuery, isEntry, type LogRow, PAGE_ROWS, PAGE_UNITS, type Page } from '../ports/store.ts'

/** Fills a page row by row, up to the limits that all stores share. */
export class PageFill {
  readonly rows: LogRow[] = []
  /** Whether a limit was reached. */
  full = false
  /** Most rows that it takes. */
  readonly limit: number
  #units = 0

  /** @param limit rows that were asked for. */
  constructor(limit = PAGE_ROWS) {
    this.limit = Math.min(limit, PAGE_ROWS)
    this.full = this.limit === 0
  }

  /**
   * Takes a row, if there is room for it. The first one always has room, however long its body is.
   */
  take(row: LogRow): boolean {
    if (this.full) return false
    const units = unitsOf(row)
    if (this.rows.length > 0 && this.#units + units > PAGE_UNITS) {
      this.full = true
      return false
    }
    this.rows.push(row)
    this.#units += units
    this.full = this.rows.length === this.limit
    return true
  }
}

/** What a query finds in a log; undefined: one of its entries is not there. */
export function pageOfEntries(
  log: readonly LogRow[],
  { from, after, to, last, first, kinds }: EntriesQuery,
  placeOf: (id: string) => number | undefined,
): Page | undefined {
  const begin = after ?? from
  const place = begin === undefined ? 0 : placeOf(begin)
  const end = to === undefined ? log.length : placeOf(to)
  if (place === undefined || end === undefined) return undefined
  const start = after === undefined ? place : place + 1
  const page = new PageFill(first ?? last)
  const wanted = (row: LogRow): boolean => isEntry(row) && (!kinds || kinds.some((kind) => kind === row.kind))
  const take = (index: number): boolean => {
    const row = log[index] as LogRow
    return !wanted(row) || page.take(row)
  }
  if (first !== undefined) {
    for (let index = start; index < end; index++) if (!take(index)) break
    return { rows: page.rows, more: page.full }
  }
  for (let index = end - 1; index >= start; index--) if (!take(index)) break
  return { rows: page.rows.reverse(), more: page.full }
}

/** As many whole ops as a page holds, or one that is longer than a page. */
export function pageOfOps(
  log: readonly LogRow[],
  start: number,
): { readonly rows: readonly LogRow[]; readonly more: boolean } {
  const page = new PageFill()
  let end = start
  while (end < log.length && page.take(log[end] as LogRow)) end++
  const next = log[end]?.seq
  while (end > start && log[end - 1]?.seq === next) end--
  if (end === start && next !== undefined) end = firstAfter(log, next)
  return { rows: log.slice(start, end), more: end < log.length }
}

/** Index of the first row whose seq is above `seq`, by bisection. */
export function firstAfter(log: readonly LogRow[], seq: number): number {
  let low = 0
  let high = log.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((log[middle] as LogRow).seq > seq) high = middle
    else low = middle + 1
  }
  return low
}

/** UTF-16 units of what a row holds. */
export function unitsOf({ body, derived }: LogRow): number {
  return (body?.length ?? 0) + (derived?.length ?? 0)
}
