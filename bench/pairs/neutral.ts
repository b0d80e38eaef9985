import type { MessageInput, Part } from '../../src/ports/message.ts'
import type { Request } from './check.ts'

/** A list of Plimsoll's own messages as the checker wants it. */
export function toRequest(messages: readonly MessageInput[]): Request {
  return messages.map(({ content }) => {
    const parts: readonly Part[] = typeof content === 'string' ? [] : content
    return {
      calls: parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])),
      results: parts.flatMap((part) => (part.type === 'tool-result' ? [part.callId] : [])),
    }
  })
}
