import { type AgentInputItem, MemorySession } from '@openai/agents-core'
import type { MessageInput } from '../../src/ports/message.ts'
import { outputText } from '../estimate.ts'
import type { Build, Subject } from '../subject.ts'

/** It limits by a count of items and has no token budget. */
const LAST_ITEMS = 40

export const subject: Subject = {
  steps: [`OpenAI agents getItems(${LAST_ITEMS}) (no token budget)`],
  async open(history) {
    const initialItems: AgentInputItem[] = []
    let kept: readonly AgentInputItem[] = []
    for (const exchange of history) for (const message of exchange) initialItems.push(...convert(message))
    const session = new MemorySession({ initialItems })
    return {
      append: (exchange) => session.addItems(exchange.flatMap(convert)),
      steps: [
        async () => {
          kept = await session.getItems(LAST_ITEMS)
        },
      ],
      shown: () => ({ messages: kept.length }),
    }
  },
}

export const build: Build = async (history) => {
  const session = new MemorySession({ initialItems: history.flatMap(convert) })
  const kept = await session.getItems(LAST_ITEMS)
  return together(kept).map((items) => ({
    calls: items.flatMap((item) => (item.type === 'function_call' ? [item.callId] : [])),
    results: items.flatMap((item) => (item.type === 'function_call_result' ? [item.callId] : [])),
  }))
}

/** Parallel calls are an item each: neighbours are one message. */
function together(items: readonly AgentInputItem[]): AgentInputItem[][] {
  const groups: AgentInputItem[][] = []
  for (const item of items) {
    const group = groups.at(-1)
    if (group?.[0]?.type === 'function_call' && item.type === 'function_call') group.push(item)
    else groups.push([item])
  }
  return groups
}

function convert({ role, content }: MessageInput): AgentInputItem[] {
  if (typeof content === 'string') {
    if (role === 'user') return [{ type: 'message', role, content }]
    const text = { type: 'output_text' as const, text: content }
    return [{ type: 'message', role: 'assistant', status: 'completed', content: [text] }]
  }
  return content.flatMap((part): AgentInputItem[] => {
    if (part.type === 'tool-call') {
      const { id: callId, name } = part
      return [
        { type: 'function_call', callId, name, status: 'completed', arguments: JSON.stringify(part.input) },
      ]
    }
    if (part.type !== 'tool-result') return []
    const output = { type: 'text' as const, text: outputText(part.output) }
    const { callId } = part
    return [{ type: 'function_call_result', callId, name: 'search_orders', status: 'completed', output }]
  })
}
