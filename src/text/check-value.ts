import { invalid } from './json.ts'

/** A list of at most so many, or `ERR_INVALID_ARGUMENT`. */
export function checkList(
  operation: string,
  argument: string,
  value: unknown,
  most = Infinity,
): asserts value is readonly unknown[] {
  if (Array.isArray(value) && value.length <= most) return
  throw invalid(operation, argument, `must be a list${most < Infinity ? ` of at most ${most}` : ''}`)
}

/** A function, or `ERR_INVALID_ARGUMENT`. */
export function checkFunction(operation: string, argument: string, value: unknown): unknown {
  if (typeof value === 'function') return value
  throw invalid(operation, argument, 'must be a function')
}

/** One of these, or `ERR_INVALID_ARGUMENT`. */
export function checkOneOf<Value extends string | boolean>(
  operation: string,
  argument: string,
  value: unknown,
  values: readonly Value[],
): Value {
  if (values.includes(value as Value)) return value as Value
  throw invalid(operation, argument, `must be one of ${values.join(', ')}`)
}

/** True or false, or `ERR_INVALID_ARGUMENT`. */
export function checkBoolean(operation: string, argument: string, value: unknown): boolean {
  return checkOneOf(operation, argument, value, [true, false])
}

/** Something that has a method, or `ERR_INVALID_ARGUMENT`. */
export function checkMethod(
  operation: string,
  argument: string,
  value: unknown,
  method: string,
  reason = `must be an object with ${method}()`,
): unknown {
  if (typeof value?.[method as never] === 'function') return value
  throw invalid(operation, argument, reason)
}
