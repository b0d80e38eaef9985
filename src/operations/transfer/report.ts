import type { ImportConflict, Imported, SkippedLine, TransferPart } from '../../ports/transfer.ts'

/** Conflicts and skipped lines that a report names; the others are counted. */
const NAMED = 100

/** Takes note of what becomes of the lines of an import. */
export class ImportReport {
  readonly #parts = {
    log: { written: 0, there: 0 },
    facts: { written: 0, there: 0 },
    profile: { written: 0, there: 0 },
    checkpoint: { written: 0, there: 0 },
  }
  readonly #conflicts: { count: number; readonly first: ImportConflict[] } = { count: 0, first: [] }
  readonly #skipped: { count: number; readonly first: SkippedLine[] } = { count: 0, first: [] }

  written(part: TransferPart, count = 1): void {
    this.#parts[part].written += count
  }

  there(part: TransferPart, count = 1): void {
    this.#parts[part].there += count
  }

  conflict(conflict: ImportConflict): void {
    if (this.#conflicts.count++ < NAMED) this.#conflicts.first.push(conflict)
  }

  skip(line: number, reason: string): void {
    if (this.#skipped.count++ < NAMED) this.#skipped.first.push({ line, reason })
  }

  /** Adds what another one counted. */
  add({ parts, conflicts, skipped }: Imported): void {
    for (const [part, { written, there }] of Object.entries(parts)) {
      this.written(part as TransferPart, written)
      this.there(part as TransferPart, there)
    }
    for (const [own, other] of [
      [this.#conflicts, conflicts],
      [this.#skipped, skipped],
    ] as const) {
      own.count += other.count
      own.first.push(...(other.first.slice(0, NAMED - own.first.length) as never[]))
    }
  }

  get result(): Imported {
    return { parts: this.#parts, conflicts: this.#conflicts, skipped: this.#skipped }
  }
}
