import type { AgentInputItem } from '@openai/agents'
import { asText } from '../../kernel/count.ts'
import { partsOf } from '../../kernel/log/message.ts'
import { isRecord } from '../../ports/is-record.ts'
import type { Json, JsonObject, Message, MessageInput, Part } from '../../ports/message.ts'
import { contentOf } from '../../render/parts.ts'
import { canonical } from '../../text/json.ts'
import {
  emptied,
  keepShape,
  refilled,
  shallow,
  shapeIn,
  shapeOf,
  textsOf,
  tokensBeside,
  without,
} from '../shapes.ts'
import { decode, encode } from './plain.ts'

/** An item as JSON: two are equal where their canonical texts are. */
export type Item = JsonObject

/** The provider of opaque parts that the bridge makes, and its field of metadata. */
const OWN = 'openai-agents'

/** @throws TypeError: what would not come back as it was */
export function itemOf(given: unknown): Item {
  return checkItem(encode(given))
}

/** @throws TypeError: it is none */
export function checkItem(item: Json): Item {
  if (!isRecord(item) || typeof (item.type ?? item.role) !== 'string') throw new TypeError('is no item')
  return item
}

export function agentItem(item: Item): AgentInputItem {
  return decode(item) as AgentInputItem
}

/**
 * Items as messages of a log: what one response says, with its reasoning and its calls, is one
 * message, and a result is one. What only the SDK knows of them travels beside it, uncounted.
 */
export function toMessages(items: readonly Item[]): MessageInput[] {
  const messages: (MessageInput & { readonly parts: Part[] })[] = []
  for (const item of items) {
    const { role, parts, metadata } = toParts(item)
    const last = messages.at(-1)
    if (role === 'assistant' && last?.role === role) last.parts.push(...parts)
    else messages.push({ role, content: '', parts: [...parts], ...(metadata && { metadata }) })
  }
  return messages.map(({ parts, ...message }) => ({
    ...message,
    content: message.role === 'tool' ? parts : contentOf(parts),
  }))
}

/** The items of a message, of this bridge or of another writer. */
export function itemsIn({ role, content, metadata }: Pick<Message, 'role' | 'content' | 'metadata'>): Item[] {
  const kept = shapeOf(metadata?.[OWN])
  return fromParts(role, partsOf({ content }), kept && isOf(role, kept) ? kept : undefined)
}

/**
 * The items of parts, which may be shown shorter than they were said.
 *
 * @param kept what is known of them beside the parts
 */
export function fromParts(role: Message['role'], parts: readonly Part[], kept?: Item): Item[] {
  if (role === 'tool')
    return parts.flatMap((part) =>
      part.type === 'tool-result' ? [resultOf(part.callId, part.output, kept)] : [],
    )
  const texts: Part[][] = []
  const shapes: (Item | undefined)[] = []
  for (const part of parts) {
    const given = shapeIn(OWN, part)
    const shape = given && isOf(role, given) ? given : undefined
    // A call and a text without a shape of their own are items of their own.
    if (shape || texts.length === 0 || (role === 'assistant' && isFull(shapes.at(-1), texts.at(-1)))) {
      texts.push([])
      shapes.push(shape)
    }
    if (!shape) texts.at(-1)?.push(part)
  }
  return texts.flatMap((own, at) => {
    const shape = shapes[at] ?? kept
    return shape ? [filled(shape, own)] : own.flatMap((part) => plainItem(role, part))
  })
}

/** Without which a call is kept whole. */
const FIELDS_OF_CALL = ['callId', 'name', 'arguments'] as const

/** Whether it is a message of a role that the log has. */
function isSaid(item: Item): item is Item & { readonly role: 'user' | 'system' | 'assistant' } {
  const { type = 'message', role } = item
  return type === 'message' && (role === 'user' || role === 'system' || role === 'assistant')
}

function toParts(item: Item): Pick<MessageInput, 'role' | 'metadata'> & { readonly parts: readonly Part[] } {
  const { type } = item
  if (type === 'function_call' && FIELDS_OF_CALL.every((field) => typeof item[field] === 'string'))
    return { role: 'assistant', parts: callParts(item) }
  if (type === 'function_call_result' && typeof item.callId === 'string') {
    const { callId, output = null, ...rest } = item
    const isText = isRecord(output) && output.type === 'text' && typeof output.text === 'string'
    const kept = isText ? { ...rest, output: without(output, 'text') } : rest
    const metadata = { [OWN]: JSON.stringify(kept) }
    return {
      role: 'tool',
      parts: [{ type: 'tool-result', callId, output: isText ? (output.text as Json) : output }],
      metadata,
    }
  }
  if (!isSaid(item)) return { role: 'assistant', parts: [keepShape(OWN, item)] }
  const { role, content } = item
  const texts = textsOf(content)
  const parts = texts.map((text): Part => ({ type: 'text', text }))
  const [first] = parts
  if (role === 'user' && first && canonical(item) === canonical(plainItem(role, first)[0] as Json))
    return { role, parts }
  const shape = { ...item, ...(content !== undefined && { content: emptied(content) }) }
  return role === 'system'
    ? { role, parts, metadata: { [OWN]: JSON.stringify(shape) } }
    : { role, parts: [keepShape(OWN, shape, tokensBeside(content)), ...parts] }
}

/** Whether a shape fits a message of that role: who may write a message can give it any shape. */
function isOf(role: Message['role'], { type = 'message', role: own }: Item): boolean {
  if (role === 'tool') return type === 'function_call_result'
  const isNamed = type === 'message' && (own === 'user' || own === 'system')
  return role === (isNamed ? own : 'assistant')
}

function callParts(item: Item): Part[] {
  const { callId, name, arguments: given } = item
  const id = String(callId)
  const input = inputOf(String(given))
  const isSame = JSON.stringify(input) === given
  return [
    keepShape(OWN, isSame ? without(item, 'arguments') : item, 0),
    { type: 'tool-call', id, name: String(name) || 'unnamed', input },
  ]
}

function inputOf(text: string): Json {
  try {
    return shallow(JSON.parse(text) as Json)
  } catch {
    return text
  }
}

function resultOf(callId: string, output: Json, kept: Item | undefined): Item {
  if (kept && isRecord(kept.output))
    return { ...kept, callId, output: { ...kept.output, text: asText(output) } }
  if (kept) return { ...kept, callId, output }
  const isShaped = Array.isArray(output) || (isRecord(output) && typeof output.type === 'string')
  const shown = isShaped ? output : { type: 'text', text: asText(output) }
  return { type: 'function_call_result', callId, name: 'unnamed', status: 'completed', output: shown }
}

/** The item of a part that nothing else is known of. */
function plainItem(role: Message['role'], part: Part): Item[] {
  if (part.type === 'text' && role === 'assistant') {
    const content = [{ type: 'output_text', text: part.text }]
    return [{ type: 'message', role, status: 'completed', content }]
  }
  if (part.type === 'text') return [{ type: 'message', role, content: part.text }]
  if (part.type === 'tool-call') {
    const { id: callId, name, input } = part
    return [{ type: 'function_call', callId, name, status: 'completed', arguments: JSON.stringify(input) }]
  }
  if (
    part.type === 'media' &&
    role === 'user' &&
    part.url !== undefined &&
    part.mediaType.startsWith('image/')
  )
    return [{ type: 'message', role, content: [{ type: 'input_image', image: part.url }] }]
  return []
}

/** Whether an item has all its parts. */
function isFull(shape: Item | undefined, parts: readonly Part[] = []): boolean {
  if (!shape) return parts.length > 0
  if (shape.type === 'function_call') return parts.length > 0
  return !isSaid(shape) || parts.length >= textsOf(shape.content).length
}

/** A shape with its texts, or the input of its call. */
function filled(shape: Item, parts: readonly Part[]): Item {
  const [call] = parts
  if (call?.type === 'tool-call') {
    const { id: callId, input } = call
    return { arguments: JSON.stringify(input), ...shape, callId }
  }
  const { content } = shape
  // An item that the log has no words for is kept whole, its texts too.
  if (content === undefined || !isSaid(shape)) return shape
  return {
    ...shape,
    content: refilled(
      content,
      parts.flatMap((part) => (part.type === 'text' ? part.text : [])),
    ),
  }
}
