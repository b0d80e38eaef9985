import type { Block } from '../../ports/context.ts'
import type { Message, Part, ToolResultPart } from '../../ports/message.ts'
import type { LogRow } from '../../ports/store.ts'
import { asText, countMessage } from '../count.ts'
import type { Call, JoinedResults, Unit } from '../log/fold.ts'
import { EMPTY_MESSAGE, isBlank, partsOf, textOf } from '../log/message.ts'
import type { Policy } from '../policy.ts'
import { fenced, unfenced } from '../text/fence.ts'
import { hashText } from '../text/hash.ts'
import { capOutput } from './cap.ts'

/** What a model reads in place of a result that never came. */
const ABANDONED = 'Error: this call was abandoned; it has no result.'
const OPENING = '(earlier messages are not shown)'

/**
 * How a unit is shown: `new`, outputs up to `toolOutput.first`; `old`, up to `toolOutput.old` and without reasoning; or
 * with its outputs capped at a number of tokens, where that is less than `toolOutput.first`.
 */
export type Shown = 'new' | 'old' | number

/** Blocks with the sum of their tokens. */
export interface Blocks {
  readonly blocks: readonly Block[]
  readonly tokens: number
}

/** The blocks of one unit, as long as the same results stand in it. */
interface Kept {
  readonly results: readonly JoinedResults[]
  /** Calls without a result. */
  readonly missing: number
  readonly newest: boolean
  readonly shown: Map<Shown | 'opener', Blocks>
}

/**
 * Turns units into blocks, a pure function of (entry, how it is shown). Blocks are kept as long as their row is in memory,
 * so that showing an entry in the same way again costs nothing and gives the very same object.
 */
export class BlockShelf {
  readonly #policy: Policy
  readonly #stored: (row: LogRow, message: Message) => number
  readonly #kept = new WeakMap<LogRow, Kept>()
  /** Tokens of each whole output of a row. */
  readonly #outputs = new WeakMap<LogRow, number[]>()
  readonly #missing = new WeakMap<Block, number>()
  readonly #opening: Block
  readonly #fenceTokens: number

  /** @param stored tokens of a whole message as it is in the log. */
  constructor(policy: Policy, stored: (row: LogRow, message: Message) => number) {
    const { counter } = policy
    this.#policy = policy
    this.#stored = stored
    const parts: Part[] = [{ type: 'text', text: OPENING }]
    this.#opening = block('user', parts, [], 'opening', countMessage(counter, { content: parts }), 'system')
    // The real tag differs in its digits alone; the reserve covers how those may be cut into tokens.
    this.#fenceTokens = counter.count(fenced('ctx-00000000', 'system', '')) + 8
  }

  /**
   * The blocks of a unit in order. Results that never came are shown as errors; while the unit is the newest they may still
   * come, so that block belongs to the tail and is no part of the prefix.
   */
  unit(unit: Unit, shown: Shown, newest: boolean): Blocks {
    return this.#keep(unit, shown, newest, () => {
      const blocks = [this.#head(unit.row, unit.message, shown)]
      for (const result of unit.results) blocks.push(this.#results(unit, result, shown))
      const missing = unit.calls.filter((call) => !call.answered)
      if (missing.length > 0) blocks.push(this.#abandoned(unit, missing, newest))
      return blocks
    })
  }

  /** The user message of a round whose first steps were cut: verbatim, or capped like an output. */
  opener(unit: Unit, capped: boolean): Blocks {
    return capped
      ? this.#keep(unit, 'opener', false, () => [this.#cappedUser(unit)])
      : this.unit(unit, 'new', false)
  }

  /** Opens a request whose first shown message is not a user's, as providers require one. */
  opening(): Block {
    return this.#opening
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
    let missing = 0
    for (const call of calls) if (!call.answered) missing++
    let kept = this.#kept.get(row)
    if (
      !kept ||
      kept.missing !== missing ||
      (missing > 0 && kept.newest !== newest) ||
      !sameResults(kept.results, results)
    ) {
      kept = { results, missing, newest, shown: new Map() }
      this.#kept.set(row, kept)
    }
    let found = kept.shown.get(shown)
    if (!found) {
      const blocks = make().map((one) => this.#unfenced(one))
      found = { blocks, tokens: blocks.reduce((sum, { tokens }) => sum + tokens, 0) }
      kept.shown.set(shown, found)
    }
    return found
  }

  /** A block whose text cannot pass for a fence, counted anew where it could. */
  #unfenced(shown: Block): Block {
    const parts = unfenced(shown.parts)
    if (parts === shown.parts) return shown
    const tokens =
      countMessage(this.#policy.counter, { content: parts }) +
      (shown.role === 'system' ? this.#fenceTokens : 0)
    const broken: Block = { ...shown, parts, tokens }
    const missing = this.#missing.get(shown)
    if (missing !== undefined) this.#missing.set(broken, missing)
    return broken
  }

  #head(row: LogRow, message: Message, shown: Shown): Block {
    const { role, trust } = message
    if (isBlank(message)) {
      const stand: Part[] = [{ type: 'text', text: EMPTY_MESSAGE }]
      return block(
        role,
        stand,
        [row.id],
        'empty',
        countMessage(this.#policy.counter, { content: stand }),
        trust,
      )
    }
    const all = partsOf(message)
    const parts = all.filter(
      (part) => part.type !== 'reasoning' || (part.signature !== undefined && shown !== 'old'),
    )
    const whole = parts.length === all.length
    const tokens = whole ? this.#stored(row, message) : countMessage(this.#policy.counter, { content: parts })
    const renamed = parts.map((part) =>
      part.type === 'tool-call' ? { ...part, id: callId(row.id, all.indexOf(part)) } : part,
    )
    return block(
      role,
      renamed,
      [row.id],
      'verbatim',
      role === 'system' ? tokens + this.#fenceTokens : tokens,
      trust,
    )
  }

  #results(unit: Unit, { row, message, joined }: JoinedResults, shown: Shown): Block {
    const { counter, first, old } = this.#policy
    const most = shown === 'new' ? first : shown === 'old' ? old : Math.min(first, shown)
    const several = message.content.length > 1
    const stored = this.#stored(row, message)
    let capped = false
    const outputs = joined.map(({ part, index }): ToolResultPart => {
      const text = asText(part.output)
      // No output is longer than its message.
      if (stored <= most) return part
      const reference = several ? `#${row.ordinal}.${index + 1}` : `#${row.ordinal}`
      const output = capOutput(text, most, counter.count, reference, this.#tokens(row, message, index, text))
      if (output === text) return part
      capped = true
      return { ...part, output }
    })
    const whole = !capped && joined.length === message.content.length
    const tokens = whole ? stored : countMessage(counter, { content: outputs })
    const renamed = outputs.map((part, at) => ({ ...part, callId: renamedCall(unit, joined[at]?.call) }))
    const shorter = block('tool', renamed, [row.id], capped ? 'capped' : 'verbatim', tokens, message.trust)
    if (capped) this.#missing.set(shorter, stored - tokens)
    return shorter
  }

  /** Tokens of one whole output: counted once, however often and short it is shown. */
  #tokens(row: LogRow, message: Message, index: number, text: string): number {
    const outputs = this.#outputs.get(row) ?? []
    this.#outputs.set(row, outputs)
    outputs[index] ??= this.#restOf(row, message) ?? this.#policy.counter.count(text)
    return outputs[index]
  }

  /** Tokens of a message's only result, from what the log says of the whole message. */
  #restOf(row: LogRow, message: Message): number | undefined {
    const { counter } = this.#policy
    const [part, further] = partsOf(message)
    if (part?.type !== 'tool-result' || further || counter.message) return undefined
    return this.#stored(row, message) - countMessage(counter, { content: [{ ...part, output: '' }] })
  }

  #abandoned(unit: Unit, missing: readonly Call[], newest: boolean): Block {
    const parts = missing.map(
      (call): ToolResultPart => ({
        type: 'tool-result',
        callId: call.part.id,
        output: ABANDONED,
        isError: true,
      }),
    )
    const tokens = countMessage(this.#policy.counter, { content: parts })
    const renamed = parts.map((part, at) => ({ ...part, callId: renamedCall(unit, missing[at]) }))
    const errors = block('tool', renamed, [], 'abandoned', tokens, 'system')
    return newest ? { ...errors, section: 'tail' } : errors
  }

  #cappedUser({ row, message }: Unit): Block {
    const { counter, old } = this.#policy
    const stored = this.#stored(row, message)
    if (stored <= old) return this.#head(row, message, 'new')
    const text = textOf(message)
    const shown = capOutput(text, old, counter.count, `#${row.ordinal}`)
    if (shown === text) return this.#head(row, message, 'new')
    const parts: Part[] = [{ type: 'text', text: shown }]
    const tokens = countMessage(counter, { content: parts })
    const shorter = block('user', parts, [row.id], 'capped', tokens, message.trust)
    this.#missing.set(shorter, stored - tokens)
    return shorter
  }
}

function block(
  role: Block['role'],
  parts: readonly Part[],
  from: readonly string[],
  rule: Block['rule'],
  tokens: number,
  trust: Block['trust'],
): Block {
  return { section: 'window', role, parts, from, rule, tokens, trust }
}

/** Whether the same parts of the same rows joined a step. In one order, they then answer the same calls. */
function sameResults(a: readonly JoinedResults[], b: readonly JoinedResults[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ row, joined }, at) => {
      const other = b[at]
      return row === other?.row && joined.every(({ index }, place) => index === other.joined[place]?.index)
    })
  )
}

/**
 * The id under which a call is rendered. Made from the entry's id and the call's place, so it is unique whatever ids the
 * data reuse; 24 characters at most, of those that all providers allow.
 */
export function callId(entry: string, index: number): string {
  return `call_${hashText(entry).slice(0, 14)}_${index}`
}

function renamedCall({ row }: Unit, call: Call | undefined): string {
  return callId(row.id, call?.index ?? 0)
}
