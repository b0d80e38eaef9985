import type { Conversation } from '../ports.ts'
import type { Reader } from './reader.ts'

/** Pages of older messages that are read at most on the way to a message. */
const MOST_PAGES = 40

/**
 * Shows a message of the session that is open, for which older ones are read.
 *
 * @returns id of the message in whose row it stands; undefined: it is further up than one reads for
 * it, or another session was opened meanwhile
 */
export async function seek(
  conversation: Conversation,
  reader: Reader,
  sessionId: string,
  messageId: string,
): Promise<string | undefined> {
  const shown = () => {
    const { session, messages, hasOlder } = conversation.getSnapshot()
    return session?.sessionId === sessionId ? { messages, hasOlder } : { messages: [], hasOlder: false }
  }
  // Results of tools stand with their calls.
  const place = (): number => {
    const { messages } = shown()
    const found = messages.findIndex(({ message }) => message.id === messageId)
    return messages.slice(0, found + 1).findLastIndex(({ message }) => message.role !== 'tool')
  }
  reader.isSeeking = true
  try {
    for (let pages = 0; pages < MOST_PAGES && place() < 0 && shown().hasOlder; pages++) {
      const { length } = shown().messages
      await conversation.showOlder()
      // It failed, which is said.
      if (shown().messages.length === length) break
    }
  } finally {
    reader.isSeeking = false
  }
  reader.toPlace(place())
  return shown().messages[place()]?.message.id
}
