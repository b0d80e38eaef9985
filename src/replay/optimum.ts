import { asText, countMessage, countTools, perRequest } from '../kernel/count.ts'
import { createPolicy } from '../kernel/policy.ts'
import type { MessageInput } from '../ports/message.ts'
import { capOutput } from '../text/cap.ts'
import { costOf } from './cost.ts'
import type { Settings } from './policy.ts'
import type { Conversation } from './transcript.ts'

/** A call that a policy answered, as much as its optimum is found by. */
export interface LineCall {
  /** Messages before it. */
  readonly end: number
  /** Tokens of the window that the policy showed. */
  readonly shown: number
  /** Tokens that are new at every call. */
  readonly tail: number
}

/** A request of the optimum: its tokens, and how many of them repeat the request before. */
export interface LineRequest {
  readonly tokens: number
  readonly repeated: number
}

/** How windows went up to a call. */
interface Way {
  /** Where its newest window begins. */
  readonly from: number
  readonly cost: number
  readonly request?: LineRequest
  readonly before?: Way
}

/**
 * What the calls of one conversation cost at least with a window that is an end of the
 * conversation, which is known in advance: never over the cap, and at each call at least as many
 * tokens as the policy showed, up to the floor. Found by dynamic program over where windows begin,
 * which may be at any token: so no policy that shows an end, shortened outputs or not, costs less.
 * Outputs count as Plimsoll shows them at first.
 */
export class Line {
  /** Tokens of all messages before each. */
  readonly #sums = [0]
  readonly #settings: Settings
  readonly floor: number
  readonly #room: number
  readonly #first: number
  readonly #head: number

  constructor({ system, tools }: Conversation, settings: Settings) {
    const { budget, counter } = settings
    const { cap, margin, first } = createPolicy({ budget }, counter, () => ({}))
    this.#settings = settings
    this.#first = first
    this.floor = settings.floor ?? Math.floor(budget / 2)
    const opening = system === undefined ? 0 : countMessage(counter, { content: system })
    this.#head = opening + countTools(counter, tools) + perRequest(counter)
    this.#room = cap - margin - this.#head
  }

  get length(): number {
    return this.#sums.length - 1
  }

  /** Tokens that a window can hold of all so far: `tokens`, if there are as many. */
  leastOf(tokens: number): number {
    return Math.min(tokens, this.#sum(this.length))
  }

  append(message: MessageInput): void {
    this.#sums.push(this.#sum(this.length) + this.#size(message))
  }

  /** Cost of all calls together. */
  cost(calls: readonly LineCall[]): number {
    return this.requests(calls).reduce((sum, { tokens, repeated }) => sum + costOf(tokens, repeated), 0)
  }

  /** The requests of the cheapest windows, one a call. */
  requests(calls: readonly LineCall[]): readonly LineRequest[] {
    // A window that begins before what its calls allow costs more than one that begins there.
    const latest = calls.map((call) => this.#sum(call.end) - this.#least(call))
    const beginnings = [...new Set(latest)].sort((one, other) => one - other)
    /** The cheapest ways so far, by where the newest window begins, in their order. */
    let ways: readonly Way[] = [{ from: Number.NEGATIVE_INFINITY, cost: 0 }]
    let before: LineCall | undefined
    for (const [index, call] of calls.entries()) {
      const end = this.#sum(call.end)
      const first = end - Math.max(this.#room - call.tail, this.#least(call))
      const next: Way[] = []
      let place = 0
      /** Of windows that do not begin after this one. */
      let cheapest: Way | undefined
      for (const from of beginnings) {
        if (from < first) continue
        if (from > (latest[index] as number)) break
        let same: Way | undefined
        for (; place < ways.length; place++) {
          const way = ways[place] as Way
          if (way.from > from) break
          if (way.from === from) same = way
          if (way.cost < (cheapest?.cost ?? Number.POSITIVE_INFINITY)) cheapest = way
        }
        const tokens = this.#head + end - from + call.tail
        for (const [way, repeated] of [
          [cheapest, before ? this.#head : 0],
          [same, before ? this.#head + this.#sum(before.end) - from : 0],
        ] as const) {
          if (!way) continue
          const cost = way.cost + costOf(tokens, repeated)
          const held = next.at(-1)
          if (held?.from !== from) next.push({ from, cost, request: { tokens, repeated }, before: way })
          else if (cost < held.cost)
            next[next.length - 1] = { from, cost, request: { tokens, repeated }, before: way }
        }
      }
      ways = next
      before = call
    }
    const requests: LineRequest[] = []
    let way = ways.reduce<Way | undefined>(
      (least, one) => (least && least.cost <= one.cost ? least : one),
      undefined,
    )
    for (; way?.request; way = way.before) requests.push(way.request)
    return requests.reverse()
  }

  /** Tokens that the window of a call has to hold. */
  #least({ end, shown, tail }: LineCall): number {
    return Math.min(this.floor, shown, this.#sum(end), Math.max(0, this.#room - tail))
  }

  #sum(end: number): number {
    return this.#sums[end] ?? 0
  }

  #size({ content }: MessageInput): number {
    const { counter } = this.#settings
    if (typeof content === 'string') return countMessage(counter, { content })
    const shown = content.flatMap((part) => {
      if (part.type === 'reasoning' && !part.signature) return []
      if (part.type !== 'tool-result') return part
      return { ...part, output: capOutput(asText(part.output), this.#first, counter.count, '#1') }
    })
    return countMessage(counter, { content: shown })
  }
}
