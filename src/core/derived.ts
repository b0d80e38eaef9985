import type { Counter } from '../ports/counter.ts'
import type { Message } from '../ports/message.ts'
import { countMessage } from './count.ts'
import type { Recall } from './recall/lexical-recall.ts'
import { termsField } from './recall/session-index.ts'

/** What travels with a message, so that a later reader need not make it again: its tokens, and what it is found by. */
export function derivedOf(message: Message, counter: Counter, recall: Recall | undefined): string {
  return JSON.stringify({
    [counter.id]: countMessage(counter, message),
    ...(recall && { [termsField(recall.id)]: recall.termsOf(message) }),
  })
}
