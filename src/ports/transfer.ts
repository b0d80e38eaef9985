/** What an export holds: `profile` includes skills and settings. */
export type TransferPart = 'log' | 'facts' | 'profile' | 'checkpoint'

export const TRANSFER_PARTS: readonly TransferPart[] = ['log', 'facts', 'profile', 'checkpoint']

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

/** A line that was written with less than it says. */
export interface LoweredLine {
  /** From 1. */
  readonly line: number
  /** What was lowered, or left out of it. */
  readonly reason: string
}

/** The account of an import. Lists name the first hundred of what they count. */
export interface Imported {
  readonly parts: { readonly [part in TransferPart]: ImportedPart }
  /** The messages among what `parts.log` counts, without those that were forgotten. */
  readonly messages: ImportedPart
  readonly conflicts: { readonly count: number; readonly first: readonly ImportConflict[] }
  readonly skipped: { readonly count: number; readonly first: readonly SkippedLine[] }
  readonly lowered: { readonly count: number; readonly first: readonly LoweredLine[] }
}
