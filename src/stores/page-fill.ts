import { type LogRow, PAGE_ROWS, PAGE_UNITS } from '../ports/store.ts'

/** Fills a page row by row, up to the limits that all stores share. */
export class PageFill {
  readonly rows: LogRow[] = []
  /** Whether a limit was reached. */
  full = false
  readonly #limit: number
  #units = 0

  /** @param limit rows that were asked for. */
  constructor(limit = PAGE_ROWS) {
    this.#limit = Math.min(limit, PAGE_ROWS)
    this.full = this.#limit === 0
  }

  /** Takes a row, if there is room for it. The first one always has room, however long its body is. */
  take(row: LogRow): boolean {
    if (this.full) return false
    const units = (row.body?.length ?? 0) + (row.derived?.length ?? 0)
    if (this.rows.length > 0 && this.#units + units > PAGE_UNITS) {
      this.full = true
      return false
    }
    this.rows.push(row)
    this.#units += units
    this.full = this.rows.length === this.#limit
    return true
  }
}
