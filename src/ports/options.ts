import { PlimsollError } from './errors.ts'

export function invalid(operation: string, argument: string, reason: string): PlimsollError {
  return new PlimsollError('ERR_INVALID_ARGUMENT', `${operation}: ${argument} ${reason}`, { argument })
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** A plain object, or `ERR_INVALID_ARGUMENT`. */
export function checkObject(operation: string, argument: string, value: unknown): Record<string, unknown> {
  if (isPlainObject(value)) return value
  throw invalid(operation, argument, 'must be an object')
}

/** Why an option is refused that a feature may take. */
export const NOT_IN_USE = 'is not known to what is in use: add the feature that takes it to `use`'

/**
 * An object with none but these keys: an option that is not known would change nothing, and nobody
 * would hear of it.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function checkOptions(
  operation: string,
  argument: string,
  value: unknown,
  known: readonly string[],
  reason = 'is not known',
): asserts value is object {
  const unknown = Object.keys(checkObject(operation, argument, value)).find((key) => !known.includes(key))
  if (unknown === undefined) return
  const name = argument === 'options' ? unknown : `${argument}.${unknown}`
  throw invalid(operation, name, `${reason}; there are ${known.join(', ')}`)
}
