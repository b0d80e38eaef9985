import type { FactKind } from './fact.ts'
import type { Role, Trust } from './message.ts'
import type { StartBudget } from './settings.ts'

export interface StartOptions {
  /** Facts of this project too, beside those of none. Default: the session's. */
  readonly project?: string
  /** What to recall. Default: facts of the project, by priority, then the newest first. */
  readonly query?: string
  /**
   * Whose facts are counted and recalled beside the user's own: those of all sessions, or of this
   * one alone. Default `all`.
   */
  readonly sessions?: 'all' | 'own'
  /** A number is that of the whole. What is not given is as in the user's settings. */
  readonly budgetTokens?: number | Partial<StartBudget>
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
  /** Facts that hold: the user's own and those of the sessions, of all projects. */
  readonly memory_count: number
  /** By priority, strength, confidence, then the newest first. */
  readonly pinned: readonly PinnedItem[]
  /** By name. */
  readonly skills_index: readonly SkillItem[]
  /** The best at both ends: ranks 1, 3, 5 … 6, 4, 2. */
  readonly context_recall: readonly RecalledItem[]
  /** Facts to be reviewed today or before. */
  readonly due_for_review: number
  /** The first five of the facts of a confidence below 0.5. */
  readonly low_confidence_alerts: readonly {
    readonly id: string
    readonly title: string
    readonly confidence: number
  }[]
  /** Tokens of all of this JSON by the memory's counter, and the most that it may take. */
  readonly budget: { readonly used: number; readonly cap: number }
  /** What did not fit. Of what is recalled: of the best 64. */
  readonly overflow: {
    readonly pinned: Overflow
    readonly skills_index: Overflow
    readonly context_recall: Overflow
    /** How many beside the first five. */
    readonly low_confidence_alerts: number
  }
  /** The first five of the facts to be reviewed, by when. */
  readonly due: readonly { readonly id: string; readonly title: string; readonly review_at: number }[]
  /** Only where `recall()` is not in use: then no query finds anything, and none is looked for. */
  readonly recall?: 'not in use'
  /** Hash of the canonical JSON without `budget` and `etag`, keyed by the session's secret. */
  readonly etag: string
}

/** A fact that is pinned, as a session's start shows it. */
export interface PinnedItem {
  readonly id: string
  readonly title: string
  readonly content: string
  /** What the item takes in this JSON, as it was counted when the fact was written. */
  readonly tokens: number
}

/** A skill, without its text. */
export interface SkillItem {
  readonly name: string
  readonly description: string
}

/** A message or a fact that was found by what it says, or that its project kept. */
export interface RecalledItem {
  readonly id: string
  /** The beginning, a sentence of at most 80 characters. */
  readonly title: string
  /** To compare items of one start by; it means nothing else. */
  readonly score: number
  /** Of a fact. */
  readonly kind?: FactKind
  /** Of a message. */
  readonly role?: Role
  readonly trust: Trust
  /** Id of the session that kept it, where it is another one. */
  readonly session?: string
  /** Of more than 1 000 characters the beginning. Absent: there was no room for it. */
  readonly text?: string
}

/** What of a section did not fit. */
export interface Overflow {
  readonly count: number
  /** What it would take, as it was counted when it was written. */
  readonly tokens: number
  /** The ids (of skills: names) of the first five, in the section's order. */
  readonly first: readonly string[]
}
