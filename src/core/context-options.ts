import type { ToolSpec } from '../ports/message.ts'
import { checkTools } from './head.ts'
import { checkText, invalid, isPlainObject } from './json.ts'
import type { Limits } from './policy.ts'

export interface ContextOptions {
  /** Told to the model with the request; a change starts an epoch. */
  readonly tools?: readonly ToolSpec[]
  /**
   * Text for the last block of the request, whole or as named sections, fenced as data. Never stored; it may change at every
   * call without cost to the prefix.
   */
  readonly tail?: string | readonly TailSection[]
  /**
   * Shows what is recalled in the tail: for this query, or, with `true`, for what the newest user message says. What shows already is left
   * out; what had no room is counted in the receipt. Needs a memory with `recall`. Default: nothing.
   */
  readonly recall?: string | true
  /** Never write: an epoch change is shown in this context only. Default `false`. */
  readonly preview?: boolean
  /** What to do when calls of the newest step have no result yet. Default `reject`, with `ERR_TOOL_PENDING`. */
  readonly onPending?: 'reject' | 'abandon'
  /**
   * Proposes other limits for the window and for outputs than the memory's, for this call. Each set of limits is a lane with
   * epochs of its own, so keep them for many calls. The budget holds whatever they say.
   */
  readonly limits?: Limits
  /** Start an epoch (cause `manual`) and cut the window back, whatever its state. Default `false`. */
  readonly newEpoch?: boolean
}

export interface TailSection {
  /** Labels the section's fence: 1 to 64 letters, digits, dashes and underscores. */
  readonly name: string
  readonly text: string
}

/** What labels a section of the tail. */
const SECTION_NAME = /^[\w-]{1,64}$/

/** @throws ERR_INVALID_ARGUMENT */
export function checkContextOptions({ tools, tail = '', recall = true }: ContextOptions): void {
  checkTools('context', tools)
  if (recall !== true) checkText('context', 'recall', recall)
  if (!Array.isArray(tail)) {
    checkText('context', 'tail', tail)
    return
  }
  tail.forEach((section: unknown, index) => {
    const argument = `tail[${index}]`
    if (!isPlainObject(section)) throw invalid('context', argument, 'must be an object')
    const { name, text } = section
    if (typeof name !== 'string' || !SECTION_NAME.test(name))
      throw invalid('context', `${argument}.name`, 'must be 1 to 64 letters, digits, dashes or underscores')
    checkText('context', `${argument}.text`, text)
  })
}
