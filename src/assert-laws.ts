import type { LawCheck } from './kernel/context/lane.ts'
import type { Block, Context } from './ports/context.ts'
import { PlimsollError } from './ports/errors.ts'

/**
 * For development and tests: `createMemory({ …, laws: lawChecker })` checks laws 1, 2, 4 and 5 on
 * every context, and `context()` rejects with `ERR_LAW_BROKEN` where one is broken. Costs a pass
 * over the blocks.
 */
export const lawChecker = (): LawCheck => new LawChecker()

/**
 * Checks of a context that cost a pass over its blocks, for development: law 1 (never over the
 * line), 2 (pairs hold), 4 (every message is shown, covered or omitted, and once) and 5
 * (append-only within an epoch).
 */
export class LawChecker {
  #epoch = ''
  #blocks: readonly Block[] = []
  #messages = 0
  #rebased: number | undefined

  /**
   * @param messages numbers of messages that the log holds.
   * @param rebased how often rows changed their places
   * @throws ERR_LAW_BROKEN
   */
  check({ epoch, blocks, receipt }: Context, messages: number, rebased?: number): void {
    const { used, margin, cap, omitted, summary } = receipt
    if (cap !== null && used + margin > cap)
      throw broken(1, `${used} tokens and a margin of ${margin} are above the cap of ${cap}`)
    const calls = new Set<string>()
    for (const part of blocks.flatMap(({ parts }) => parts)) {
      if (part.type === 'tool-call') calls.add(part.id)
      if (part.type === 'tool-result' && !calls.delete(part.callId))
        throw broken(2, `the result of ${part.callId} has no call before it`)
    }
    if (calls.size > 0) throw broken(2, `${[...calls].join(', ')} has no result`)
    const shown = new Set(blocks.flatMap(({ section, from }) => (section === 'memory' ? [] : from)))
    const sum = (ranges: readonly { readonly count: number }[]): number =>
      ranges.reduce((total, { count }) => total + count, 0)
    const covered = sum(summary?.covers ?? [])
    const left = sum(omitted)
    if (shown.size + covered + left !== messages)
      throw broken(
        4,
        `${shown.size} shown, ${covered} covered and ${left} omitted are not the ${messages} of the log`,
      )
    // What was not saved binds nobody: others may write before an epoch of that name begins.
    if (typeof receipt.epoch === 'string') return
    const grown = blocks.filter(({ section }) => section !== 'tail')
    // A log that is shorter was deleted, and its epochs begin again under their names. Where rows
    // changed places, others may stand between what was shown now.
    const goesOn = epoch === this.#epoch && messages >= this.#messages && rebased === this.#rebased
    if (goesOn && !this.#blocks.every((block, index) => isSame(block, grown[index])))
      throw broken(5, `what was shown before in epoch ${epoch} is shown otherwise`)
    this.#epoch = epoch
    this.#blocks = grown
    this.#messages = messages
    this.#rebased = rebased
  }
}

function isSame(one: Block, other: Block | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

function broken(law: number, reason: string): PlimsollError {
  return new PlimsollError('ERR_LAW_BROKEN', `context: law ${law} is broken: ${reason}`)
}
