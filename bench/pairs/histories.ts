import type { MessageInput, ToolCallPart } from '../../src/ports/message.ts'
import { randomFrom } from '../history.ts'

export interface RandomHistory {
  readonly messages: readonly MessageInput[]
  /** Tokens, small enough that most histories have to be cut. */
  readonly budget: number
}

const LEAST_BUDGET = 300
const MOST_BUDGET = 3_000

/** Random choices from a seed. */
function choices(seed: number) {
  const random = randomFrom(seed)
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  return {
    between,
    chance: (share: number) => random() < share,
    text: (most: number) => 'lorem ipsum dolor sit amet '.repeat(40).slice(0, between(1, most)),
    shuffled: <Item>(items: readonly Item[]) =>
      items
        .map((item) => ({ item, place: random() }))
        .sort((a, b) => a.place - b.place)
        .map(({ item }) => item),
  }
}

type Choices = ReturnType<typeof choices>

/** Every call answered right after it, ids unique: what any provider accepts whole. */
export function wellFormed(seed: number): RandomHistory {
  const { between, chance, text, shuffled } = choices(seed)
  const messages: MessageInput[] = []
  let number = 0
  for (let rounds = between(2, 14); rounds > 0; rounds--) {
    messages.push({ role: 'user', content: text(400) })
    for (let steps = chance(0.6) ? between(1, 4) : 0; steps > 0; steps--) {
      const calls = Array.from({ length: between(1, 4) }, () => callPart(`call-${number++}`, text(60)))
      messages.push({ role: 'assistant', content: calls })
      for (const { id } of shuffled(calls)) messages.push(resultMessage(id, text(500)))
    }
    if (rounds > 1 || chance(0.5)) messages.push({ role: 'assistant', content: text(500) })
  }
  // A model is called after a user message or a result.
  while (messages.at(-1)?.role === 'assistant') messages.pop()
  return { messages, budget: between(LEAST_BUDGET, MOST_BUDGET) }
}

/**
 * Calls that never get a result, get it late or twice, share an id; results without a call; empty
 * and giant texts.
 */
export function hard(seed: number): RandomHistory {
  const made = choices(seed)
  const { between, chance } = made
  const messages: MessageInput[] = []
  const late: string[] = []
  const ids: string[] = []
  for (let items = between(3, 40); items > 0; items--) {
    const kind = between(0, 9)
    if (kind < 3) messages.push({ role: 'user', content: someText(made) })
    else if (kind < 5) messages.push({ role: 'assistant', content: someText(made) })
    else if (kind < 8) messages.push(...hardStep(made, ids, late))
    else if (kind === 8) messages.push(resultMessage(late.shift() ?? `orphan-${items}`, someText(made)))
    else messages.push(resultMessage(ids.at(between(-3, -1)) ?? 'orphan', someText(made)))
    if (chance(0.02)) messages.push({ role: 'system', content: someText(made) })
  }
  messages.push({ role: 'user', content: 'Go on.' })
  return { messages, budget: between(LEAST_BUDGET, MOST_BUDGET) }
}

/** An assistant message with up to four calls, and what results it happens to get. */
function hardStep(
  { between, chance, text, shuffled }: Choices,
  ids: string[],
  late: string[],
): MessageInput[] {
  const calls = Array.from({ length: between(1, 4) }, () => {
    const used = chance(0.2) ? ids.at(between(-5, -1)) : undefined
    const id = used ?? `call-${ids.length}`
    ids.push(id)
    return callPart(id, text(100))
  })
  const words = chance(0.3) ? [{ type: 'text' as const, text: text(100) }] : []
  const messages: MessageInput[] = [{ role: 'assistant', content: [...words, ...calls] }]
  const results: MessageInput['content'][] = []
  for (const { id } of shuffled(calls)) {
    if (chance(0.1)) continue
    if (chance(0.1)) {
      late.push(id)
      continue
    }
    for (let times = chance(0.1) ? 2 : 1; times > 0; times--) {
      results.push([
        { type: 'tool-result', callId: id, output: chance(0.1) ? text(1).repeat(9_000) : text(500) },
      ])
    }
  }
  if (chance(0.3)) messages.push({ role: 'tool', content: results.flatMap((parts) => parts as []) })
  else for (const content of results) messages.push({ role: 'tool', content })
  return messages.filter(({ content }) => content.length > 0)
}

const someText = ({ chance, text }: Choices): string =>
  chance(0.1) ? '' : chance(0.1) ? '\u{1F6A2}漢字'.repeat(50) : text(500)

function callPart(id: string, query: string): ToolCallPart {
  return { type: 'tool-call', id, name: 'search_orders', input: { query } }
}

function resultMessage(callId: string, output: string): MessageInput {
  return { role: 'tool', content: [{ type: 'tool-result', callId, output }] }
}
