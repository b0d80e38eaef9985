/**
 * What travels between a client and the edge, as JSON. Bodies are this library's own values with
 * keys in snake_case: `createdAt` is `created_at`. What an app put into them (tool inputs and
 * outputs, metadata, a checkpoint, a schema) travels as it is.
 */
import type { ErrorCode, ErrorDetails } from './errors.ts'

/** RFC 9457 problem details: how every refusal of the edge looks, as `application/problem+json`. */
export interface Problem extends Omit<ErrorDetails, 'cause' | 'retryAfter'> {
  /** A URI that names the code, for example `urn:plimsoll:error:ERR_NOT_FOUND`. */
  readonly type: string
  /** A short sentence for people; the same for all errors of a code. */
  readonly title: string
  readonly status: number
  /** What happened this time. Never holds anything of a message. */
  readonly detail: string
  readonly code: ErrorCode
  /** Names this request in the edge's log. */
  readonly requestId: string
  /** Seconds; also the header `Retry-After`. */
  readonly retryAfter?: number
}

export const PROBLEM_TYPE = 'application/problem+json'

/** Keys whose values are the app's own: they are copied as they are. */
export const OPAQUE: ReadonlySet<string> = new Set([
  'input',
  'output',
  'metadata',
  'checkpoint',
  'value',
  'inputSchema',
  'input_schema',
  'review',
])

type Rename = (key: string) => string

/** A value as it travels. Pure; objects and lists are fresh, what is the app's own is shared. */
export function toWire(value: unknown): unknown {
  return renamed(value, snake)
}

/** A value that travelled, as the library has it. Pure. */
export function fromWire(value: unknown): unknown {
  return renamed(value, camel)
}

export function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

export function camel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function renamed(value: unknown, rename: Rename): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [rename(key), OPAQUE.has(key) ? item : renamed(item, rename)]),
  )
}
