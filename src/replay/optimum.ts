import { capOutput } from '../kernel/context/cap.ts'
import { asText, countMessage, countTools, perRequest } from '../kernel/count.ts'
import { createPolicy } from '../kernel/policy.ts'
import type { MessageInput } from '../ports/message.ts'
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
    // A window that begins before what its calls allow costs more than one that begins there.
    const latest = calls.map((call) => this.#sum(call.end) - this.#least(call))
    const beginnings = [...new Set(latest)].sort((one, other) => one - other)
    /** Least cost so far, by where the newest window begins, in their order. */
    let costs: readonly (readonly [from: number, cost: number])[] = [[Number.NEGATIVE_INFINITY, 0]]
    let before: LineCall | undefined
    for (const [index, call] of calls.entries()) {
      const end = this.#sum(call.end)
      const first = end - Math.max(this.#room - call.tail, this.#least(call))
      const next: [number, number][] = []
      let place = 0
      /** Of windows that do not begin after this one. */
      let least = Number.POSITIVE_INFINITY
      for (const from of beginnings) {
        if (from < first) continue
        if (from > (latest[index] as number)) break
        let same = Number.POSITIVE_INFINITY
        for (; place < costs.length; place++) {
          const [begun, cost] = costs[place] as readonly [number, number]
          if (begun > from) break
          if (begun === from) same = cost
          least = Math.min(least, cost)
        }
        const tokens = this.#head + end - from + call.tail
        const repeated = before ? this.#head + this.#sum(before.end) - from : 0
        const cost = Math.min(
          least + costOf(tokens, before ? this.#head : 0),
          same + costOf(tokens, repeated),
        )
        next.push([from, cost])
      }
      costs = next
      before = call
    }
    return Math.min(...costs.map(([, cost]) => cost))
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
