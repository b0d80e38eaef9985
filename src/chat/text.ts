import type { Message } from '../ports/message.ts'
import type { ConversationState } from './ports.ts'

/** Characters of a title. */
const TITLE = 60

/** The words of a message. */
export function textIn({ content }: Pick<Message, 'content'>): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n\n')
}

/**
 * What a session is called after what was said in it first: the beginning of its first line, to the
 * end of a word.
 */
export function titleOf(text: string): string {
  const start = text.trimStart()
  const line = start.slice(0, start.search(/\n|$/)).trimEnd().replace(/\s+/g, ' ')
  const characters = [...line]
  if (characters.length <= TITLE) return line
  const cut = characters.slice(0, TITLE).join('')
  const end = cut.lastIndexOf(' ')
  // A long word, or a language without spaces, is cut anywhere.
  return `${end < TITLE / 2 ? cut : cut.slice(0, end)}…`
}

/**
 * What a session is called once a message is gone after which it is called: after the next one, if
 * that is known, else nothing. Undefined: as before.
 */
export function titleWithout(
  messageId: string,
  { session, messages, hasOlder }: Pick<ConversationState, 'session' | 'messages' | 'hasOlder'>,
): string | undefined {
  const said = messages.flatMap(({ message }) => (message.role === 'user' ? [message] : []))
  const own = said.find(({ id }) => id === messageId)
  if (!session?.title || !own || session.title !== titleOf(textIn(own))) return undefined
  const next = hasOlder ? undefined : said.find(({ id }) => id !== messageId)
  return next ? titleOf(textIn(next)) : ''
}
