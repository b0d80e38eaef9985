import type { Searched } from './lexical-recall.ts'

/**
 * Sessions that are read at once. At the edge each of them may be another object, and all of them
 * are in the memory of one.
 */
const SESSIONS_AT_ONCE = 8

/**
 * Reads sessions in their order until they hold so many messages together. What was read beyond
 * that, or is not there, is let go.
 */
export async function readUpTo<Session, Read extends Searched>(
  sessions: readonly Session[],
  messages: number,
  read: (session: Session) => Promise<Read | undefined>,
): Promise<readonly Read[]> {
  const kept: Read[] = []
  let size = 0
  for (let at = 0; at < sessions.length && size < messages; at += SESSIONS_AT_ONCE)
    for (const one of await Promise.all(sessions.slice(at, at + SESSIONS_AT_ONCE).map(read)))
      if (one && size < messages) {
        kept.push(one)
        size += one.index.size
      }
  return kept
}
