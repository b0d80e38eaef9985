import type { Ask } from '../features/compaction/compaction-options.ts'
import type { Context } from '../ports/context.ts'
import type { Counter } from '../ports/counter.ts'
import type { MessageInput } from '../ports/message.ts'
import type { EpochCause } from '../ports/op.ts'
import type { SummaryFigures } from './summaries.ts'
import type { Conversation } from './transcript.ts'

export const POLICIES = ['plimsoll', 'full', 'rounds', 'messages', 'tokens'] as const
export type PolicyName = (typeof POLICIES)[number]

/** What one call was given, under any policy. */
export interface Choice {
  readonly context: Context
  readonly tokens: number
  /** Messages of the conversation that are neither shown nor summarised. */
  readonly omitted: number
  /** Messages that a summary stands for. */
  readonly covered: number
  /** Items that are shown shorter than they are. */
  readonly capped: number
  readonly epoch?: Epoch
}

/** Which epoch of its lane a context belongs to, counted from 1, and why it began. */
export interface Epoch {
  readonly id: string
  readonly cause: EpochCause
  readonly place: number
}

/** A call for which nothing could be built under the line. */
export interface Refusal {
  readonly reason: string
  /** The least that it could have been cut to, in tokens. */
  readonly floor?: number
}

/** A policy at work on one conversation. */
export interface Chooser {
  /** Contract: called for every message in order, before the call that may see it. */
  append(message: MessageInput): Promise<void>
  choose(tail: string): Promise<Choice | Refusal>
  /** What summaries took so far; nothing where none are written. */
  summaries?(): SummaryFigures | undefined
}

export interface Settings {
  /** The cap, in tokens. */
  readonly budget: number
  /** Most rounds in Plimsoll's window. */
  readonly rounds?: number
  /**
   * Tokens to which Plimsoll's window is cut back, and that the optimum holds at least. Default:
   * half of the budget for the optimum, and what the library takes for Plimsoll.
   */
  readonly floor?: number
  /** Rounds that are left when Plimsoll's window is cut back. */
  readonly keep?: number
  readonly counter: Counter
  /** Whether what leaves Plimsoll's window is summarised. Default `false`. */
  readonly compact?: boolean
  /** How summaries are asked for. Default `continuation`, as of the model that the agent calls. */
  readonly ask?: Ask
}

export type Policy = (conversation: Conversation, settings: Settings) => Chooser

export function isRefusal(outcome: object): outcome is Refusal {
  return 'reason' in outcome
}
