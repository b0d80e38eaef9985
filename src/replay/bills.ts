import type { Counter } from '../ports/counter.ts'
import { costOf } from './cost.ts'
import { Line, type LineCall } from './optimum.ts'
import { isRefusal } from './policy.ts'
import { newTallies, type Outcome, replay } from './replay.ts'
import type { Conversation } from './transcript.ts'

/** Who is billed: Plimsoll, everything at each call, and the least that a window can cost. */
export type Billed = 'plimsoll' | 'full' | 'optimum'

export interface BillSettings {
  /** The line, in tokens. Plimsoll's window is cut back to a quarter of it. */
  readonly budget: number
  readonly counter: Counter
  /** Contract: awaited at short intervals; rejects to end the work. */
  readonly pause: () => Promise<void>
}

/** One call under one policy. */
export interface BilledCall {
  /** Of the request; 0 for one that was refused. */
  readonly tokens: number
  /** Of all calls so far, in tokens of fresh input: `costOf`. */
  readonly cost: number
}

/** One conversation under each policy, call by call. */
export interface Bills {
  /** The line, in tokens. */
  readonly budget: number
  readonly calls: { readonly [Each in Billed]: readonly BilledCall[] }
}

/**
 * What each call of a recorded conversation sends, and what all so far have cost, counted in whole
 * blocks for all three alike.
 *
 * @throws ERR_* where no memory takes the conversation; what `pause` rejects with
 */
export async function billsOf(
  conversation: Conversation,
  { budget, counter, pause }: BillSettings,
): Promise<Bills> {
  const settings = { budget, floor: Math.floor(budget / 4), counter, tail: 0, policy: 'plimsoll' } as const
  const line = new Line(conversation, settings)
  const tallies = newTallies(['plimsoll', 'full'])
  const plimsoll: BilledCall[] = []
  const full: BilledCall[] = []
  const shown: LineCall[] = []
  for await (const { outcomes } of replay<'plimsoll' | 'full'>(
    conversation,
    { ...settings, pause, line: () => line },
    tallies,
  )) {
    plimsoll.push(billed(outcomes.plimsoll, plimsoll.at(-1)))
    full.push(billed(outcomes.full, full.at(-1)))
    if (!isRefusal(outcomes.plimsoll))
      shown.push({ end: line.length, shown: windowOf(outcomes.plimsoll), tail: 0 })
  }
  const optimum: BilledCall[] = []
  const requests = line.requests(shown).values()
  for (const { tokens: sent } of plimsoll) {
    const cost = optimum.at(-1)?.cost ?? 0
    // What Plimsoll does not send, it need not send.
    const request = sent === 0 ? undefined : requests.next().value
    if (!request) optimum.push({ tokens: 0, cost })
    else optimum.push({ tokens: request.tokens, cost: cost + costOf(request.tokens, request.repeated) })
  }
  return { budget, calls: { plimsoll, full, optimum } }
}

function billed(outcome: Outcome, before: BilledCall = { tokens: 0, cost: 0 }): BilledCall {
  if (isRefusal(outcome)) return { tokens: 0, cost: before.cost }
  const { tokens, repeated = 0 } = outcome
  return { tokens, cost: before.cost + costOf(tokens, repeated) }
}

function windowOf(outcome: Outcome): number {
  if (isRefusal(outcome)) return 0
  return outcome.sections.reduce((sum, { name, tokens }) => (name === 'window' ? sum + tokens : sum), 0)
}
