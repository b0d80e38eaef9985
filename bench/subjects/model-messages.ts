import type { AssistantModelMessage, ModelMessage, ToolModelMessage } from 'ai'
import type { MessageInput, Part } from '../../src/ports/message.ts'
import { outputText } from '../estimate.ts'
import { SYSTEM } from '../history.ts'
import type { Request } from '../pairs/check.ts'

/** The message shape that the AI SDK and Mastra's prompts share, content always as parts. */
export type PartsMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: { type: 'text'; text: string }[] }
  | (AssistantModelMessage & { content: object[] })
  | ToolModelMessage

export const systemMessage: PartsMessage = { role: 'system', content: SYSTEM }

export function convert({ role, content }: MessageInput): PartsMessage {
  const parts: readonly Part[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  if (role === 'user') return { role, content: parts.flatMap(textPart) }
  if (role === 'tool') return { role, content: parts.flatMap(resultPart) }
  return { role: 'assistant', content: parts.flatMap((part) => [...textPart(part), ...callPart(part)]) }
}

export function toRequest(messages: readonly ModelMessage[]): Request {
  const shown = messages.filter(({ role }) => role !== 'system')
  return shown.map(({ content }) => {
    const parts = typeof content === 'string' ? [] : content
    return {
      calls: parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : [])),
      results: parts.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])),
    }
  })
}

function textPart(part: Part) {
  return part.type === 'text' ? [{ type: 'text' as const, text: part.text }] : []
}

function callPart(part: Part) {
  if (part.type !== 'tool-call') return []
  return [{ type: 'tool-call' as const, toolCallId: part.id, toolName: part.name, input: part.input }]
}

function resultPart(part: Part) {
  if (part.type !== 'tool-result') return []
  const output = { type: 'text' as const, value: outputText(part.output) }
  return [{ type: 'tool-result' as const, toolCallId: part.callId, toolName: 'search_orders', output }]
}
