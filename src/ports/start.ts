import type { FactKind } from './fact.ts'
import type { Role, Trust } from './message.ts'
import type { BudgetTokens } from './settings.ts'

export interface StartOptions {
  /** Facts of this project too, beside those of none. */
  readonly project?: string
  /** What to recall. Default: nothing is. */
  readonly query?: string
  /** A number is the total. What is not given is as in the user's settings. */
  readonly budgetTokens?: number | Partial<BudgetTokens>
  /** The etag of a start that the caller holds. */
  readonly ifNoneMatch?: string
  /** Unix milliseconds; only its UTC day counts. Default: the clock. */
  readonly now?: number
}

/**
 * What a model gets when a session starts: JSON with keys in this order, so that equal starts
 * have equal bytes.
 */
export interface SessionStart {
  /** Facts that hold, of all projects. */
  readonly memory_count: number
  /** By priority, confidence, then the newest first. */
  readonly pinned: readonly PinnedItem[]
  /** By name. */
  readonly skills_index: readonly SkillItem[]
  /** The best at both ends: ranks 1, 3, 5 … 6, 4, 2. */
  readonly context_recall: readonly RecalledItem[]
  /** The first five of the facts to be reviewed today or before, by when. */
  readonly due_for_review: {
    readonly count: number
    readonly first: readonly { readonly id: string; readonly title: string; readonly review_at: number }[]
  }
  /** The first five of the facts of a confidence below 0.5. */
  readonly low_confidence_alerts: {
    readonly count: number
    readonly first: readonly { readonly id: string; readonly title: string; readonly confidence: number }[]
  }
  /** Tokens of this JSON without `budget` and `etag`, and the most that it may take. */
  readonly budget: { readonly used: number; readonly cap: number }
  /** What did not fit. Of what is recalled: of the best 64. */
  readonly overflow: {
    readonly pinned: Overflow
    readonly skills_index: Overflow
    readonly context_recall: Overflow
  }
  /** Hash of the canonical JSON without `budget` and `etag`, keyed by the session's secret. */
  readonly etag: string
}

/** A fact that is pinned, as a session's start shows it. */
export interface PinnedItem {
  readonly id: string
  readonly kind: FactKind
  readonly title: string
  readonly text: string
  readonly project?: string
  readonly status?: 'open' | 'resolved'
  readonly priority: number
  readonly confidence: number
  readonly trust: Trust
}

/** A skill, without its text. */
export interface SkillItem {
  readonly name: string
  readonly description: string
}

/**
 * A message or a fact that was found by what it says; of a text of more than 1 000 characters the
 * beginning.
 */
export type RecalledItem =
  | {
      readonly id: string
      readonly role: Role
      readonly text: string
      readonly trust: Trust
      /** Id of the message's session, where it is another one. */
      readonly session?: string
    }
  | {
      readonly id: string
      readonly kind: FactKind
      readonly text: string
      readonly trust: Trust
      readonly session?: string
    }

/** What of a section did not fit. */
export interface Overflow {
  readonly count: number
  /** What it would take, as it was counted when it was written. */
  readonly tokens: number
  /** The ids (of skills: names) of the first five, in the section's order. */
  readonly first: readonly string[]
}
