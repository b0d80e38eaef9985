import { NOT_IN_USE } from '../../ports/options.ts'
import type { ContextOptions } from '../../ports/session.ts'
import { checkOptions, checkText, invalid } from '../text/json.ts'
import { checkTools } from './head.ts'

/** What labels a section of the tail. */
export const SECTION_NAME = /^[\w-]{1,64}$/

/** @param features those that take something. @throws ERR_INVALID_ARGUMENT */
export function checkContextOptions(options: ContextOptions, features: readonly string[]): void {
  const own = ['tools', 'system', 'tail', 'preview', 'onPending', 'limits', 'newEpoch']
  checkOptions('context', 'options', options, [...own, ...features], NOT_IN_USE)
  const { tools, system = '', tail = '', onPending = 'reject' } = options
  if (onPending !== 'reject' && onPending !== 'abandon')
    throw invalid('context', 'onPending', 'must be reject or abandon')
  checkTools('context', tools)
  checkText('context', 'system', system)
  if (!Array.isArray(tail)) {
    checkText('context', 'tail', tail)
    return
  }
  tail.forEach((section: unknown, index) => {
    const argument = `tail[${index}]`
    checkOptions('context', argument, section, ['name', 'text'])
    const { name, text } = section as { readonly name: unknown; readonly text: unknown }
    if (typeof name !== 'string' || !SECTION_NAME.test(name))
      throw invalid('context', `${argument}.name`, 'must be 1 to 64 letters, digits, dashes or underscores')
    checkText('context', `${argument}.text`, text)
  })
}
