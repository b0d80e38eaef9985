import type { Block } from '../ports/context.ts'
import type { FloorBreakdown } from '../ports/errors.ts'
import type { Message, ToolSpec } from '../ports/message.ts'
import type { Scope } from '../ports/op.ts'
import type { LogRow } from '../ports/store.ts'
import { countMessage } from './count.ts'
import { fenced } from './fence.ts'
import type { Conversation } from './fold.ts'
import { hashText } from './hash.ts'
import type { Head, HeadTexts } from './head.ts'
import { invalid } from './json.ts'
import type { Known } from './long-term/known.ts'
import { type Extent, type Remembered, remember, type Section } from './long-term/remembered.ts'
import { Measure } from './measure.ts'
import { lowerTrust } from './message.ts'
import type { Limits, Policy } from './policy.ts'
import { floorOf } from './receipt.ts'
import { type CurrentSummary, memoryText } from './summary.ts'
import { NOTHING, type Window } from './window.ts'

/** Close a request that would otherwise end with the assistant's own words, or hold no message at all. */
const CONTINUE = 'Continue.'
const BEGIN = 'Begin.'

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

/** What a head shows beside the app's own instructions and tools. */
export interface ShownInHead {
  readonly summary?: CurrentSummary | undefined
  readonly remembered?: Remembered | undefined
}

export interface TailSection {
  /** Labels the section's fence: 1 to 64 letters, digits, dashes and underscores. */
  readonly name: string
  readonly text: string
}

/** What one call asks for, in the tokens of one epoch. */
export interface Call {
  readonly measure: Measure
  readonly head: Head
  readonly tail: readonly Section[]
  /** Tokens for window and tail together. */
  readonly room: number
}

/** Turns what an app asks for into calls of one session and policy: their heads, their tails, and what they are counted by. */
export class Calls {
  readonly #policy: Policy
  readonly #system: string
  readonly #scope: Scope
  readonly #counts = new WeakMap<LogRow, number>()
  /** The two that were asked for last: of the epoch that holds, and of the one that may begin. */
  #measures: readonly Measure[] = []
  /** The last tail that was made, since an epoch that goes on needs it twice. */
  #closing: { readonly measure: Measure; readonly text: string; readonly block: Block } | undefined
  #remembered: readonly {
    readonly known: Known
    readonly calibration: number
    readonly extent: Extent
    readonly remembered: Remembered | undefined
  }[] = []
  #fenced: { readonly place: number; readonly tag: string } | undefined

  constructor(policy: Policy, system: string, scope: Scope) {
    this.#policy = policy
    this.#system = system
    this.#scope = scope
  }

  /** What a call asks for, in the epoch of that place. */
  make(
    calibration: number,
    options: ContextOptions,
    place: number,
    shown: ShownInHead,
    own: readonly Section[],
  ): Call {
    const { tail = [] } = options
    const given = typeof tail === 'string' ? [{ name: 'context', text: tail }] : tail
    const sections = [...own, ...given.map((section) => ({ trust: 'user' as const, ...section }))]
    return this.with(
      this.measureBy(calibration),
      this.texts(options, place, shown),
      sections.filter(({ text }) => text !== ''),
    )
  }

  with(measure: Measure, texts: HeadTexts, tail: readonly Section[]): Call {
    const head = measure.head(texts)
    return { measure, head, tail, room: measure.room(head) }
  }

  texts(
    { tools }: Pick<ContextOptions, 'tools'>,
    place: number,
    { summary, remembered }: ShownInHead,
  ): HeadTexts {
    const tag = this.fence(place)
    const told = summary ? memoryText(summary, tag) : ''
    const sections = remembered?.memory ?? []
    const trusts = [
      ...sections.map(({ trust }) => trust),
      ...(summary && told !== '' ? [summary.mark.trust] : []),
    ]
    return {
      system: [this.#system, remembered?.system ?? ''].filter((text) => text !== '').join('\n\n'),
      memory: [...sections.map(({ name, text }) => fenced(tag, name, text)), told]
        .filter((text) => text !== '')
        .join('\n'),
      ...(trusts.length > 0 && { trust: trusts.reduce(lowerTrust) }),
      ...(summary && told !== '' && { summary: summary.mark.id }),
      ...(remembered && { remembered }),
      tools: tools?.length ? JSON.stringify(tools) : '',
    }
  }

  /** What a head of that calibration shows of what is known. The last ones are kept. */
  remember(known: Known, calibration: number, extent: Extent): Remembered | undefined {
    const kept = this.#remembered.find(
      (one) => one.known === known && one.calibration === calibration && one.extent === extent,
    )
    if (kept) return kept.remembered
    const { counter } = this.measureBy(calibration).policy
    const remembered = remember(known, this.#policy.sections, counter.count, extent)
    this.#remembered = [{ known, calibration, extent, remembered }, ...this.#remembered].slice(0, 4)
    return remembered
  }

  measureBy(calibration: number): Measure {
    const known = this.#measures.find((measure) => measure.calibration === calibration)
    const measure =
      known ?? new Measure(this.#policy, calibration, (row, message) => this.count(row, message))
    if (measure !== this.#measures[0])
      this.#measures = [measure, ...this.#measures.filter((one) => one !== measure).slice(0, 1)]
    return measure
  }

  /** The least that a call can be cut to. */
  floor({ measure, head, tail }: Call, conversation: Conversation, place: number): FloorBreakdown {
    const layout = measure.layout(conversation)
    const { units } = conversation
    const newest = units.length > 0 ? layout.window(units.length - 1, 0, {}) : NOTHING
    const closing = this.tail({ measure, tail }, newest, place)?.tokens ?? 0
    return floorOf(measure.policy, head, { ...layout.floor(), tail: closing })
  }

  /** Tokens of a whole message by the policy's counter. */
  count(row: LogRow, message: Message): number {
    let tokens = this.#counts.get(row)
    if (tokens === undefined) {
      const { counter } = this.#policy
      tokens = storedCount(row, counter.id) ?? countMessage(counter, message)
      this.#counts.set(row, tokens)
    }
    return tokens
  }

  /** What the counter says that its counts should be multiplied by. @throws ERR_INVALID_ARGUMENT */
  reported(): number | undefined {
    const { counter } = this.#policy
    const calibration = counter.calibration?.()
    if (calibration === undefined || (Number.isFinite(calibration) && calibration > 0)) return calibration
    throw invalid(`counter ${counter.id}`, 'its calibration', 'must be above 0')
  }

  /** The tag for text that is data; derived from session, lane and the epoch's place, never random. */
  fence(place: number): string {
    if (this.#fenced?.place !== place) {
      const tag = `ctx-${hashText(JSON.stringify([this.#scope.sessionId ?? '', this.#policy.lane, place])).slice(0, 8)}`
      this.#fenced = { place, tag }
    }
    return this.#fenced.tag
  }

  /** The last block of the request, where there is something to say or the request must not end as it is. */
  tail(
    { measure, tail }: Pick<Call, 'measure' | 'tail'>,
    { blocks, waiting }: Window,
    place: number,
  ): Block | undefined {
    const last = waiting.at(-1) ?? blocks.at(-1)
    const spoken = tail.map(({ name, text }) => fenced(this.fence(place), name, text)).join('\n')
    if (spoken === '' && last && last.role !== 'assistant') return undefined
    const text = spoken || (last ? CONTINUE : BEGIN)
    const trust = tail.map(({ trust }) => trust).reduce(lowerTrust, 'user')
    const made = this.#closing
    if (made?.measure !== measure || made.text !== text || made.block.trust !== trust) {
      const block: Block = {
        section: 'tail',
        role: 'user',
        parts: [{ type: 'text', text }],
        from: [],
        rule: spoken ? 'tail' : 'continue',
        tokens: countMessage(measure.policy.counter, { content: text }),
        trust,
      }
      this.#closing = { measure, text, block }
      return block
    }
    return made.block
  }
}

/** Tokens that a counter found when the row was written. */
function storedCount({ derived }: LogRow, counter: string): number | undefined {
  return derived === undefined ? undefined : (JSON.parse(derived) as { [counter: string]: number })[counter]
}
