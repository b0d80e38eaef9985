/**
 * Messages as LangChain stores them, which need nothing of its packages to be read.
 */

import { isRecord } from '../../ports/is-record.ts'
import type { Json, JsonObject, MessageInput, Part, Role } from '../../ports/message.ts'
import { canonical } from '../../text/json.ts'
import { emptied, keepShape, shallow, textsOf, tokensBeside, without } from '../shapes.ts'

/** The provider of opaque parts that the bridge makes, and its field of metadata. */
export const OWN = 'langchain'
/** Where a message is none of these, it is kept whole, and is the user's. */
export const ROLES: { readonly [type: string]: Role } = {
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

/** A message for the log, one for one; its id is made from LangChain's, where it has one. */
export function toMessage({ type, data }: Stored): MessageInput {
  const role = roleOf({ type, data })
  const { id, content = '', ...rest } = data
  const named = typeof id === 'string' && id !== '' ? { id: `langchain/${id}` } : {}
  const shape = { type, data: { ...data, content: emptied(content) } }
  if (role === 'tool') {
    const output = shallow(content)
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

/** A message that names its role itself is no other way to instruct the model. */
export function roleOf({ type, data }: Stored): Role {
  const isSystem = type === 'generic' && (data.role === 'system' || data.role === 'developer')
  return isSystem ? 'system' : (ROLES[type] ?? 'user')
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
export function withCalls(
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

export function callsIn({ tool_calls: calls }: JsonObject): readonly JsonObject[] {
  return Array.isArray(calls) ? (calls as readonly JsonObject[]) : []
}
