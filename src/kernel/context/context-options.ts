import { NOT_IN_USE } from '../../ports/options.ts'
import type { ContextOptions } from '../../ports/session.ts'
import { checkBoolean, checkOneOf } from '../../text/check-value.ts'
import { type Check, checkFields, checkShape, type Fields, optional } from '../../text/fields.ts'
import { checkOptions, checkText, invalid } from '../../text/json.ts'
import { checkTools } from './head.ts'

/** What labels a section of the tail. */
export const SECTION_NAME = /^[\w-]{1,64}$/

const checkSectionName: Check = (operation, argument, name) => {
  if (typeof name === 'string' && SECTION_NAME.test(name)) return name
  throw invalid(operation, argument, 'must be 1 to 64 letters, digits, dashes or underscores')
}
const SECTION: Fields = { name: checkSectionName, text: checkText }
const checkTail: Check = (operation, argument, tail) =>
  Array.isArray(tail)
    ? tail.map((section, index) => checkShape(operation, `${argument}[${index}]`, section, SECTION))
    : checkText(operation, argument, tail)
const checkPending: Check = (...of) => checkOneOf(...of, ['reject', 'abandon'])
const OPTIONS: Fields = {
  tools: optional(checkTools),
  system: optional(checkText),
  tail: optional(checkTail),
  onPending: optional(checkPending),
  preview: optional(checkBoolean),
  newEpoch: optional(checkBoolean),
}
/** The limits are checked where they become a policy. */
export const CONTEXT_OPTIONS = [...Object.keys(OPTIONS), 'limits']

/** @param features those that take something. @throws ERR_INVALID_ARGUMENT */
export function checkContextOptions(options: ContextOptions, features: readonly string[]): void {
  checkOptions('context', 'options', options, [...CONTEXT_OPTIONS, ...features], NOT_IN_USE)
  checkFields('context', '', options, OPTIONS)
}
