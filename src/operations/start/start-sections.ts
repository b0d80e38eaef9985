import { itemTokens } from '../../features/item-tokens.ts'
import type { Counter } from '../../ports/counter.ts'
import type { Overflow, PinnedItem, RecalledItem, SkillItem } from '../../ports/start.ts'
import { PAGE_ROWS, type Sum } from '../../ports/store.ts'

/** Most ids that name what is left out, or what is due. */
export const MOST_NAMED = 5

/** Items in strict order, and what it takes to show the first so many of them. */
export interface Section<Item> {
  readonly items: readonly Item[]
  /** Names of the items and of those after them, as far as they were read. */
  readonly ids: readonly string[]
  /** Tokens of each item. */
  readonly tokens: readonly number[]
  /**
   * At each place: the least tokens, beside those of an empty section, at which that item shows.
   * They never fall.
   */
  readonly rooms: readonly number[]
  /** All that there is, shown or not. */
  readonly total: Sum
}

type Item = PinnedItem | SkillItem | RecalledItem

/**
 * How many items of a section to read: as many as its tokens can hold, if none takes less than
 * `least`, and those that are named where they do not fit. At most {@link PAGE_ROWS}.
 */
export function rowsFor(tokens: number, least: number): number {
  return Math.min(PAGE_ROWS, Math.floor(tokens / least) + MOST_NAMED)
}

/**
 * A section of what was read.
 *
 * @param read the first items in strict order
 * @param asked how many were asked for: where so many came there may be more, and the last ones are
 * only there to be named
 */
export function sectionOf<One extends Item>(
  counter: Counter,
  read: readonly One[],
  asked: number,
  total: Sum,
): Section<One> {
  const items = read.length < asked ? read : read.slice(0, Math.max(0, asked - MOST_NAMED))
  const ids = read.map(nameOf)
  const tokens = items.map((item) => itemTokens(counter, item))
  const named = ids.map((id) => itemTokens(counter, id))
  return { items, ids, tokens, rooms: roomsFor(tokens, named), total }
}

/** Of what there are no sums: all that was found. */
export function sumOf(counter: Counter, items: readonly Item[]): Sum {
  return { count: items.length, weight: total(items.map((item) => itemTokens(counter, item))) }
}

/** How many items show in so many tokens: up to the first that does not fit. */
export function shownIn({ rooms }: Section<Item>, tokens: number): number {
  const stop = rooms.findIndex((room) => room > tokens)
  return stop < 0 ? rooms.length : stop
}

/** What is left out where the first `shown` items show. */
export function overflowOf({ ids, tokens, total: all }: Section<Item>, shown: number): Overflow {
  const count = Math.max(0, all.count - shown)
  return {
    count,
    tokens: count === 0 ? 0 : Math.max(0, all.weight - total(tokens.slice(0, shown))),
    first: ids.slice(shown, shown + MOST_NAMED),
  }
}

/**
 * Each item shown takes its tokens, and what its place among the named ones is given to may take
 * more than it did.
 */
function roomsFor(tokens: readonly number[], named: readonly number[]): readonly number[] {
  const namedFrom = (place: number): number => total(named.slice(place, place + MOST_NAMED))
  let items = 0
  // Without any room nothing shows, whatever the counter says.
  let most = 1
  return tokens.map((one, place) => {
    items += one
    most = Math.max(most, items + namedFrom(place + 1) - namedFrom(0))
    return most
  })
}

function nameOf(item: Item): string {
  return 'id' in item ? item.id : item.name
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0)
}
