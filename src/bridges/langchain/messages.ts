import {
  type BaseMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  type StoredMessage,
  ToolMessage,
} from '@langchain/core/messages'
import { asText } from '../../kernel/count.ts'
import { partsOf } from '../../kernel/log/message.ts'
import { canonical, invalid } from '../../kernel/text/json.ts'
import type { Json, JsonObject, Message, MessageInput, Part, Role } from '../../ports/message.ts'
import { callName } from '../../render/parts.ts'
import {
  emptied,
  isBlankContent,
  isRecord,
  keepShape,
  refilled,
  shallow,
  shapeIn,
  shapeOf,
  textsOf,
  tokensBeside,
  without,
} from '../shapes.ts'

/** The provider of opaque parts that the bridge makes, and its field of metadata. */
const OWN = 'langchain'
/** Where a message is none of these, it is kept whole, and is the user's. */
const ROLES: { readonly [type: string]: Role } = {
  human: 'user',
  ai: 'assistant',
  tool: 'tool',
  system: 'system',
}

/** LangChain's own form of a message that is stored, as JSON. */
export interface Stored extends JsonObject {
  readonly type: string
  readonly data: JsonObject
}

/** @throws ERR_INVALID_ARGUMENT: they are no messages, or hold what is no JSON */
export function storedOf(operation: string, messages: readonly BaseMessage[]): Stored[] {
  return messages.map((message, at) => {
    try {
      const [stored] = mapChatMessagesToStoredMessages([message])
      const copy = JSON.parse(JSON.stringify(stored)) as Stored
      langChainMessages([copy])
      return copy
    } catch {
      throw invalid(operation, `messages[${at}]`, 'must be a message of LangChain that is JSON')
    }
  })
}

/** A message for the log, one for one; its id is made from LangChain's, where it has one. */
export function toMessage({ type, data }: Stored): MessageInput {
  const role = roleOf({ type, data })
  const { id, content = '', ...rest } = data
  const named = typeof id === 'string' && id !== '' ? { id: `langchain/${id}` } : {}
  const shape = { type, data: { ...data, content: emptied(content) } }
  if (role === 'tool') {
    const output = typeof content === 'string' ? content : shallow(content)
    const callId = String(rest.tool_call_id ?? '')
    const kept = { type, data: without(data, 'content') }
    const isError = rest.status === 'error' && { isError: true }
    const metadata = { [OWN]: JSON.stringify(kept) }
    return { ...named, role, content: [{ type: 'tool-result', callId, output, ...isError }], metadata }
  }
  const texts = textsOf(content).map((text): Part => ({ type: 'text', text }))
  if (role === 'system') return { ...named, role, content: texts, metadata: { [OWN]: JSON.stringify(shape) } }
  const calls = role === 'assistant' ? callsIn(data).map(callPart) : []
  return {
    ...named,
    role,
    content: [keepShape(OWN, withoutInputs(shape), tokensBeside(withoutCalls(content))), ...texts, ...calls],
  }
}

/** The message of LangChain that a message of the log is, of this bridge or of another writer. */
export function storedIn({
  role,
  content,
  metadata,
}: Pick<Message, 'role' | 'content' | 'metadata'>): Stored {
  return fromParts(role, partsOf({ content }), ownIn(role, shapeOf(metadata?.[OWN])))
}

export function langChainMessages(stored: readonly Stored[]): BaseMessage[] {
  return mapStoredMessagesToChatMessages(stored as unknown as StoredMessage[])
}

/**
 * What a block of a context is to a model: with the ids of calls that the context gives, and texts
 * and outputs as long as it shows them.
 */
export function shownMessages(role: Role, parts: readonly Part[], names: Map<string, string>): BaseMessage[] {
  if (role === 'tool')
    return parts.flatMap((part) => {
      if (part.type !== 'tool-result') return []
      const { callId: tool_call_id, output, isError } = part
      const name = names.get(tool_call_id)
      return new ToolMessage({
        tool_call_id,
        content: isContent(output) ? (output as never) : asText(output),
        ...(name !== undefined && { name }),
        ...(isError && { status: 'error' }),
      })
    })
  const named = parts.map((part) =>
    part.type === 'tool-call' ? { ...part, name: callName(part.name, 64) } : part,
  )
  const { type, data } = fromParts(role, named)
  const calls = callsIn(data)
  for (const { id, name } of calls) names.set(String(id), String(name))
  // Not every provider takes a blank text beside calls.
  const isBlank = calls.length > 0 && isBlankContent(data.content)
  return langChainMessages([{ type, data: isBlank ? { ...data, content: '' } : data }])
}

function fromParts(role: Role, parts: readonly Part[], kept?: Stored): Stored {
  const shape = kept ?? parts.map((part) => ownIn(role, shapeIn(OWN, part))).find((one) => one)
  const texts = parts.flatMap((part) => (part.type === 'text' ? part.text : []))
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? part : []))
  const [result] = parts
  if (role === 'tool' && result?.type === 'tool-result') {
    const data = shape?.data ?? { tool_call_id: result.callId }
    const content = isContent(result.output) ? result.output : asText(result.output)
    return { type: 'tool', data: { ...data, content } }
  }
  const type = shape?.type ?? (role === 'user' ? 'human' : role === 'assistant' ? 'ai' : role)
  const data = shape?.data ?? { content: '' }
  const content = refilled(data.content ?? '', texts)
  if (calls.length === 0) return { type, data: { ...data, content } }
  const known = callsIn(data)
  const tool_calls = calls.map(({ id, name, input }, at): JsonObject => {
    const args = isRecord(input) ? input : { input }
    return { type: 'tool_call', ...known[at], id, name, args }
  })
  return { type, data: { ...data, content: renamed(content, known, tool_calls), tool_calls } }
}

/** Fields without which LangChain has no message of a type. */
const NEEDED: { readonly [type: string]: string } = {
  function: 'name',
  generic: 'role',
  tool: 'tool_call_id',
}
const TYPES: ReadonlySet<unknown> = new Set([...Object.keys(ROLES), ...Object.keys(NEEDED)])

/** A shape, if it is of a message of that role: anybody who may write a message can give it one. */
function ownIn(role: Role, shape: JsonObject | undefined): Stored | undefined {
  if (!shape || !TYPES.has(shape.type) || !isRecord(shape.data)) return undefined
  const { type, data } = shape as Stored
  const needed = NEEDED[type]
  if (needed !== undefined && typeof data[needed] !== 'string') return undefined
  return roleOf({ type, data }) === role ? { type, data } : undefined
}

/** A message that names its role itself is no other way to instruct the model. */
function roleOf({ type, data }: Stored): Role {
  const isSystem = type === 'generic' && (data.role === 'system' || data.role === 'developer')
  return isSystem ? 'system' : (ROLES[type] ?? 'user')
}

/** A content in which the provider's own form of the calls has their ids and inputs, too. */
function renamed(content: Json, known: readonly JsonObject[], calls: readonly JsonObject[]): Json {
  return withCalls(content, known, (part, at) => ({
    input: calls[at]?.args ?? {},
    ...part,
    id: calls[at]?.id ?? null,
    name: calls[at]?.name ?? null,
  }))
}

/** What stands in the parts of its calls is not kept twice. */
function withoutInputs({ type, data }: Stored): Stored {
  const calls = callsIn(data)
  const content = withCalls(data.content ?? '', calls, (part, at) =>
    canonical(part.input ?? null) === canonical(calls[at]?.args ?? null) ? without(part, 'input') : part,
  )
  const tool_calls = calls.map((call) => without(call, 'args'))
  return { type, data: { ...data, content, ...(calls.length > 0 && { tool_calls }) } }
}

/** A content with other parts for its calls; of several with one id the first is the first. */
function withCalls(
  content: Json,
  calls: readonly JsonObject[],
  change: (part: JsonObject, at: number) => Json,
): Json {
  if (!Array.isArray(content)) return content
  const left = calls.map(({ id }) => id)
  return content.map((part: Json) => {
    const at = isCallPart(part) ? left.indexOf(part.id) : -1
    if (at < 0 || !isRecord(part)) return part
    left[at] = undefined
    return change(part, at)
  })
}

function withoutCalls(content: Json): Json {
  return Array.isArray(content) ? content.filter((part: Json) => !isCallPart(part)) : content
}

function isCallPart(part: Json): part is JsonObject {
  return isRecord(part) && part.type === 'tool_use'
}

function callPart({ id, name, args = {} }: JsonObject): Part {
  return { type: 'tool-call', id: String(id ?? ''), name: String(name || 'unnamed'), input: shallow(args) }
}

function callsIn({ tool_calls: calls }: JsonObject): readonly JsonObject[] {
  return Array.isArray(calls) ? (calls as readonly JsonObject[]) : []
}

/** Whether an output is what LangChain takes for content: a text, or parts with types. */
function isContent(output: Json): boolean {
  if (typeof output === 'string') return true
  return (
    Array.isArray(output) && output.every((part: Json) => isRecord(part) && typeof part.type === 'string')
  )
}
