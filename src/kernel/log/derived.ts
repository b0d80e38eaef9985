import type { Counter } from '../../ports/counter.ts'
import type { Json, Message } from '../../ports/message.ts'
import { invalid } from '../../text/json.ts'
import { countMessage } from '../count.ts'
import type { Feature } from '../feature.ts'

/**
 * What travels with a message, so that a later reader need not make it again: its tokens, and what
 * features derive from it.
 */
export function derivedOf(
  message: Message,
  counter: Counter,
  use: readonly Pick<Feature, 'name' | 'derive'>[],
): string {
  const derived: { [field: string]: Json } = { [counter.id]: countMessage(counter, message) }
  for (const feature of use) {
    const made = feature.derive?.(message)
    if (!made) continue
    const [field, value] = made
    const reason = 'is given by the counter or by another feature'
    if (Object.hasOwn(derived, field)) throw invalid(`feature ${feature.name}`, `field ${field}`, reason)
    derived[field] = value
  }
  return JSON.stringify(derived)
}
