/**
 * Wanted differences between the frozen build and the working sources. Each has a line in
 * CHANGELOG.md.
 */
import type { Command } from './commands.ts'
import { at, type Difference } from './compare.ts'
import type { Result } from './play.ts'

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
    changelog: 'An epoch says how many messages its writer had read',
    holds: ({ path, old }) => path.at(-1) === 'count' && old === undefined,
  },
  {
    changelog: 'Recall finds and shows passages of messages',
    holds: ({ command, path }) => isRecall(command) || path.some(isKept),
  },
  {
    changelog: 'A window with `keep: { tokens }` and no `max.tokens` is cut when that pays',
    isLasting: true,
    holds: ({ is }, { first }) =>
      first.configurations.some(({ window }) => window?.keep?.tokens && !window.max?.tokens) &&
      JSON.stringify(is).includes('"cause":"window"'),
  },
  {
    changelog: 'What is noted of a fact with the user names the fact as a source',
    holds: ({ path, is }) => {
      const row = at(is, path.slice(0, path.lastIndexOf('sources')))
      return path.includes('sources') && /^kept\//.test((row as { readonly key?: string }).key ?? '')
    },
  },
]

/** Whether a command is answered by what recall finds, or by tokens of what it shows. */
function isRecall(command: Command): boolean {
  return (
    ['recall', 'recallPage', 'userRecall', 'start'].includes(command.kind) ||
    (command.kind === 'context' && command.recall !== undefined)
  )
}

/** Whether a key names what messages are found by, in their rows or in blocks. */
function isKept(key: string | number, at: number, path: Difference['path']): boolean {
  return /^recall\/[23]\//.test(String(key)) || (path[at - 1] === 'derived' && typeof key === 'number')
}
