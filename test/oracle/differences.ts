/**
 * Wanted differences between the frozen build and the working sources. Each has a line in
 * CHANGELOG.md.
 */
import type { Difference } from './compare.ts'
import { field, listIn } from './json.ts'
import { type Result, shownIn } from './play.ts'

/** What both builds made of the history. */
export interface Played {
  readonly first: Result
  readonly second: Result
}

export interface WantedDifference {
  /** A line of CHANGELOG.md, or a part of one that no other line has. */
  readonly changelog: string
  /** Whether a difference is this one. */
  holds(difference: Difference, played: Played): boolean
  /**
   * After it epochs are other ones, and with them all that follows: nothing is compared from its
   * step on.
   */
  readonly isLasting?: true
}

export const wanted: readonly WantedDifference[] = [
  {
    changelog: 'Where a call has no room for a summary and the pinned facts',
    isLasting: true,
    // Pins and documents have room that they had not.
    holds: ({ step }, { first, second }) => roomIn(second, step) > roomIn(first, step),
  },
]

/** Tokens that pins and documents may take in the context of a step. */
function roomIn({ steps }: Result, at: number): number {
  const step = steps[at]
  const sections = step ? listIn(field(shownIn(step), 'receipt'), 'remembered') : []
  return sections
    .filter((use) => ['pins', 'profile'].includes(String(field(use, 'name'))))
    .reduce<number>((sum, use) => sum + Number(field(use, 'cap')), 0)
}
