import type { Counter } from '../../ports/counter.ts'
import type { Json, Message } from '../../ports/message.ts'
import { countMessage } from '../context/count.ts'
import type { WritePart } from '../feature.ts'

/** What travels with a message, so that a later reader need not make it again: its tokens, and what features derive from it. */
export function derivedOf(message: Message, counter: Counter, writes: readonly WritePart[]): string {
  const derived: { [field: string]: Json } = { [counter.id]: countMessage(counter, message) }
  for (const { derive } of writes) {
    const [field, value] = derive?.(message) ?? []
    if (field !== undefined && value !== undefined) derived[field] = value
  }
  return JSON.stringify(derived)
}
