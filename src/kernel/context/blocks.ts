import type { Block } from '../../ports/context.ts'
import type { Message, Part, ToolResultPart } from '../../ports/message.ts'
import type { LogRow } from '../../ports/store.ts'
import { capOutput } from '../../text/cap.ts'
import { fenced, unfenced } from '../../text/fence.ts'
import { hashText } from '../../text/hash.ts'
import { asText, countMessage } from '../count.ts'
import type { Call, JoinedResults, Unit } from '../log/fold.ts'
import { EMPTY_MESSAGE, isBlank, partsOf, said, textOf } from '../log/message.ts'
import type { Policy } from '../policy.ts'
import { isSame } from './keeper.ts'

/** What a model reads in place of a result that never came. */
const ABANDONED = 'Error: this call was abandoned; it has no result.'
const OPENING = '(earlier messages are not shown)'

/**
 * How a unit is shown: `new`, outputs up to `toolOutput.first`; `old`, up to `toolOutput.old` and
 * without reasoning; or with its outputs capped at a number of tokens, at most `toolOutput.first`.
 */
export type Shown = 'new' | 'old' | number

/** Blocks with the sum of their tokens. */
export interface Blocks {
  readonly blocks: readonly Block[]
  readonly tokens: number
}

/** The blocks of one unit, as long as the same results stand in it. */
interface Kept {
  readonly by: readonly unknown[]
  readonly ways: Map<Shown | 'opener', Blocks>
}

/**
 * Turns units into blocks, a pure function of (entry, how it is shown). Blocks are kept as long as
 * their row is in memory: showing an entry in the same way again costs nothing and gives the same
 * object.
 */
export class BlockShelf {
  /** Opens a request whose first shown message is not a user's, as providers require one. */
  readonly opening: Block
  readonly #policy: Policy
  readonly #stored: (row: LogRow, message: Message) => number
  readonly #kept = new WeakMap<LogRow, Kept>()
  /** Tokens of each whole output of a row. */
  readonly #outputs = new WeakMap<LogRow, number[]>()
  readonly #missing = new WeakMap<Block, number>()
  readonly #fenceTokens: number

  /** @param stored tokens of a whole message as it is in the log. */
  constructor(policy: Policy, stored: (row: LogRow, message: Message) => number) {
    this.#policy = policy
    this.#stored = stored
    const opening = {
      role: 'user',
      parts: said(OPENING),
      from: [],
      rule: 'opening',
      trust: 'system',
    } as const
    this.opening = this.#block(opening, this.#count(opening.parts))
    // The real tag differs in its digits; the reserve covers how those may be cut into tokens.
    this.#fenceTokens = policy.counter.count(fenced('ctx-00000000', 'system', '')) + 8
  }

  /**
   * The blocks of a unit in order. Results that never came are shown as errors; those of the newest
   * unit may still come, so that block belongs to the tail and is no part of the prefix.
   */
  unit(unit: Unit, shown: Shown, newest: boolean): Blocks {
    const { calls, message } = unit
    // What has no outputs shows in one way, but for reasoning.
    const hasWays = calls.length > 0 || (shown === 'old' && typeof message.content !== 'string')
    const way = hasWays ? shown : 'new'
    return this.#keep(unit, way, newest, () => {
      const missing = calls.filter((call) => !call.answered)
      return [
        this.#head(unit, way),
        ...unit.results.map((result) => this.#results(unit, result, way)),
        ...(missing.length > 0 ? [this.#abandoned(unit, missing, newest)] : []),
      ]
    })
  }

  /** The user message of a round whose first steps were cut: verbatim, or capped like an output. */
  opener(unit: Unit, capped: boolean): Blocks {
    return capped && this.#stored(unit.row, unit.message) > this.#policy.old
      ? this.#keep(unit, 'opener', false, () => [this.#cappedUser(unit)])
      : this.unit(unit, 'new', false)
  }

  /** Tokens of the entry that a capped block does not show. */
  missing(block: Block): number {
    return this.#missing.get(block) ?? 0
  }

  #keep(
    { row, results, calls }: Unit,
    shown: Shown | 'opener',
    newest: boolean,
    make: () => readonly Block[],
  ): Blocks {
    // The same parts of the same rows, in one order, answer the same calls.
    const by: unknown[] = []
    for (const { answered } of calls) if (!answered) by.push(newest)
    for (const result of results) {
      by.push(result.row)
      for (const { index } of result.joined) by.push(index)
    }
    const kept = this.#kept.get(row)
    const ways: Kept['ways'] = kept && isSame(kept.by, by) ? kept.ways : new Map()
    if (ways !== kept?.ways) this.#kept.set(row, { by, ways })
    const found = ways.get(shown)
    if (found) return found
    const blocks = make()
    const made = { blocks, tokens: blocks.reduce((sum, { tokens }) => sum + tokens, 0) }
    ways.set(shown, made)
    return made
  }

  #count(parts: readonly Part[]): number {
    return countMessage(this.#policy.counter, { content: parts })
  }

  /**
   * A block whose text cannot pass for a fence.
   *
   * @param tokens of the parts as they are in the log
   * @param missing tokens of the entry that it does not show
   */
  #block(block: Omit<Block, 'section' | 'tokens'>, tokens: number, missing = 0): Block {
    const { role, from, rule, trust } = block
    const parts = unfenced(block.parts)
    const count = parts === block.parts ? tokens : this.#count(parts)
    const all = role === 'system' ? count + this.#fenceTokens : count
    const made: Block = { section: 'window', role, parts, from, rule, tokens: all, trust }
    if (missing !== 0) this.#missing.set(made, missing)
    return made
  }

  #head({ row, message }: Unit, shown: Shown): Block {
    const { role, trust } = message
    const from = [row.id]
    if (isBlank(message)) {
      const parts = said(EMPTY_MESSAGE)
      return this.#block({ role, parts, from, rule: 'empty', trust }, this.#count(parts))
    }
    const all = partsOf(message)
    const parts = all.filter(
      (part) => part.type !== 'reasoning' || (part.signature !== undefined && shown !== 'old'),
    )
    const tokens = parts.length === all.length ? this.#stored(row, message) : this.#count(parts)
    const renamed = parts.map((part) =>
      part.type === 'tool-call' ? { ...part, id: callId(row.id, all.indexOf(part)) } : part,
    )
    return this.#block({ role, parts: renamed, from, rule: 'verbatim', trust }, tokens)
  }

  #results({ row: step }: Unit, { row, message, joined }: JoinedResults, shown: Shown): Block {
    const { counter, first, old } = this.#policy
    const most = shown === 'old' ? old : Math.min(first, shown === 'new' ? first : shown)
    const { length } = message.content
    const stored = this.#stored(row, message)
    let isWhole = joined.length === length
    let rule: Block['rule'] = 'verbatim'
    const outputs = joined.map(({ part, index }): ToolResultPart => {
      // No output is longer than its message.
      if (stored <= most) return part
      const text = asText(part.output)
      const reference = length > 1 ? `#${row.ordinal}.${index + 1}` : `#${row.ordinal}`
      const output = capOutput(text, most, counter.count, reference, this.#tokens(row, message, index, text))
      if (output === text) return part
      isWhole = false
      rule = 'capped'
      return { ...part, output }
    })
    const tokens = isWhole ? stored : this.#count(outputs)
    const parts = outputs.map((part, at) => ({
      ...part,
      callId: callId(step.id, joined[at]?.call.index ?? 0),
    }))
    const { trust } = message
    const missing = rule === 'verbatim' ? 0 : stored - tokens
    return this.#block({ role: 'tool', parts, from: [row.id], rule, trust }, tokens, missing)
  }

  /** Tokens of one whole output: counted once, however often and short it is shown. */
  #tokens(row: LogRow, message: Message, index: number, text: string): number {
    const outputs = this.#outputs.get(row) ?? []
    this.#outputs.set(row, outputs)
    const { counter } = this.#policy
    const [part, further] = partsOf(message)
    // Of a message's only result the log says it.
    const isOnly = part?.type === 'tool-result' && !further && !counter.message
    outputs[index] ??= isOnly
      ? this.#stored(row, message) - this.#count([{ ...part, output: '' }])
      : counter.count(text)
    return outputs[index]
  }

  #abandoned({ row }: Unit, missing: readonly Call[], newest: boolean): Block {
    const errors = missing.map(
      ({ part }): ToolResultPart => ({
        type: 'tool-result',
        callId: part.id,
        output: ABANDONED,
        isError: true,
      }),
    )
    const parts = errors.map((error, at) => ({ ...error, callId: callId(row.id, missing[at]?.index ?? 0) }))
    const block = { role: 'tool', parts, from: [], rule: 'abandoned', trust: 'system' } as const
    const made = this.#block(block, this.#count(errors))
    return newest ? { ...made, section: 'tail' } : made
  }

  #cappedUser(unit: Unit): Block {
    const { counter, old } = this.#policy
    const { row, message } = unit
    const stored = this.#stored(row, message)
    const text = textOf(message)
    const shown = capOutput(text, old, counter.count, `#${row.ordinal}`)
    if (shown === text) return this.#head(unit, 'new')
    const parts = said(shown)
    const tokens = this.#count(parts)
    const { trust } = message
    return this.#block(
      { role: 'user', parts, from: [row.id], rule: 'capped', trust },
      tokens,
      stored - tokens,
    )
  }
}

/**
 * The id under which a call is rendered, made from the entry's id and the call's place: unique
 * whatever ids the data reuse; 24 characters at most, of those that all providers allow.
 */
export function callId(entry: string, index: number): string {
  return `call_${hashText(entry).slice(0, 14)}_${index}`
}
