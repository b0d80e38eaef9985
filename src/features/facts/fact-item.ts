import type { Counter } from '../../ports/counter.ts'
import type { Fact } from '../../ports/fact.ts'
import type { PinnedItem } from '../../ports/start.ts'
import { itemTokens } from '../item-tokens.ts'

/** What shows of a fact in lists, in one order of keys. */
export function factItem(fact: Fact): PinnedItem {
  const { id, kind, title, text, project, status, priority, confidence, trust } = fact
  return {
    id,
    kind,
    title,
    text,
    ...(project !== undefined && { project }),
    ...(status !== undefined && { status }),
    priority,
    confidence,
    trust,
  }
}

/**
 * What a fact weighs in the sums of the indexes: its tokens in a session's start, pinned or not.
 */
export function factTokens(counter: Counter, fact: Fact): number {
  return itemTokens(counter, factItem(fact))
}
