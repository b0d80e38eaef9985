import {
  type BaseMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  type StoredMessage,
  ToolMessage,
} from '@langchain/core/messages'
import { asText } from '../../kernel/count.ts'
import { partsOf } from '../../kernel/log/message.ts'
import { isRecord } from '../../ports/is-record.ts'
import type { Json, JsonObject, Message, Part, Role } from '../../ports/message.ts'
import { callName } from '../../render/parts.ts'
import { invalid } from '../../text/json.ts'
import { isBlankContent, refilled, shapeIn, shapeOf } from '../shapes.ts'
import { callsIn, OWN, ROLES, roleOf, type Stored, withCalls } from './stored.ts'

/** @throws ERR_INVALID_ARGUMENT: they are no messages, or hold what is no JSON */
export function storedOf(operation: string, messages: readonly BaseMessage[]): Stored[] {
  if (!Array.isArray(messages)) throw invalid(operation, 'messages', 'must be a list')
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

/** A content in which the provider's own form of the calls has their ids and inputs, too. */
function renamed(content: Json, known: readonly JsonObject[], calls: readonly JsonObject[]): Json {
  return withCalls(content, known, (part, at) => ({
    input: calls[at]?.args ?? {},
    ...part,
    id: calls[at]?.id ?? null,
    name: calls[at]?.name ?? null,
  }))
}

/** Whether an output is parts with types, which LangChain takes as they are. */
function isContent(output: Json): boolean {
  return (
    Array.isArray(output) && output.every((part: Json) => isRecord(part) && typeof part.type === 'string')
  )
}
