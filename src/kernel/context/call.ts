import type { Block } from '../../ports/context.ts'
import type { FloorBreakdown } from '../../ports/errors.ts'
import type { Message, ToolSpec } from '../../ports/message.ts'
import type { Scope } from '../../ports/op.ts'
import type { LogRow } from '../../ports/store.ts'
import { countMessage } from './count.ts'
import type { Covering } from './covering.ts'
import type { Cover, Section } from '../feature.ts'
import { fenced } from '../text/fence.ts'
import type { Conversation } from '../log/fold.ts'
import { hashText } from '../text/hash.ts'
import type { Head, HeadParts, HeadTexts } from './head.ts'
import { invalid } from '../text/json.ts'
import { Measure } from './measure.ts'
import { lowerTrust } from '../log/message.ts'
import type { Policy } from '../policy.ts'
import { floorOf } from './receipt.ts'
import { NOTHING, type Window } from './window.ts'

/** Close a request that would otherwise end with the assistant's own words, or hold no message at all. */
const CONTINUE = 'Continue.'
const BEGIN = 'Begin.'

/** What one call asks for, in the tokens of one epoch. */
export interface Call {
  readonly measure: Measure
  readonly head: Head
  readonly tail: readonly Pick<Section, 'name' | 'text' | 'trust'>[]
  /** Tokens for window and tail together. */
  readonly room: number
}

/** What a head shows beside the app's own instructions. */
export interface HeadInput {
  readonly tools?: readonly ToolSpec[] | undefined
  readonly parts: HeadParts
  readonly covering: Covering | undefined
}

export interface CallsParts {
  readonly policy: Policy
  readonly system: string
  readonly scope: Scope
  readonly cover: Pick<Cover, 'text'> | undefined
}

/** Makes the calls of one lane: their heads, their tails, and what they are counted by. */
export class Calls {
  readonly #parts: CallsParts
  readonly #counts = new WeakMap<LogRow, number>()
  /** The two that were asked for last: of the epoch that holds, and of the one that may begin. */
  #measures: readonly Measure[] = []
  /** The last tail that was made, since an epoch that goes on needs it twice. */
  #closing: { readonly measure: Measure; readonly text: string; readonly block: Block } | undefined
  #fenced: { readonly place: number; readonly tag: string } | undefined

  constructor(parts: CallsParts) {
    this.#parts = parts
  }

  with(measure: Measure, texts: HeadTexts, tail: Call['tail']): Call {
    const head = measure.head(texts)
    return { measure, head, tail: tail.filter(({ text }) => text !== ''), room: measure.room(head) }
  }

  /** The texts of a head in the epoch of that place. */
  texts({ tools, parts, covering }: HeadInput, place: number): HeadTexts {
    const { cover, system } = this.#parts
    const tag = this.fence(place)
    const told = covering && cover ? cover.text(covering, tag) : ''
    const sections = Object.values(parts)
      .flatMap((part) => part.sections)
      .sort((one, other) => one.at - other.at)
    const memory = sections.filter((section) => section.in === 'memory')
    const trusts = [
      ...memory.map(({ trust }) => trust),
      ...(covering && told !== '' ? [covering.mark.trust] : []),
    ]
    return {
      system: [system, ...sections.flatMap((section) => (section.in === 'system' ? section.text : []))]
        .filter((text) => text !== '')
        .join('\n\n'),
      memory: [...memory.map(({ name, text }) => fenced(tag, name, text)), told]
        .filter((text) => text !== '')
        .join('\n'),
      ...(trusts.length > 0 && { trust: trusts.reduce(lowerTrust) }),
      ...(covering && told !== '' && { summary: covering.mark.id }),
      ...(Object.keys(parts).length > 0 && { parts }),
      tools: tools?.length ? JSON.stringify(tools) : '',
    }
  }

  /** The same call with another summary. */
  covering({ measure, head, tail }: Call, covering: Covering | undefined, place: number): Call {
    const { system, tools, parts = {} } = head
    return this.with(measure, { ...this.texts({ parts, covering }, place), system, tools }, tail)
  }

  measureBy(calibration: number): Measure {
    const known = this.#measures.find((measure) => measure.calibration === calibration)
    const measure =
      known ?? new Measure(this.#parts.policy, calibration, (row, message) => this.count(row, message))
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

  /** What the counter says that its counts should be multiplied by. @throws ERR_INVALID_ARGUMENT */
  reported(): number | undefined {
    const { counter } = this.#parts.policy
    const calibration = counter.calibration?.()
    if (calibration === undefined || (Number.isFinite(calibration) && calibration > 0)) return calibration
    throw invalid(`counter ${counter.id}`, 'its calibration', 'must be above 0')
  }

  /** The tag for text that is data; derived from session, lane and the epoch's place, never random. */
  fence(place: number): string {
    if (this.#fenced?.place !== place) {
      const { scope, policy } = this.#parts
      const tag = `ctx-${hashText(JSON.stringify([scope.sessionId ?? '', policy.lane, place])).slice(0, 8)}`
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
    if (made?.measure === measure && made.text === text && made.block.trust === trust) return made.block
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

  /** Tokens of a whole message by the policy's counter. */
  count(row: LogRow, message: Message): number {
    let tokens = this.#counts.get(row)
    if (tokens === undefined) {
      const { counter } = this.#parts.policy
      tokens = storedCount(row, counter.id) ?? countMessage(counter, message)
      this.#counts.set(row, tokens)
    }
    return tokens
  }
}

/** Tokens that a counter found when the row was written. */
function storedCount({ derived }: LogRow, counter: string): number | undefined {
  return derived === undefined ? undefined : (JSON.parse(derived) as { [counter: string]: number })[counter]
}
