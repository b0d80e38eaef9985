/**
 * Wanted differences between the frozen build and the working sources. Each has a line in
 * CHANGELOG.md.
 */
import type { Difference } from './compare.ts'

export interface WantedDifference {
  /** A line of CHANGELOG.md, or a part of one that no other line has. */
  readonly changelog: string
  /** Whether a difference is this one. */
  holds(difference: Difference): boolean
}

export const wanted: readonly WantedDifference[] = []
