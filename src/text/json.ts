import { PlimsollError } from '../ports/errors.ts'
import type { Json } from '../ports/message.ts'
import { invalid } from '../ports/options.ts'
import { utf8Length } from '../ports/utf8-length.ts'

export { checkObject, checkOptions, invalid, isPlainObject } from '../ports/options.ts'

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

/** JSON of one's own, to be changed as one likes. */
export function copyOf<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value
}

/**
 * A body as it was stored under an id; undefined: it was forgotten.
 *
 * @throws ERR_STORAGE where storage gives back something else than JSON
 */
export function parseBody(id: string, body: string | null): unknown {
  if (body === null) return undefined
  try {
    return JSON.parse(body)
  } catch (cause) {
    const reason = `the body of ${id} is not what was written`
    throw new PlimsollError('ERR_STORAGE', `the store: ${reason}`, { id, cause })
  }
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

/** A whole number, or `ERR_INVALID_ARGUMENT`. */
export function checkCount(operation: string, argument: string, value: unknown, least = 0): number {
  if (!Number.isSafeInteger(value) || (value as number) < least)
    throw invalid(operation, argument, `must be a whole number, ${least} or more`)
  return value as number
}
