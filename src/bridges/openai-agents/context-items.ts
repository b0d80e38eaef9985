import type { AgentInputItem } from '@openai/agents'
import { EMPTY_MESSAGE, textOf } from '../../kernel/log/message.ts'
import { fenced } from '../../kernel/text/fence.ts'
import type { Context } from '../../ports/context.ts'
import { callName } from '../../render/parts.ts'
import { isBlankContent } from '../shapes.ts'
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
  const system: string[] = []
  const items: Item[] = []
  /** Names of calls by their ids, which are those of the context in both. */
  const calls = new Map<string, string>()
  for (const { section, role, parts } of context.blocks) {
    const text = textOf({ content: parts })
    if (section === 'system') {
      if (text.trim() !== '') system.push(text)
    } else if (role === 'system') {
      if (text.trim() !== '') items.push(userItem(fenced(context.fence, 'system', text)))
    } else {
      const shown = fromParts(role, parts)
        .filter(saysSomething)
        .map((item) => named(item, calls))
      if (role === 'user' && shown.length === 0) items.push(userItem(EMPTY_MESSAGE))
      items.push(...shown)
    }
  }
  return {
    systemInstructions: system.length > 0 ? system.join('\n\n') : undefined,
    input: items.map(agentItem),
  }
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

function userItem(content: string): Item {
  return { type: 'message', role: 'user', content }
}
