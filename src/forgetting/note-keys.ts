import { FACT } from '../ports/fact.ts'
import { hashText } from '../text/hash.ts'

/** What the keys of notes begin with: in a user's scope, what it knows of facts of sessions. */
export const NOTE = 'kept/'

/** What the keys of the notes of one session's facts begin with. */
export function notesOf(sessionId: string): string {
  return `${NOTE}${hashText(sessionId)}/`
}

/** Keys of the notes about facts among registers of a session. */
export function notesAbout(sessionId: string, keys: readonly string[]): readonly string[] {
  return keys.flatMap((key) => (key.startsWith(FACT) ? notesOf(sessionId) + key.slice(FACT.length) : []))
}
