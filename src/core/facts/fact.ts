import type { Json, Trust } from '../../ports/message.ts'
import type { RegisterRow } from '../../ports/store.ts'
import { valueIn } from '../bodies.ts'

/** Index of all facts that hold, whatever their project: not superseded, resolved or swept. */
export const LIVE = 'fact'

/**
 * - `finding`: something that was found out. `blocker`: something that is in the way, open or resolved. `correction`: what is right
 *   where something else was believed. These three belong to one session.
 * - `preference`, `constraint`: what a user likes, and what must or must not be done. Said by the user, these two are shared by all of the
 *   user's sessions; from any other source they stay in their session until they are promoted.
 */
export type FactKind = 'finding' | 'blocker' | 'correction' | 'preference' | 'constraint'

/** Something that is remembered: the register `fact/<id>` of a session's scope, or of its user's. */
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
  /** Part of the system section of every context, as far as there is room. Only facts of trust `user` or above are. */
  readonly pinned: boolean
  /** 0 to 9; more comes first. Default: correction 7, blocker 6, constraint 5, preference 4, finding 3. */
  readonly priority: number
  /** 0 to 1. Below 0.5 it is listed as doubtful. */
  readonly confidence: number
  /** The lowest of whoever said it and of its sources. */
  readonly trust: Trust
  /** Ids of the messages that it was taken from, and keys (`fact/<id>`) of facts. What empties one of them empties the fact. */
  readonly sources: readonly string[]
  /** Id of the fact that it replaces. */
  readonly supersedes?: string
  /** Id of the fact that replaced it: it shows no more unless it is asked for. */
  readonly supersededBy?: string
  /** Whose word raised it to trust `user`: what it was before. */
  readonly promotedFrom?: Trust
  /** Unix milliseconds. */
  readonly createdAt: number
  readonly reviewAt: number
  readonly expiresAt?: number
  /** State of the app's review schedule. */
  readonly review?: Json
}

/** What the keys of facts begin with. */
export const FACT = 'fact/'

/** Key of a fact's register. */
export function factKey(id: string): string {
  return `${FACT}${id}`
}

/** The fact in a register, unless it was forgotten. */
export function factIn(row: Pick<RegisterRow, 'key' | 'body'>): Fact | undefined {
  return (valueIn(row) as unknown as Fact | null | undefined) ?? undefined
}

/** A fact as it stands in the store. */
export interface FactRow {
  readonly fact: Fact
  readonly version: string
  readonly seq: number
}
