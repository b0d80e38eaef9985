import type { Counter } from '../../ports/counter.ts'
import type { Fact } from '../../ports/fact.ts'
import type { PinnedItem } from '../../ports/start.ts'
import { itemTokens } from '../item-tokens.ts'

/** A count says how many digits it has itself: it stands still after so many looks. */
const LOOKS = 4

/** What shows of a pinned fact in a session's start, in one order of keys. */
export function pinnedItem({ id, title, text }: Fact, tokens: number): PinnedItem {
  return { id, title, content: text, tokens }
}

/**
 * What a fact weighs in the sums of the indexes: its tokens in a session's start, pinned or not.
 */
export function factTokens(counter: Counter, fact: Fact): number {
  let tokens = 0
  for (let look = 0, before = -1; look < LOOKS && before !== tokens; look++) {
    before = tokens
    tokens = itemTokens(counter, pinnedItem(fact, tokens))
  }
  return tokens
}
