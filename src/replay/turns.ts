import type { MessageInput } from '../ports/message.ts'
import type { Conversation } from './transcript.ts'

/**
 * A message of a recording, and the number of the model call that it answers, if it answers one.
 */
export interface Turn {
  readonly message: MessageInput
  readonly index: number
  readonly call?: number
}

/**
 * Each assistant message with a user message somewhere before it answers a model call; they count
 * from 0.
 */
export function* turnsOf({ messages }: Conversation): Generator<Turn> {
  let calls = 0
  let asked = false
  for (const [index, message] of messages.entries()) {
    const answers = message.role === 'assistant' && asked
    yield { message, index, ...(answers && { call: calls++ }) }
    asked ||= message.role === 'user'
  }
}
