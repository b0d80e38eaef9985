import type {
  ImportConflict,
  Imported,
  ImportedPart,
  LoweredLine,
  SkippedLine,
  TransferPart,
} from '../../ports/transfer.ts'

/** Conflicts and lines that a report names of each; the others are counted. */
const NAMED = 100

/** Takes note of what becomes of the lines of an import. */
export class ImportReport {
  readonly #parts = {
    log: { written: 0, there: 0 },
    facts: { written: 0, there: 0 },
    profile: { written: 0, there: 0 },
    checkpoint: { written: 0, there: 0 },
  }
  readonly #messages = { written: 0, there: 0 }
  readonly #conflicts: { count: number; readonly first: ImportConflict[] } = { count: 0, first: [] }
  readonly #skipped: { count: number; readonly first: SkippedLine[] } = { count: 0, first: [] }

  readonly #lowered: { count: number; readonly first: LoweredLine[] } = { count: 0, first: [] }

  written(part: TransferPart, count = 1): void {
    this.#parts[part].written += count
  }

  there(part: TransferPart, count = 1): void {
    this.#parts[part].there += count
  }

  /** Entries of a log, of which `messages` are messages that hold something. */
  log(outcome: keyof ImportedPart, entries: number, messages: number): void {
    this.#parts.log[outcome] += entries
    this.#messages[outcome] += messages
  }

  conflict(conflict: ImportConflict): void {
    if (this.#conflicts.count++ < NAMED) this.#conflicts.first.push(conflict)
  }

  skip(line: number, reason: string): void {
    if (this.#skipped.count++ < NAMED) this.#skipped.first.push({ line, reason })
  }

  lower(line: number, reason: string): void {
    if (this.#lowered.count++ < NAMED) this.#lowered.first.push({ line, reason })
  }

  /** Adds what another one counted. */
  add({ parts, messages, conflicts, skipped, lowered }: Imported): void {
    this.log('written', 0, messages.written)
    this.log('there', 0, messages.there)
    for (const [part, { written, there }] of Object.entries(parts)) {
      this.written(part as TransferPart, written)
      this.there(part as TransferPart, there)
    }
    for (const [own, other] of [
      [this.#conflicts, conflicts],
      [this.#skipped, skipped],
      [this.#lowered, lowered],
    ] as const) {
      own.count += other.count
      own.first.push(...(other.first.slice(0, NAMED - own.first.length) as never[]))
    }
  }

  get result(): Imported {
    return {
      parts: this.#parts,
      messages: this.#messages,
      conflicts: this.#conflicts,
      skipped: this.#skipped,
      lowered: this.#lowered,
    }
  }
}
