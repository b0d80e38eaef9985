import type { AgentInputItem } from '@openai/agents'
import type { Context } from '../../ports/context.ts'
import { callName } from '../../render/parts.ts'
import { isBlankContent, shownContext } from '../shapes.ts'
import { agentItem, fromParts, type Item } from './messages.ts'

/** What a call of the model is given of a context. */
export interface AgentRequest {
  readonly systemInstructions: string | undefined
  readonly input: AgentInputItem[]
}

/**
 * A context as what the SDK's models take. Items that the bridge wrote come back as they were, with
 * outputs as long as the context shows them; what others wrote becomes plain items.
 */
export function toAgentItems(context: Context): AgentRequest {
  /** Names of calls by their ids, which are those of the context in both. */
  const calls = new Map<string, string>()
  const { system, messages } = shownContext<Item>(context, {
    user: (content) => ({ type: 'message', role: 'user', content }),
    block: (role, parts) =>
      fromParts(role, parts)
        .filter(saysSomething)
        .map((item) => named(item, calls)),
  })
  return { systemInstructions: system, input: messages.map(agentItem) }
}

/** Not a message of blank texts alone, which not every provider takes. */
function saysSomething({ content, type }: Item): boolean {
  return (type !== undefined && type !== 'message') || !isBlankContent(content)
}

/** With a name that providers take; a result has that of its call. */
function named(item: Item, calls: Map<string, string>): Item {
  const id = String(item.callId)
  if (item.type === 'function_call') calls.set(id, callName(String(item.name), 64))
  const name = calls.get(id)
  return name !== undefined && 'name' in item ? { ...item, name } : item
}
