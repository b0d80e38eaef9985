import {
  charsPerToken,
  createMemory,
  isPlimsollError,
  mapStore,
  toAnthropic,
  toOpenAI,
} from '../../src/index.ts'
import type { Context } from '../../src/ports/context.ts'
import { randomFrom, SYSTEM } from '../history.ts'
import type { Request, Shown } from './check.ts'
import type { RandomHistory } from './histories.ts'

/** Share of the places in a history, beside its end, at which a context is built. */
const CHECKED = 0.1

/** Every request of an agent that lived through the history; `undefined` for a refused one. */
export async function buildOurs({ messages, budget }: RandomHistory, seed: number) {
  const random = randomFrom(seed + 1)
  const memory = createMemory({ store: mapStore(), system: SYSTEM, budget, counter: charsPerToken(4) })
  const session = memory.session({ userId: 'bench', sessionId: 'pairs' })
  const requests: (Request | undefined)[] = []
  for (const [index, message] of messages.entries()) {
    await session.append(message)
    if (index < messages.length - 1 && random() >= CHECKED) continue
    const onPending = random() < 0.5 ? 'reject' : 'abandon'
    try {
      const context = await session.context({ onPending })
      requests.push(openAIRequest(context), anthropicRequest(context))
    } catch (error) {
      const known =
        isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL') || isPlimsollError(error, 'ERR_TOOL_PENDING')
      if (!known) throw error
      requests.push(undefined)
    }
  }
  return requests
}

/** Reads the rendered JSON, as a provider would, and not what the renderer says it is. */
function openAIRequest(context: Context): Request {
  interface Rendered {
    messages: { tool_calls?: { id: string }[]; tool_call_id?: string }[]
  }
  const { messages } = JSON.parse(JSON.stringify(toOpenAI(context))) as Rendered
  return messages.map(
    ({ tool_calls: calls, tool_call_id: result }): Shown => ({
      calls: (calls ?? []).map(({ id }) => id),
      results: result === undefined ? [] : [result],
    }),
  )
}

function anthropicRequest(context: Context): Request {
  interface Rendered {
    messages: { content: string | { type: string; id?: string; tool_use_id?: string }[] }[]
  }
  const { messages } = JSON.parse(JSON.stringify(toAnthropic(context))) as Rendered
  return messages.map(({ content }): Shown => {
    const parts = typeof content === 'string' ? [] : content
    return {
      calls: parts.flatMap(({ type, id }) => (type === 'tool_use' && id !== undefined ? [id] : [])),
      results: parts.flatMap(({ type, tool_use_id: id }) => (type === 'tool_result' && id ? [id] : [])),
    }
  })
}
