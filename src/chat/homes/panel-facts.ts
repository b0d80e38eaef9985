import { isPlimsollError } from '../../ports/errors.ts'
import type { Fact } from '../../ports/fact.ts'
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
 * Reads what comes before a message of a session, or its end.
 *
 * @throws ERR_NOT_FOUND: it is not there
 */
type Read = (sessionId: string, before?: string) => Promise<readonly { readonly id: string }[]>

/**
 * Where the first message shows from which a fact was taken.
 *
 * @param facts each with the session whose it is; those that all share, with none
 * @param sessionIds contract: ids of all sessions, in which such a fact is looked for
 */
export async function originOf(
  factId: string,
  facts: readonly { readonly fact: Fact; readonly sessionId?: string | undefined }[],
  sessionIds: () => Promise<readonly string[]>,
  read: Read,
): Promise<FactOrigin | undefined> {
  const found = facts.find(({ fact }) => fact.id === factId)
  if (!found) return undefined
  const { fact, sessionId: own } = found
  const places = own === undefined ? await sessionIds() : [own]
  for (const messageId of messagesOf(fact))
    for (const sessionId of places)
      try {
        if (await shows(sessionId, messageId, read)) return { sessionId, messageId }
      } catch (error) {
        if (!isPlimsollError(error, 'ERR_NOT_FOUND')) throw error
      }
  return undefined
}

async function shows(sessionId: string, messageId: string, read: Read): Promise<boolean> {
  if ((await read(sessionId, messageId)).length > 0) return true
  // Nothing comes before the first one, nor before one that a rewind hides.
  let page = await read(sessionId)
  for (let first = page[0]; first; first = page[0]) {
    if (page.some(({ id }) => id === messageId)) return true
    page = await read(sessionId, first.id)
  }
  return false
}
