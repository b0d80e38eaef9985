import type { Counter } from '../../ports/counter.ts'
import type { Message } from '../../ports/message.ts'
import { countMessage } from '../count.ts'

/** What stands beside a message, so that a later reader need not count it again: its tokens. */
export function derivedOf(message: Message, counter: Counter): string {
  return JSON.stringify({ [counter.id]: countMessage(counter, message) })
}
