import type { Counter } from '../../ports/counter.ts'
import type { Overflow } from '../../ports/start.ts'
import { PAGE_ROWS, type Sum } from '../../ports/store.ts'

/** Most ids that name what is left out, or what is due. */
export const MOST_NAMED = 5
/** What the brackets of a list take at most. */
const BRACKETS = 2

/** Items in strict order, each in one step or more. */
export interface Section<Item> {
  readonly steps: readonly Step<Item>[]
  /** Names of the items and of those after them, as far as they were read. */
  readonly ids: readonly string[]
  /** All that there is, shown or not. */
  readonly total: Sum
}

/** One more item, or more of the last one. */
export interface Step<Item> {
  /** Place of the item among those of its section. */
  readonly at: number
  readonly item: Item
  /** Tokens beside those of the steps before it. */
  readonly tokens: number
}

/**
 * How many items of a section to read: as many as its tokens can hold, if none takes less than
 * `least`, and those that are named where they do not fit. At most {@link PAGE_ROWS}.
 */
export function rowsFor(tokens: number, least: number): number {
  return Math.min(PAGE_ROWS, Math.floor(tokens / least) + MOST_NAMED)
}

/** The first steps that a section has room for by itself. */
export function within<Item>(steps: readonly Step<Item>[], tokens: number): readonly Step<Item>[] {
  let left = tokens - BRACKETS
  const stop = steps.findIndex((step) => {
    left -= step.tokens
    return left < 0
  })
  return stop < 0 ? steps : steps.slice(0, stop)
}

/** What shows after so many steps of a section. */
export function shownOf<Item>(steps: readonly Step<Item>[]): readonly Item[] {
  const items: Item[] = []
  for (const { at, item } of steps) items[at] = item
  return items
}

/** What is left out where the items of the first steps show. */
export function overflowOf<Item>({ ids, total }: Section<Item>, steps: readonly Step<Item>[]): Overflow {
  const shown = shownOf(steps).length
  const count = Math.max(0, total.count - shown)
  const tokens = steps.reduce((left, step) => left - step.tokens, total.weight)
  return {
    count,
    tokens: count === 0 ? 0 : Math.max(0, tokens),
    first: ids.slice(shown, shown + MOST_NAMED),
  }
}

/** The most that the names of what is left out take. */
export function namesOf({ ids }: Section<unknown>, counter: Counter): number {
  const longest = [...ids].sort((one, other) => other.length - one.length).slice(0, MOST_NAMED)
  return longest.length === 0 ? 0 : counter.count(JSON.stringify(longest))
}
