import type { Json } from '../../ports/message.ts'
import { checkText, invalid, isPlainObject } from './json.ts'

/** Deepest nesting of JSON that is stored. */
export const MAX_DEPTH = 32

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
