import type { FoundSession, ListedSession } from './home.ts'

/**
 * All sessions of a home that gives pages of them. @param page Contract: gives those after an id,
 * in order; none at the end
 */
export async function listed(
  page: (options: { readonly after?: string }) => Promise<readonly ListedSession[]>,
): Promise<readonly ListedSession[]> {
  const found: ListedSession[] = []
  for (let after: string | undefined; ; ) {
    const sessions = await page(after === undefined ? {} : { after })
    found.push(...sessions)
    after = sessions.at(-1)?.sessionId
    if (after === undefined) return found
  }
}

/** The best of each session, of what was found in any. */
export function firstOfEach(
  items: readonly { readonly id: string; readonly sessionId?: string | undefined; readonly text: string }[],
): readonly FoundSession[] {
  const found = new Map<string, FoundSession>()
  for (const { id, sessionId, text } of items)
    if (sessionId !== undefined && !found.has(sessionId))
      found.set(sessionId, { sessionId, messageId: id, excerpt: text })
  return [...found.values()]
}
