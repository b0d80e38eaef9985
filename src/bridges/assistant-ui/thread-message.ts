/**
 * Messages of assistant-ui's own runtime as UI messages, and back. What both have stands in the
 * parts alone; the rest of a message is its shape.
 */
import { isRecord } from '../../ports/is-record.ts'
import type { Json, JsonObject } from '../../ports/message.ts'

/** A part of a UI message. */
export type UIPart = JsonObject & { readonly type: string }

export interface Split {
  /** What a model is shown. */
  readonly parts: readonly UIPart[]
  /** The message without that, and without its id. */
  readonly shape: JsonObject
}

/** @param message as JSON */
export function splitMessage({ id: _, content, ...rest }: JsonObject): Split {
  const split = list(content).map(splitPart)
  const attached = list(rest.attachments).flatMap((one) => (isRecord(one) ? list(one.content) : []))
  const parts = [...split, ...attached.map(splitPart)].flatMap(({ part }) => part ?? [])
  return { parts, shape: { ...rest, content: split.map(({ shape }) => shape) } }
}

/** @param parts those that a message was split into; of another one, what it says */
export function joinMessage(id: string, { parts, shape }: Split): JsonObject {
  const left = [...parts]
  const content = list(shape.content).map((part) => {
    const kind = isRecord(part) && isSplit(part) ? partTypes[String(part.type)] : undefined
    const found = kind === undefined ? -1 : left.findIndex(({ type }) => type === kind)
    const [own] = found < 0 ? [] : left.splice(0, found + 1).slice(-1)
    return own && isRecord(part) ? joinPart(part, own) : part
  })
  return { ...shape, id, content }
}

/** The message that a UI message of another writer is. */
export function threadMessageOf(
  id: string,
  role: string,
  parts: readonly UIPart[],
  createdAt: Json,
): JsonObject {
  const content = parts.flatMap((part): Json[] => {
    if (part.type === 'text' || part.type === 'reasoning') return [{ type: part.type, text: part.text ?? '' }]
    if (part.toolCallId === undefined) return []
    const call = { type: 'tool-call', toolCallId: part.toolCallId, toolName: nameOf(part) }
    return [joinPart(call, part)]
  })
  const custom = { custom: {} }
  if (role === 'user') return { id, role, createdAt, content, attachments: [], metadata: custom }
  if (role !== 'assistant') return { id, role, createdAt, content: content.slice(0, 1), metadata: custom }
  const made = { unstable_state: null, unstable_annotations: [], unstable_data: [], steps: [] }
  const status = { type: 'complete', reason: 'unknown' }
  return { id, role, createdAt, content, status, metadata: { ...made, ...custom } }
}

/** What each part that is split is among the parts of a UI message. */
const partTypes: { readonly [type: string]: string } = {
  text: 'text',
  reasoning: 'reasoning',
  'tool-call': 'dynamic-tool',
}

function splitPart(part: Json): { readonly part?: UIPart; readonly shape: Json } {
  if (!isRecord(part)) return { shape: part }
  const { type, text, ...rest } = part
  if ((type === 'text' || type === 'reasoning') && typeof text === 'string' && text !== '')
    return { part: { type, text }, shape: { ...rest, type } }
  if (type === 'tool-call' && typeof part.toolCallId === 'string' && typeof part.toolName === 'string')
    return splitCall(part)
  if (type === 'image' && typeof part.image === 'string')
    return { part: { type: 'file', mediaType: 'image/*', url: part.image }, shape: part }
  if (type === 'file' && typeof part.data === 'string' && typeof part.mimeType === 'string')
    return {
      part: { type: 'file', mediaType: part.mimeType, url: urlOf(part.data, part.mimeType) },
      shape: part,
    }
  return { shape: part }
}

function splitCall(part: JsonObject): { readonly part: UIPart; readonly shape: Json } {
  const { args = {}, argsText, result, isError, toolCallId = '', toolName = '', ...rest } = part
  const isDone = result !== undefined && part.isPreliminary !== true
  const shape = {
    ...rest,
    toolCallId,
    toolName,
    ...(argsText !== JSON.stringify(args) && { argsText: argsText ?? '' }),
    ...(!isDone && result !== undefined && { result }),
    ...(isError !== undefined && { isError }),
  }
  const call = { type: 'dynamic-tool', toolCallId, toolName, input: args }
  if (!isDone) return { part: { ...call, state: 'input-available' }, shape }
  // An error is a text there; what is none is kept beside it.
  if (isError !== true) return { part: { ...call, state: 'output-available', output: result }, shape }
  const errorText = typeof result === 'string' ? result : JSON.stringify(result)
  const kept = typeof result === 'string' ? shape : { ...shape, result }
  return { part: { ...call, state: 'output-error', errorText }, shape: kept }
}

/** Whether a part of a shape has left something to the UI message's parts. */
function isSplit({ type, text }: JsonObject): boolean {
  return type === 'tool-call' || ((type === 'text' || type === 'reasoning') && text === undefined)
}

function joinPart(shape: JsonObject, part: UIPart): JsonObject {
  if (shape.type !== 'tool-call') return { ...shape, text: part.text ?? '' }
  const args = part.input ?? {}
  const result = part.state === 'output-error' ? part.errorText : part.output
  return {
    ...shape,
    args,
    argsText: shape.argsText ?? JSON.stringify(args),
    ...(result !== undefined && shape.result === undefined && { result }),
    ...(part.state === 'output-error' && { isError: true }),
  }
}

function nameOf({ type, toolName }: UIPart): Json {
  return toolName ?? type.replace(/^tool-/, '')
}

function urlOf(data: string, mimeType: string): string {
  return /^[a-z][a-z0-9+.-]*:/i.test(data) ? data : `data:${mimeType};base64,${data}`
}

/** A content may be a text alone, where a format of one's own says so. */
function list(value: Json | undefined): readonly Json[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }]
  return Array.isArray(value) ? value : []
}
