import { isPlimsollError } from '../../ports/errors.ts'
import type { FactOrigin, MemoryFact } from '../ports.ts'
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

/** Ids of the messages that a fact was taken from, the first one first. */
export function messagesOf({ sources }: Pick<MemoryFact, 'sources'>): readonly string[] {
  return sources.filter((source) => !source.startsWith('fact/'))
}

/**
 * Where the first message shows from which a fact was taken.
 *
 * @param read contract: reads what comes before a message of a session. @throws ERR_NOT_FOUND: it
 * is not there
 */
export async function originOf(
  fact: Pick<MemoryFact, 'sources'>,
  sessionIds: readonly string[],
  read: (sessionId: string, before: string) => Promise<unknown>,
): Promise<FactOrigin | undefined> {
  for (const messageId of messagesOf(fact))
    for (const sessionId of sessionIds)
      try {
        await read(sessionId, messageId)
        return { sessionId, messageId }
      } catch (error) {
        if (!isPlimsollError(error, 'ERR_NOT_FOUND')) throw error
      }
  return undefined
}
