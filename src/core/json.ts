import { PlimsollError } from '../ports/errors.ts'
import type { Json } from '../ports/message.ts'
import { utf8Length } from './text.ts'

/** Deepest nesting of JSON that is stored. */
export const MAX_DEPTH = 32
/** Longest id, in UTF-8 bytes. */
export const MAX_ID_BYTES = 256

/** JSON with keys in code unit order, so that equal values have equal bytes. */
export function canonical(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const record = value as { readonly [key: string]: Json }
  const fields = Object.keys(record)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(record[key] as Json)}`)
  return `{${fields.join(',')}}`
}

/** A body as it was stored under an id. @throws ERR_STORAGE where storage gives back something else than JSON */
export function parseBody(id: string, body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new PlimsollError('ERR_STORAGE', `the store: the body of ${id} is not what was written`, {
      id,
      cause,
    })
  }
}

export function invalid(operation: string, argument: string, reason: string): PlimsollError {
  return new PlimsollError('ERR_INVALID_ARGUMENT', `${operation}: ${argument} ${reason}`, { argument })
}

/** Half a character: UTF-8 cannot hold it, and stores turn it into something else. */
const LONE_SURROGATE = /\p{Surrogate}/u

/** A well-formed string, or `ERR_INVALID_ARGUMENT`. */
export function checkText(operation: string, argument: string, value: unknown): string {
  if (typeof value !== 'string') throw invalid(operation, argument, 'must be a string')
  if (LONE_SURROGATE.test(value)) throw invalid(operation, argument, 'holds a lone surrogate')
  return value
}

/** A well-formed, non-empty string of at most 256 bytes, or `ERR_INVALID_ARGUMENT`. */
export function checkId(operation: string, argument: string, value: unknown): string {
  const id = checkText(operation, argument, value)
  if (id === '') throw invalid(operation, argument, 'must not be empty')
  if (utf8Length(id) > MAX_ID_BYTES)
    throw invalid(operation, argument, `must be at most ${MAX_ID_BYTES} bytes`)
  return id
}

/** A whole number of 0 or more, or `ERR_INVALID_ARGUMENT`. */
export function checkCount(operation: string, argument: string, value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw invalid(operation, argument, 'must be a whole number, 0 or more')
  return value as number
}

/** Plain JSON of at most 32 levels, or `ERR_INVALID_ARGUMENT`. Iterative: deep input must not overflow the stack. */
export function checkJson(operation: string, argument: string, value: unknown): Json {
  const waiting: { readonly value: unknown; readonly path: string; readonly depth: number }[] = [
    { value, path: argument, depth: 1 },
  ]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, path, depth } = next
    if (value === null || typeof value === 'boolean') continue
    if (typeof value === 'string') {
      checkText(operation, path, value)
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) throw invalid(operation, path, 'must be a finite number')
    } else if (Array.isArray(value)) {
      if (depth > MAX_DEPTH) throw invalid(operation, argument, `is nested deeper than ${MAX_DEPTH} levels`)
      for (let index = 0; index < value.length; index++)
        waiting.push({ value: value[index], path: `${path}[${index}]`, depth: depth + 1 })
    } else if (isPlainObject(value)) {
      if (depth > MAX_DEPTH) throw invalid(operation, argument, `is nested deeper than ${MAX_DEPTH} levels`)
      for (const [key, child] of Object.entries(value)) {
        checkText(operation, `a key of ${path}`, key)
        // As in JSON.stringify, a property that is undefined is absent.
        if (child !== undefined) waiting.push({ value: child, path: `${path}.${key}`, depth: depth + 1 })
      }
    } else {
      throw invalid(operation, path, 'is not JSON')
    }
  }
  return value as Json
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
}
