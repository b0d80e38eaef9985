import type { Json } from '../ports/message.ts'
import { checkObject, checkText, invalid, isPlainObject } from './json.ts'

/** Deepest nesting of JSON that is stored. */
export const MAX_DEPTH = 32

/** Plain JSON of at most 32 levels, or `ERR_INVALID_ARGUMENT`. */
export function checkJson(operation: string, argument: string, value: unknown): Json {
  const check = (value: unknown, path: string, depth: number): void => {
    if (typeof value === 'string') checkText(operation, path, value)
    else if (typeof value === 'number') {
      if (!Number.isFinite(value)) throw invalid(operation, path, 'must be a finite number')
    } else if (value !== null && typeof value !== 'boolean') {
      const isList = Array.isArray(value)
      if (!isList && !isPlainObject(value)) throw invalid(operation, path, 'is not JSON')
      if (depth > MAX_DEPTH) throw invalid(operation, argument, `is nested deeper than ${MAX_DEPTH} levels`)
      if (isList) for (let at = 0; at < value.length; at++) check(value[at], `${path}[${at}]`, depth + 1)
      else
        for (const [key, child] of Object.entries(value)) {
          checkText(operation, `a key of ${path}`, key)
          // As in JSON.stringify, a property that is undefined is absent.
          if (child !== undefined) check(child, `${path}.${key}`, depth + 1)
        }
    }
  }
  check(value, argument, 1)
  return value as Json
}

/** The same of an object. */
export function checkJsonObject(operation: string, argument: string, value: unknown): Json {
  return checkJson(operation, argument, checkObject(operation, argument, value))
}
