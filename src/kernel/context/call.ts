import type { Block } from '../../ports/context.ts'
import { defined } from '../../ports/defined.ts'
import type { FloorBreakdown } from '../../ports/errors.ts'
import type { Message, ToolSpec } from '../../ports/message.ts'
import type { Scope } from '../../ports/op.ts'
import type { LogRow } from '../../ports/store.ts'
import { fenced } from '../../text/fence.ts'
import { hashText } from '../../text/hash.ts'
import { invalid } from '../../text/json.ts'
import { countMessage } from '../count.ts'
import type { Cover, Covering } from '../cover.ts'
import type { Conversation } from '../log/fold.ts'
import { lowerTrust, said } from '../log/message.ts'
import type { Policy } from '../policy.ts'
import { type HeadParts, type HeadTexts, sectionsIn } from './head.ts'
import { keeper } from './keeper.ts'
import { type Call, Measure } from './measure.ts'
import { floorOf } from './receipt.ts'
import type { Secret } from './secret.ts'
import type { Window } from './window.ts'

/** Close a request that would end with the assistant's own words, or hold no message at all. */
const CONTINUE = 'Continue.'
const BEGIN = 'Begin.'

/** What a head shows beside the app's own instructions. */
export interface HeadInput {
  readonly tools?: readonly ToolSpec[] | undefined
  readonly system?: string | undefined
  readonly parts: HeadParts
  readonly covering: Covering | undefined
}

export interface CallsParts {
  readonly policy: Policy
  readonly system: string
  readonly scope: Scope
  readonly secret: Secret
}

/** Makes the calls of one lane: their heads, their tails, and what they are counted by. */
export class Calls {
  readonly #parts: CallsParts
  readonly #cover: Pick<Cover, 'text'> | undefined
  readonly #counts = new WeakMap<LogRow, number>()
  /** Of the epoch that holds, and of the one that may begin. */
  readonly #measures = keeper<Measure>(2)
  /** An epoch that goes on needs its tail twice. */
  readonly #closings = keeper<Block>(1)
  readonly #fences = keeper<string>(1)
  readonly #texts = keeper<HeadTexts>(2)

  constructor(parts: CallsParts, cover: Pick<Cover, 'text'> | undefined) {
    this.#parts = parts
    this.#cover = cover
  }

  /** A call at a calibration, in the epoch of that place. */
  make(calibration: number, place: number, input: HeadInput, tail?: Call['tail']): Call {
    return this.measureBy(calibration).call(this.texts(input, place), place, tail)
  }

  /** The texts of a head in the epoch of that place. */
  texts({ tools, system, parts, covering }: HeadInput, place: number): HeadTexts {
    const told = tools?.length ? JSON.stringify(tools) : ''
    return this.#texts([told, system, parts, covering, place], () =>
      this.#textsOf(told, { system, parts, covering }, place),
    )
  }

  #textsOf(tools: string, { system: asked = '', parts, covering }: HeadInput, place: number): HeadTexts {
    const { system } = this.#parts
    const tag = this.fence(place)
    const told = (covering && this.#cover?.text(covering, tag)) ?? ''
    const sections = sectionsIn(parts).filter(({ text }) => text !== '')
    const inSystem = sections.flatMap((section) => (section.in === 'system' ? section.text : []))
    const inMemory = sections.filter((section) => section.in === 'memory')
    const summary = told === '' ? undefined : covering?.mark
    const trusts = [...inMemory, ...(summary ? [summary] : [])].map(({ trust }) => trust)
    return defined({
      // An app may give its instructions in both places.
      system: [...new Set([system, asked, ...inSystem])].filter((text) => text !== '').join('\n\n'),
      memory: [...inMemory.map(({ name, text }) => fenced(tag, name, text)), ...(summary ? [told] : [])].join(
        '\n',
      ),
      trust: trusts.length > 0 ? trusts.reduce(lowerTrust) : undefined,
      summary: summary?.id,
      parts: Object.keys(parts).length > 0 ? parts : undefined,
      tools,
    })
  }

  /** The same call with another summary. */
  covering({ measure, head, tail, place }: Call, covering: Covering | undefined): Call {
    const { system, tools, parts = {} } = head
    return measure.call({ ...this.texts({ parts, covering }, place), system, tools }, place, tail)
  }

  measureBy(calibration: number): Measure {
    const { policy, secret } = this.#parts
    const make = () => new Measure(policy, secret, calibration, (row, message) => this.count(row, message))
    return this.#measures([calibration], make)
  }

  /** The least that a call can be cut to. */
  floor(call: Call, conversation: Conversation): FloorBreakdown {
    const { measure, head } = call
    const layout = measure.layout(conversation)
    const tail = this.tail(call, layout.newest())?.tokens ?? 0
    return floorOf(measure.policy, head, { ...layout.floor(), tail })
  }

  /** What the counter says that its counts should be multiplied by. @throws ERR_INVALID_ARGUMENT */
  reported(): number | undefined {
    const { counter } = this.#parts.policy
    const calibration = counter.calibration?.()
    if (calibration === undefined || (Number.isFinite(calibration) && calibration > 0)) return calibration
    throw invalid(`counter ${counter.id}`, 'its calibration', 'must be above 0')
  }

  /** The tag for text that is data, made from session, lane and the epoch's place. */
  fence(place: number): string {
    const { scope, policy } = this.#parts
    const by = () => JSON.stringify([scope.sessionId, policy.lane, place])
    return this.#fences([place], () => `ctx-${hashText(by()).slice(0, 8)}`)
  }

  /** The last block, where there is something to say or the request must not end as it is. */
  tail(
    { measure, tail, place }: Omit<Call, 'head' | 'room'>,
    { blocks, waiting }: Window,
  ): Block | undefined {
    const last = waiting.at(-1) ?? blocks.at(-1)
    if (tail.length === 0 && last && last.role !== 'assistant') return undefined
    const sections = tail.filter(({ text }) => text !== '')
    const spoken = sections.map(({ name, text }) => fenced(this.fence(place), name, text)).join('\n')
    if (spoken === '' && last && last.role !== 'assistant') return undefined
    const text = spoken || (last ? CONTINUE : BEGIN)
    const trust = sections.map(({ trust }) => trust).reduce(lowerTrust, 'user')
    return this.#closings([measure, text, trust], () => ({
      section: 'tail',
      role: 'user',
      parts: said(text),
      from: [],
      rule: spoken ? 'tail' : 'continue',
      tokens: countMessage(measure.policy.counter, { content: text }),
      trust,
    }))
  }

  /** Tokens of a whole message by the policy's counter, as stored with the row if they are. */
  count(row: LogRow, message: Message): number {
    const { counter } = this.#parts.policy
    const stored = () =>
      row.derived === undefined
        ? undefined
        : (JSON.parse(row.derived) as { readonly [counter: string]: number })[counter.id]
    const tokens = this.#counts.get(row) ?? stored() ?? countMessage(counter, message)
    this.#counts.set(row, tokens)
    return tokens
  }
}
