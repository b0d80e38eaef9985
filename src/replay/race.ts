import type { Context } from '../ports/context.ts'
import type { Counter } from '../ports/counter.ts'
import { isPlimsollError } from '../ports/errors.ts'
import type { CacheBreak, Figures } from './figures.ts'
import type { Epoch } from './policy.ts'
import { newTallies, type Outcomes, replay } from './replay.ts'
import type { Conversation } from './transcript.ts'

/**
 * The policies that race: Plimsoll, everything, the last 40 messages, the newest messages that fit.
 */
export const RACERS = ['plimsoll', 'full', 'messages', 'tokens'] as const
export type Racer = (typeof RACERS)[number]

export interface RaceSettings {
  /** The line, in tokens. */
  readonly budget: number
  readonly counter: Counter
  /** Contract: awaited at short intervals; rejects to end the race. */
  readonly pause: () => Promise<void>
}

/** A conversation, and its line in the log. */
export interface RacedConversation {
  readonly conversation: Conversation
  /** From 1. */
  readonly line: number
}

/** One call, and what every policy gave it. */
export interface RacedCall {
  /** In its conversation, from 0. */
  readonly number: number
  /** What the call answers. */
  readonly answers: string
  readonly outcomes: Outcomes<Racer>
}

/** One policy's result so far. */
export interface Lane {
  readonly racer: Racer
  readonly figures: Figures
  /** Calls whose request did not begin with all of the one before. */
  readonly breaks: number
  readonly firstBreak: CacheBreak | undefined
}

/**
 * Every policy plays every conversation of a log: the race of the inspector's page, and what the
 * bench draws and tells of it in the benchmarks.
 */
export class Race {
  /** By the conversation's place in the log. */
  readonly calls: RacedCall[][] = []
  /** Conversations that no memory took to their end. */
  readonly refused: { readonly line: number; readonly reason: string }[] = []
  /** Conversations that are through. */
  done = 0
  readonly #tallies = newTallies(RACERS)

  /** Contract: called once. Rejects where `pause` does. */
  async run(conversations: readonly RacedConversation[], settings: RaceSettings): Promise<void> {
    for (const { conversation, line } of conversations) {
      const calls: RacedCall[] = []
      this.calls.push(calls)
      try {
        const racing = { ...settings, policy: 'plimsoll', tail: 0 } as const
        const replayed = replay<Racer>(conversation, racing, this.#tallies)
        for await (const { call, answers, outcomes } of replayed)
          calls.push({ number: call, answers, outcomes })
      } catch (error) {
        if (!isPlimsollError(error)) throw error
        this.refused.push({ line, reason: error.message })
      }
      this.done++
    }
  }

  lanes(): readonly Lane[] {
    return RACERS.map((racer) => {
      const { breaks, firstBreak } = this.#tallies[racer]
      return { racer, figures: this.#tallies[racer].figures(), breaks, firstBreak }
    })
  }
}

/** What Plimsoll gave a call. */
export interface GivenContext {
  readonly context: Context
  readonly epoch?: Epoch
}

/**
 * What Plimsoll gives every call of a conversation, exactly as in the race; nothing for a call that
 * it refuses.
 */
export async function contextsOf(
  conversation: Conversation,
  settings: RaceSettings,
): Promise<readonly (GivenContext | undefined)[]> {
  const contexts: (GivenContext | undefined)[] = []
  const replayed = replay(
    conversation,
    { ...settings, policy: 'plimsoll', tail: 0 },
    newTallies(['plimsoll']),
  )
  try {
    for await (const { context, epoch } of replayed)
      contexts.push(context && { context, ...(epoch && { epoch }) })
  } catch (error) {
    if (!isPlimsollError(error)) throw error
  }
  return contexts
}
