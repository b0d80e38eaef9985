import type { Json, Trust } from './message.ts'
import type { Sum } from './store.ts'

/** What the keys of facts' registers begin with, and sources that are facts. */
export const FACT = 'fact/'

/**
 * - `finding`: something that was found out. `blocker`: something that is in the way, open or
 *   resolved. `correction`: what is right where something else was believed. These three belong to
 *   one session.
 * - `preference`, `constraint`: what a user likes, and what must or must not be done. Remembered on
 *   the user's word, these two are shared by all of the user's sessions; from any other source, and
 *   where they were extracted, they stay in their session until they are promoted.
 */
export type FactKind = 'finding' | 'blocker' | 'correction' | 'preference' | 'constraint'

/**
 * Something that is remembered: the register `fact/<id>` of a session's scope, or of its user's.
 */
export interface Fact {
  readonly id: string
  readonly kind: FactKind
  /** At most 80 code points, one line. */
  readonly title: string
  readonly text: string
  /** Shown only where this project is asked for; without one: everywhere. */
  readonly project?: string
  /** Of blockers. */
  readonly status?: 'open' | 'resolved'
  /**
   * Part of the system section of every context, as far as there is room. Only facts of trust
   * `user` or above are.
   */
  readonly pinned: boolean
  /**
   * 0 to 9; more comes first. Default: correction 7, blocker 6, constraint 5, preference 4, finding
   * 3.
   */
  readonly priority: number
  /**
   * 0 to 99: how well it held when it was reviewed. Of two of one priority the stronger comes
   * first. Absent: 0.
   */
  readonly strength?: number
  /** 0 to 1. Below 0.5 it is listed as doubtful. */
  readonly confidence: number
  /** The lowest of its speaker and of its sources: `user` at most. */
  readonly trust: Trust
  /**
   * Ids of the messages that it was taken from, and keys (`fact/<id>`) of facts. What empties one
   * of them empties the fact.
   */
  readonly sources: readonly string[]
  /** Id of the fact that it replaces. */
  readonly supersedes?: string
  /** Id of the fact that replaced it: it shows no more unless it is asked for. */
  readonly supersededBy?: string
  /** Whose word raised it to trust `user`: what it was before. */
  readonly promotedFrom?: Trust
  /**
   * It was taken from what was said, and nobody asked for it: it stays in its session until it is
   * promoted, which takes the mark off.
   */
  readonly extracted?: true
  /** Unix milliseconds. */
  readonly createdAt: number
  readonly reviewAt: number
  readonly expiresAt?: number
  /** State of the app's review schedule. */
  readonly review?: Json
}

/** A fact as an app hands it over. */
export interface FactInput {
  readonly kind: FactKind
  /**
   * What cannot be seen is taken out of it: control characters but newlines and tabs, and what
   * turns or hides text.
   */
  readonly text: string
  /**
   * One line of at most 80 code points; longer ones are cut. Default: the beginning of the text,
   * its first sentence at most.
   */
  readonly title?: string
  readonly project?: string
  /** Needs trust `user` or above. Default: true for a constraint of such trust, else false. */
  readonly pinned?: boolean
  /** 0 to 9. Default: see {@link Fact.priority}. */
  readonly priority?: number
  /** 0 to 1. Default: 1 from trust `user` up, else 0.7. */
  readonly confidence?: number
  /**
   * Of its speaker. The fact's own is the lowest of this and of its sources. Default `user`:
   * the app speaks for its user. Never `system`.
   */
  readonly trust?: Trust
  /**
   * At most 64 ids of messages and keys (`fact/<id>`) of facts. Forgetting one of them forgets the
   * fact. Default: none.
   */
  readonly sources?: readonly string[]
  /** Id of the fact that it replaces. A fact that replaces another is not merged with a third. */
  readonly supersedes?: string
  /**
   * Unix milliseconds. Default: 7 days later for a blocker, 30 for a finding, 90 for a correction,
   * else 180.
   */
  readonly reviewAt?: number
  /**
   * Unix milliseconds; it is gone from the UTC day on that begins then or later. Default: never.
   */
  readonly expiresAt?: number
  /** Unix milliseconds. Default: now. */
  readonly createdAt?: number
  /** At most 200 bytes. Default: a fresh one. */
  readonly id?: string
}

export interface FactQuery {
  /** Default: all kinds. */
  readonly kinds?: readonly FactKind[]
  /**
   * Facts that show in this project: its own and those without any. Default: those of all projects.
   */
  readonly project?: string
  /**
   * Superseded, resolved and ended ones too, and all of them in the order of their ids. Default
   * false.
   */
  readonly all?: boolean
  /** At most and by default 512. */
  readonly first?: number
  /** Facts after this one, by its id. */
  readonly after?: string
}

/** What became of a fact that was to be remembered. */
export interface Remembered {
  /** The fact as it stands now: for `merged` and `known` the one that was there. */
  readonly fact: Fact
  readonly status: 'new' | 'merged' | 'known'
}

/** How well a fact held when it was looked at again. */
export type Rating = 'again' | 'hard' | 'good' | 'easy'

/** Lists of facts, each for what has no project and for each project. */
export type FactList = 'pinned' | 'shown' | 'low' | 'due' | 'recent'

/** How many facts there are, and their tokens. */
export interface FactSums {
  /** Of all projects. */
  readonly live: Sum
  readonly pinned: Sum
  /** Those that are not pinned. */
  readonly shown: Sum
  /** To be reviewed on that day or before. */
  readonly due: Sum
  /** Of little confidence. */
  readonly low: Sum
}
