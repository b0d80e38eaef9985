/**
 * Wanted differences between the frozen build and the working sources. Each has a line in
 * CHANGELOG.md.
 */
import { isRecall } from './commands.ts'
import { at, type Difference } from './compare.ts'
import { field, type Json, listIn, textIn } from './json.ts'
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
    changelog: '`Imported` says how many `messages` were written',
    holds: ({ command, path, old }) =>
      command.kind === 'import' && path.at(-1) === 'messages' && old === undefined,
  },
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
    // What it shows takes other room: then an epoch may begin, cut or sum up in another place.
    changelog: 'Recall finds and shows passages of messages',
    holds: ({ command, was, is }) => isRecall(command) && outsideTail(was) !== outsideTail(is),
    isLasting: true,
  },
  {
    changelog: 'What is noted of a fact with the user names the fact as a source',
    holds: ({ path, is }) => {
      const row = at(is, path.slice(0, path.lastIndexOf('sources')))
      return path.includes('sources') && /^kept\//.test((row as { readonly key?: string }).key ?? '')
    },
  },
]

/** What a context shows and says of all but its tail, where what recall finds stands. */
function outsideTail(came: Json): string {
  const context = at(came, ['outcome', 'ok'])
  const blocks = listIn(context, 'blocks').filter((block) => textIn(block, 'section') !== 'tail')
  const said = ['epoch', 'summary', 'omitted'].map((name) => at(context, ['receipt', name]) ?? null)
  return JSON.stringify([blocks, said, field(came, 'events') ?? null])
}

/** Whether a key names what messages are found by, in their rows or in blocks. */
function isKept(key: string | number, at: number, path: Difference['path']): boolean {
  return /^recall\/[234]\//.test(String(key)) || (path[at - 1] === 'derived' && typeof key === 'number')
}
