/**
 * Wanted differences between the frozen build and the working sources. Each has a line in
 * CHANGELOG.md.
 */
import { at, type Difference } from './compare.ts'
import { field, type Json, type JsonObject, listIn, numberIn, textIn } from './json.ts'
import type { Result, Step } from './play.ts'
import { receiptOf } from './played.ts'

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
    changelog: 'Documents of the profile show as SOUL, MEMORY, TASKS',
    isLasting: true,
    holds: isOfDocuments,
  },
  {
    changelog: 'A log that fits is shown whole',
    isLasting: true,
    holds: isShownWhole,
  },
  {
    changelog: 'At a small line a summary has room too',
    isLasting: true,
    holds: isOfSmallLine,
  },
  {
    // Lines begin with other names, so another number of them fits.
    changelog: 'answers of the tools give it in place of the id',
    holds: ({ command }) => command.kind === 'recallPage',
  },
  {
    changelog: 'The first `compact` event of a lane',
    holds: ({ path, old, new: now }) =>
      path[0] === 'events' && path.at(-1) === 'tokensBefore' && Number(now) > Number(old),
  },
]

/** Whether several documents show, or one is shortened: in another order, and in another way. */
function isOfDocuments({ step }: Difference, { first, second }: Played): boolean {
  return [first, second].some(({ steps }) =>
    listIn(receiptOf(steps[step]), 'remembered').some(
      (use) =>
        textIn(use, 'name') === 'profile' &&
        (numberIn(use, 'items') > 1 || numberIn(field(use, 'overflow'), 'count') > 0),
    ),
  )
}

/** Whether a window that begins anew shows more, and all that there is to show. */
function isShownWhole({ step, command, path, new: value }: Difference, { first, second }: Played): boolean {
  // Where nothing in it is shown otherwise.
  if (path.includes('cuts') && value === undefined) return true
  const [was, is] = [first.steps[step], second.steps[step]]
  const listed = (one: Step | undefined): number =>
    listIn(at(one as Json | undefined, ['outcome', 'ok'])).length
  if (command.kind === 'addExchange') return listed(is) > listed(was)
  const [old, now] = [receiptOf(was), receiptOf(is)]
  const shown = (receipt: JsonObject | undefined): number =>
    numberIn(
      listIn(receipt, 'sections').find((use) => textIn(use, 'name') === 'window'),
      'tokens',
    )
  const cut = (receipt: JsonObject | undefined): number =>
    listIn(receipt, 'omitted')
      .filter((range) => textIn(range, 'reason') === 'window')
      .reduce<number>((sum, range) => sum + numberIn(range, 'count'), 0)
  // Nothing is to be summarised then.
  const isSummed = old?.summary !== undefined || path[0] === 'events'
  // What was read to see whether it fits is summarised where it does not.
  if (cut(now) < cut(old)) return true
  return now?.summary === undefined && (isSummed || shown(now) > shown(old))
}

/** Whether a compaction ends in another way where there is little room. */
function isOfSmallLine({ step }: Difference, { first, second }: Played): boolean {
  const [old, now] = [first, second].map(({ steps }) => steps[step])
  const sections = listIn(receiptOf(old), 'sections')
  const size = (name: string, field: string): number =>
    numberIn(
      sections.find((use) => textIn(use, 'name') === name),
      field,
    )
  const events = JSON.stringify(old?.events ?? [])
  return (
    events !== JSON.stringify(now?.events ?? []) &&
    events.includes('"compact"') &&
    size('window', 'cap') + size('memory', 'tokens') < SMALL
  )
}

/** Room below which half of it may hold no summary. */
const SMALL = 1_000
