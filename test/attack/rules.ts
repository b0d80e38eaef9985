/** What must hold of requests, said from the providers' documents and not from the library. */
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

/** A message or a part of either format: anything may be missing. */
export interface Item {
  readonly role?: unknown
  readonly content?: unknown
  readonly type?: unknown
  readonly text?: unknown
  readonly id?: unknown
  readonly tool_calls?: unknown
  readonly tool_call_id?: unknown
  readonly tool_use_id?: unknown
  readonly function?: unknown
}

/** A reason why OpenAI would refuse the messages. */
export function refusedByOpenAI(messages: readonly Item[]): string | undefined {
  let waiting = new Set<unknown>()
  const begun = messages.find(({ role }) => role !== 'system')
  if (begun && begun.role !== 'user') return 'it does not begin with the user'
  for (const [at, message] of messages.entries()) {
    const { role } = message
    if (role === 'tool') {
      if (!waiting.delete(message.tool_call_id)) return `result ${at} follows no call of its own`
      continue
    }
    if (waiting.size > 0) return `a call has no result before message ${at}`
    const calls = itemsOf(message.tool_calls)
    waiting = new Set(calls.map(({ id }) => id))
    if (waiting.size < calls.length) return `message ${at} has an id of a call twice`
    if (role !== 'assistant' && calls.length > 0) return `message ${at} calls and is not the assistant's`
  }
  if (waiting.size > 0) return 'the last call has no result'
  return undefined
}

/** A reason why Anthropic would. */
export function refusedByAnthropic(messages: readonly Item[]): string | undefined {
  const used = new Set<unknown>()
  let waiting = new Set<unknown>()
  for (const [at, message] of messages.entries()) {
    const content = itemsOf(message.content)
    if (at === 0 && message.role !== 'user') return 'it does not begin with the user'
    if (content.length === 0) return `message ${at} is empty`
    if (content.some(({ type, text }) => type === 'text' && String(text).trim() === ''))
      return `message ${at} has an empty text`
    const ofResults = content.filter(({ type }) => type === 'tool_result')
    for (const [place, part] of content.slice(0, ofResults.length).entries()) {
      if (part.type !== 'tool_result') return `results of message ${at} do not come first`
      if (!waiting.delete(part.tool_use_id)) return `result ${place} of message ${at} has no call`
    }
    if (waiting.size > 0) return `a call has no result in message ${at}`
    const calls = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
    for (const id of calls) {
      if (used.has(id)) return `an id of a call comes twice, again in message ${at}`
      used.add(id)
    }
    waiting = new Set(calls)
  }
  if (messages.at(-1)?.role !== 'user') return 'it does not end with the user'
  return undefined
}

const counted = new Map<string, number>()

/**
 * By o200k as chat formats count it: 3 tokens a message and for the reply, the role, each text, and
 * the tools as they are sent.
 */
export function tokensOf(messages: readonly Item[], tools: unknown = undefined): number {
  const ofTools = tools === undefined ? 0 : count(JSON.stringify(tools))
  return messages.reduce((sum, { content, tool_calls: calls }) => {
    const texts = [typeof content === 'string' ? content : content ? JSON.stringify(content) : '']
    for (const call of itemsOf(calls)) {
      const { name, arguments: input } = call.function as { name: string; arguments: string }
      texts.push(name, input)
    }
    return texts.reduce((all, text) => all + count(text), sum + 4)
  }, 3 + ofTools)
}

function count(text: string): number {
  const known = counted.get(text)
  if (known !== undefined) return known
  if (counted.size > 10_000) counted.clear()
  const tokens = countTokens(text, { disallowedSpecial: new Set() })
  counted.set(text, tokens)
  return tokens
}

function itemsOf(value: unknown): readonly Item[] {
  return Array.isArray(value) ? (value as Item[]) : []
}
