import { textOf } from '../kernel/log/message.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Json, MessageInput, Part } from '../ports/message.ts'
import { invalid } from '../ports/options.ts'
import { checkList } from '../text/check-value.ts'
import { checkContent, contentOf } from './parts.ts'

/**
 * A message in OpenAI's format, as little of it as is read here. The SDK's parameters and replies
 * are assignable.
 */
export interface OpenAIInputMessage {
  readonly role: string
  readonly content?: string | readonly OpenAIInputPart[] | null
  readonly name?: string
  readonly refusal?: string | null
  /** What other servers with this format call their reasoning. */
  readonly reasoning_content?: string | null
  readonly audio?: object | null
  readonly tool_calls?: readonly OpenAIInputToolCall[] | null
  readonly tool_call_id?: string
  /** The form before `tool_calls`, which had no ids. */
  readonly function_call?: { readonly name: string; readonly arguments: string } | null
}

export type OpenAIInputPart =
  | { readonly type: string }
  | { readonly type: string; readonly [key: string]: unknown }

export interface OpenAIInputToolCall {
  readonly id: string
  readonly type?: string
  readonly function?: { readonly name: string; readonly arguments: string }
  readonly custom?: { readonly name: string; readonly input: string }
}

/** A whole chat completion; only its first choice is read. */
export interface OpenAIInputCompletion {
  readonly choices: readonly { readonly message: OpenAIInputMessage }[]
}

/**
 * A reply as a message: a chat completion, or the message of one of its choices. Arguments that are
 * not JSON are kept as the text they are. A refusal becomes text, and the message's metadata says
 * `refusal: true`.
 *
 * @throws ERR_INVALID_ARGUMENT for anything else, an error in place of a completion among it
 */
export function parseOpenAIReply(reply: OpenAIInputCompletion | OpenAIInputMessage): MessageInput {
  const { choices, role } = Object(reply) as Partial<OpenAIInputCompletion & OpenAIInputMessage>
  const message = choices ? choices[0]?.message : role && (reply as OpenAIInputMessage)
  if (message) return fromAssistant(message)
  // A promise, or the error that some servers send with status 200, would be kept as an empty text.
  throw invalid(
    'parseOpenAIReply',
    'reply',
    choices ? 'has no choice' : 'must be a chat completion, or the message of a choice',
  )
}

/**
 * A recorded conversation as messages, one for one. `developer` becomes `system`, `function`
 * becomes `tool`. Content that only OpenAI understands (sound, files) is kept as opaque parts.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function fromOpenAIMessages(messages: readonly OpenAIInputMessage[]): MessageInput[] {
  checkList('fromOpenAIMessages', 'messages', messages)
  return messages.map((given, index) => {
    const message = Object(given) as OpenAIInputMessage
    const { role, name } = message
    checkContent('fromOpenAIMessages', `messages[${index}].content`, message.content ?? '')
    const named = name === undefined ? {} : { name }
    switch (role) {
      case 'assistant':
        return { ...fromAssistant(message), ...named }
      case 'system':
      case 'developer':
        return { role: 'system', content: fromContent(message.content), ...named }
      case 'user':
        return { role, content: fromContent(message.content), ...named }
      case 'tool':
      case 'function': {
        const callId = message.tool_call_id ?? name ?? ''
        const output = textOf({ content: contentParts(message.content) })
        return { role: 'tool', content: [{ type: 'tool-result', callId, output }], ...named }
      }
    }
    throw new PlimsollError(
      'ERR_INVALID_ARGUMENT',
      `fromOpenAIMessages: unknown role ${JSON.stringify(role)}`,
      {
        argument: `messages[${index}].role`,
      },
    )
  })
}

function fromAssistant(message: OpenAIInputMessage): MessageInput {
  const parts: Part[] = []
  if (message.reasoning_content) parts.push({ type: 'reasoning', text: message.reasoning_content })
  parts.push(...contentParts(message.content))
  if (message.refusal) parts.push({ type: 'text', text: message.refusal })
  const { transcript } = (message.audio ?? {}) as { readonly transcript?: string }
  if (parts.length === 0 && transcript) parts.push({ type: 'text', text: transcript })
  for (const call of message.tool_calls ?? []) parts.push(fromCall(call))
  const called = message.function_call
  if (called) {
    parts.push({
      type: 'tool-call',
      id: called.name,
      name: called.name,
      input: parseArguments(called.arguments),
    })
  }
  const refused =
    Boolean(message.refusal) || (Array.isArray(message.content) && message.content.some(isRefusal))
  return { role: 'assistant', content: contentOf(parts), ...(refused && { metadata: { refusal: true } }) }
}

function fromCall(call: OpenAIInputToolCall): Part {
  const { id, function: called, custom } = call
  if (called) return { type: 'tool-call', id, name: called.name, input: parseArguments(called.arguments) }
  if (custom) return { type: 'tool-call', id, name: custom.name, input: custom.input }
  return { type: 'opaque', provider: 'openai', value: call as unknown as Json }
}

/**
 * A call without arguments comes as `{}` from OpenAI, and as nothing at all from other servers with
 * this format.
 */
export function parseArguments(text: string): Json {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

/** A string stays the string that it is. */
function fromContent(content: OpenAIInputMessage['content']): MessageInput['content'] {
  return typeof content === 'string' ? content : contentOf(contentParts(content))
}

function contentParts(content: OpenAIInputMessage['content']): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return (content ?? []).map(fromContentPart)
}

const isRefusal = (part: OpenAIInputPart): boolean => part.type === 'refusal'

function fromContentPart(part: OpenAIInputPart): Part {
  const fields = part as { readonly type: string; readonly [key: string]: Json | undefined }
  if (part.type === 'text' && typeof fields.text === 'string') return { type: 'text', text: fields.text }
  if (part.type === 'refusal' && typeof fields.refusal === 'string')
    return { type: 'text', text: fields.refusal }
  const { url } = (fields.image_url ?? {}) as { readonly url?: Json }
  if (part.type === 'image_url' && typeof url === 'string') {
    return {
      type: 'media',
      mediaType: /^data:(image\/[^;,]+)/i.exec(url)?.[1]?.toLowerCase() ?? 'image/*',
      url,
    }
  }
  return { type: 'opaque', provider: 'openai', value: fields as Json }
}
