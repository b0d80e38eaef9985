import type { MessageInput } from '../../src/ports/message.ts'
import { estimate } from '../estimate.ts'
import { SYSTEM } from '../history.ts'
import { toRequest } from '../pairs/neutral.ts'
import { BUDGET, type Build, type Subject } from '../subject.ts'

const system: MessageInput = { role: 'system', content: SYSTEM }

/**
 * The least that a token window can cost: add up stored counts from the end, then write the window
 * as JSON.
 */
export const subject: Subject = {
  steps: ['limit: backward scan', 'limit: backward scan + JSON.stringify'],
  async open(history) {
    const messages: MessageInput[] = []
    const counts: number[] = []
    let window: readonly MessageInput[] = []
    let tokens = 0
    let json = ''
    const append = (message: MessageInput) => {
      messages.push(message)
      counts.push(estimate(message))
    }
    for (const exchange of history) exchange.forEach(append)
    return {
      append: (exchange) => exchange.forEach(append),
      steps: [
        () => {
          const { start, used } = scan(counts, BUDGET - estimate(system))
          window = messages.slice(start)
          tokens = used
        },
        () => {
          json = JSON.stringify([system, ...window])
        },
      ],
      shown: () => ({ messages: json === '' ? 0 : window.length, tokens: tokens + estimate(system) }),
    }
  },
}

export const build: Build = async (history, budget) => {
  const { start } = scan(history.map(estimate), budget - estimate(system))
  return toRequest(history.slice(start))
}

/** The longest suffix that fits. */
function scan(counts: readonly number[], budget: number): { start: number; used: number } {
  let start = counts.length
  let used = 0
  while (start > 0) {
    const next = used + (counts[start - 1] ?? 0)
    if (next > budget) break
    used = next
    start--
  }
  return { start, used }
}
