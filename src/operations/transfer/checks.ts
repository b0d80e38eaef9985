import { utf8Length } from '../../ports/utf8-length.ts'
import { checkList } from '../../text/check-value.ts'
import type { Check, Fields } from '../../text/fields.ts'
import { checkText, invalid, isPlainObject } from '../../text/json.ts'

/**
 * Longest id of a line, in UTF-8 bytes: the key of a session's register is longer than the
 * session's id.
 */
const MOST_NAME_BYTES = 512

export const orNull =
  (check: Check): Check =>
  (operation, argument, value) =>
    value === null || check(operation, argument, value)
/** A list, each item of which is checked. */
export const list =
  (check: Check): Check =>
  (operation, argument, value) => {
    checkList(operation, argument, value)
    for (const [place, one] of value.entries()) check(operation, `${argument}[${place}]`, one)
  }
/** An object that has these fields; others are not looked at. */
export const object =
  (fields: Fields): Check =>
  (operation, argument, value) => {
    if (!isPlainObject(value)) throw invalid(operation, argument, 'must be an object')
    for (const [name, check] of Object.entries(fields)) check(operation, `${argument}.${name}`, value[name])
  }
export const oneOf =
  (...values: readonly string[]): Check =>
  (operation, argument, value) => {
    if (!values.includes(value as string))
      throw invalid(operation, argument, `must be ${values.length > 1 ? 'one of ' : ''}${values.join(', ')}`)
  }
export const isTrue: Check = (operation, argument, value) => {
  if (value !== true) throw invalid(operation, argument, 'must be true or left out')
}
export const positive: Check = (operation, argument, value) => {
  if (typeof value !== 'number' || !(value > 0)) throw invalid(operation, argument, 'must be above 0')
}

/** An id or a key, or `ERR_INVALID_ARGUMENT`. */
export function checkName(operation: string, argument: string, value: unknown): string {
  const name = checkText(operation, argument, value)
  if (name === '' || utf8Length(name) > MOST_NAME_BYTES)
    throw invalid(operation, argument, `must have 1 to ${MOST_NAME_BYTES} bytes`)
  return name
}

/** The name of an entry, a register or an attachment. */
export const isName: Check = (operation, argument, value) => {
  if (!/^(entry|register|attachment|user):/.test(checkName(operation, argument, value)))
    throw invalid(operation, argument, 'must begin with entry:, register:, attachment: or user:')
}

export const ids: Check = list(checkName)
export const names: Check = list(isName)
export const texts: Check = list(checkText)
