import { base64 } from '../../ports/base64.ts'
import { isRecord } from '../../ports/is-record.ts'
import type { Json, OpaquePart, Part } from '../../ports/message.ts'
import { invalid } from '../../text/json.ts'
import type { ProviderOptions } from './types.ts'

/**
 * The provider of opaque parts that the bridge makes. Renderers for other providers leave them out.
 */
export const AI_SDK = 'ai-sdk'

/**
 * Deepest value that is kept as it is; a log takes 32 levels, and these have some of their own
 * around them.
 */
const MAX_DEPTH = 24

/**
 * Says more of the part that follows it. Ignored where that part is not of its kind, since
 * reasoning may be left out.
 */
export interface Note {
  readonly type: 'note'
  readonly of: Part['type']
  /** The id of a call as its provider knows it. */
  readonly id?: string
  readonly filename?: string
  readonly reference?: { readonly [provider: string]: string }
  readonly options?: ProviderOptions
}

/** What is kept of the SDK's in one opaque part. */
export type Kept =
  | Note
  /** A part of a model message. */
  | { readonly type: 'model'; readonly part: { readonly type: string; readonly [key: string]: Json } }
  /** A part of a UI message. */
  | { readonly type: 'ui'; readonly part: { readonly type: string; readonly [key: string]: Json } }
  /** How a UI message is put together again, where that does not fit into the metadata. */
  | { readonly type: 'layout'; readonly layout: string }

/** An opaque part that holds `kept`; what is nested too deep for a log travels as text. */
export function keep(kept: Kept): OpaquePart {
  const value = jsonOf(kept)
  return {
    type: 'opaque',
    provider: AI_SDK,
    value: depthOf(value) > MAX_DEPTH ? { json: JSON.stringify(value) } : value,
    // The model never reads how a page shows a message.
    ...((kept.type === 'ui' || kept.type === 'layout') && { tokens: 0 }),
  }
}

/** A note, where it has something to say. */
export function noted(note: Omit<Note, 'type'>): OpaquePart[] {
  const { id, filename, reference, options } = note
  const says = id !== undefined || filename !== undefined || reference !== undefined || options !== undefined
  return says ? [keep({ type: 'note', ...note })] : []
}

/** What an opaque part holds; undefined for one that the bridge did not make. */
export function keptIn(part: Part): Kept | undefined {
  if (part.type !== 'opaque' || part.provider !== AI_SDK) return undefined
  const value =
    isRecord(part.value) && typeof part.value.json === 'string' ? parsed(part.value.json) : part.value
  return isRecord(value) && typeof value.type === 'string' ? (value as unknown as Kept) : undefined
}

/**
 * A value as JSON: what is undefined is left out, bytes become base64, addresses become text. As
 * when it travels over HTTP.
 *
 * @throws ERR_INVALID_ARGUMENT: bigints, circles, and what is nested so deep that there is no JSON
 */
export function jsonOf(value: unknown): Json {
  try {
    const text = JSON.stringify(value, (_, inner: unknown) => {
      if (inner instanceof Uint8Array) return base64(inner)
      return inner instanceof ArrayBuffer ? base64(new Uint8Array(inner)) : inner
    })
    return text === undefined ? null : (JSON.parse(text) as Json)
  } catch {
    throw invalid('message', 'value', 'must be JSON')
  }
}

/** A value as it may stand in a log, or as text where it is nested too deep. */
export function shallow(value: Json): { readonly value: Json; readonly deep: boolean } {
  const deep = depthOf(value) > MAX_DEPTH
  return { value: deep ? JSON.stringify(value) : value, deep }
}

/** Levels of lists and objects, counted no further than is asked here. */
function depthOf(value: Json, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return depth
  return Object.values(value).reduce(
    (most: number, child: Json) => Math.max(most, depthOf(child, depth + 1)),
    depth + 1,
  )
}

export function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** The fields that are there. */
export function given<Fields extends object>(
  fields: Fields,
): { [K in keyof Fields]: Exclude<Fields[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
