import type { MemoryFact } from '../ports.ts'
import { hasAll, wordsOf } from '../search-words.ts'

/** A fact as the panel shows it. */
export function panelFact(fact: Omit<MemoryFact, 'shared'>, shared: boolean): MemoryFact {
  const { id, kind, title, text, pinned, confidence, trust, createdAt, reviewAt, sources } = fact
  return { id, kind, title, text, pinned, confidence, trust, createdAt, reviewAt, sources, shared }
}

/** Those in which all words of a query are found. */
export function matching(facts: readonly MemoryFact[], query = ''): readonly MemoryFact[] {
  const words = wordsOf(query)
  return facts.filter(({ title, text }) => hasAll(`${title} ${text}`, words))
}

/** What all sessions share first, the rest as it was. */
export function sharedFirst(facts: readonly MemoryFact[]): readonly MemoryFact[] {
  return [...facts.filter(({ shared }) => shared), ...facts.filter(({ shared }) => !shared)]
}
