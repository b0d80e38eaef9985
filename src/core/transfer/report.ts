import type { TransferPart } from './format.ts'

/** Conflicts and skipped lines that a report names; the others are counted. */
const NAMED = 100

/** What became of one part of an import. */
export interface ImportedPart {
  /** Entries, registers and attachments that were written. */
  readonly written: number
  /** Those that had been there before, as they are. */
  readonly there: number
}

/** Something that the scope has otherwise: it stays as it is. */
export interface ImportConflict {
  readonly part: TransferPart
  /** Key of the register; for a log that does not go on from the one that is there, none. */
  readonly key?: string
  /** Absent: the user's own. */
  readonly sessionId?: string
}

/** A line that was read and not taken over. */
export interface SkippedLine {
  /** From 1. */
  readonly line: number
  readonly reason: string
}

/** The account of an import. Lists name the first hundred of what they count. */
export interface Imported {
  readonly parts: { readonly [part in TransferPart]: ImportedPart }
  readonly conflicts: { readonly count: number; readonly first: readonly ImportConflict[] }
  readonly skipped: { readonly count: number; readonly first: readonly SkippedLine[] }
}

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
