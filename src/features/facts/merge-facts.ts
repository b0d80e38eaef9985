import type { Fact } from '../../ports/fact.ts'
import { isSmall } from './check-fact.ts'

/**
 * What a fact becomes where a near-duplicate of the same trust is remembered: the longer text with
 * its title, the sources of both, the higher priority and confidence, pinned if either is, the
 * later end.
 *
 * @returns undefined: it says nothing new, or there is no room left to note where it was said again
 */
export function mergeFacts(before: Fact, again: Fact): Fact | undefined {
  const { title, text } = again.text.length > before.text.length ? again : before
  const { expiresAt: _, ...rest } = before
  const merged: Fact = {
    ...rest,
    title,
    text,
    pinned: before.pinned || again.pinned,
    priority: Math.max(before.priority, again.priority),
    confidence: Math.max(before.confidence, again.confidence),
    sources: [...new Set([...before.sources, ...again.sources])],
    ...(before.expiresAt !== undefined &&
      again.expiresAt !== undefined && { expiresAt: Math.max(before.expiresAt, again.expiresAt) }),
  }
  return isSmall(merged) && !isSame(before, merged) ? merged : undefined
}

function isSame(before: Fact, merged: Fact): boolean {
  return (
    before.text === merged.text &&
    before.pinned === merged.pinned &&
    before.priority === merged.priority &&
    before.confidence === merged.confidence &&
    before.expiresAt === merged.expiresAt &&
    before.sources.length === merged.sources.length
  )
}
