import type { Message } from '../../ports/message.ts'

/** Whether the end of a conversation waits for nothing: it is empty, or a reply without calls. */
export function isAnswered(messages: readonly Message[]): boolean {
  const newest = messages.at(-1)
  if (!newest) return true
  const { role, content } = newest
  return (
    role === 'assistant' && (typeof content === 'string' || !content.some(({ type }) => type === 'tool-call'))
  )
}
