/**
 * What a prompt of the SDK must be, in any provider's eyes; shares no code with what renders it.
 */
import type { ModelMessage } from 'ai'
import type { Prompt } from '../../src/bridges/ai-sdk/types.ts'

/** How the rule ends that an empty text breaks. */
export const BLANK = 'a blank text'

interface AnyPart {
  readonly type: string
  readonly toolCallId?: string
  readonly providerExecuted?: boolean
  readonly text?: string
}

/** Broken rules of a prompt, in words; empty for one that providers take. */
export function brokenRules(messages: Prompt | readonly ModelMessage[]): string[] {
  const broken: string[] = []
  const seen = new Set<string>()
  /** Calls of the newest assistant message that wait, and those of the provider's own. */
  let waiting = new Set<string>()
  const ran = new Set<string>()
  let started = false
  messages.forEach((message, index) => {
    const { role } = message
    if (role === 'system') {
      if (started) broken.push(`${index}: a system message among the others`)
      return
    }
    if (!started && role !== 'user') broken.push(`${index}: the first message is of role ${role}`)
    started = true
    const parts: readonly AnyPart[] =
      typeof message.content === 'string'
        ? [{ type: 'text', text: message.content }]
        : (message.content as readonly AnyPart[])
    if (parts.length === 0) broken.push(`${index}: no content`)
    if (role !== 'tool' && waiting.size > 0) {
      broken.push(`${index}: calls without a result before it: ${[...waiting]}`)
      waiting = new Set()
    }
    for (const { type, text, toolCallId = '', providerExecuted } of parts) {
      if (type === 'text' && text?.trim() === '') broken.push(`${index}: ${BLANK}`)
      if (type === 'tool-call') {
        if (seen.has(toolCallId)) broken.push(`${index}: two calls ${toolCallId}`)
        seen.add(toolCallId)
        if (providerExecuted) ran.add(toolCallId)
        else waiting.add(toolCallId)
      }
      if (type !== 'tool-result') continue
      if (role === 'tool' ? !waiting.delete(toolCallId) : !ran.has(toolCallId))
        broken.push(`${index}: a result without its call: ${toolCallId}`)
    }
    const last = parts.at(-1)?.type
    if (role === 'assistant' && (last === 'reasoning' || last === 'reasoning-file'))
      broken.push(`${index}: ends with reasoning`)
  })
  if (waiting.size > 0) broken.push(`calls without a result at the end: ${[...waiting]}`)
  const end = messages.at(-1)?.role
  if (end !== 'user' && end !== 'tool') broken.push(`ends with a message of role ${end}`)
  return broken
}
