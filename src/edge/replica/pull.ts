import { NOTE } from '../../forgetting/note-keys.ts'
import { idIn, type Name, type OpResult, type SealedOp } from '../../ports/op.ts'
import type { RegisterRow } from '../../ports/store.ts'
import type { Rule } from './rules.ts'

/** A place in the log of a user's scope: behind the op that ends there. */
export interface Place {
  /** 0: before all of it. */
  readonly seq: number
  /**
   * That op: a home that was restored to an older state, and went on from there, has another one at
   * this seq.
   */
  readonly opId: string
}

export const START: Place = { seq: 0, opId: '' }

/** Where a pull goes on. */
export type Cursor =
  /** With what changed after a place. */
  | { readonly since: Place }
  /**
   * With the registers after a key, of a snapshot that began at a place; `null`: with the first.
   */
  | { readonly since: Place; readonly after: string | null }

/** What a replica asks of its home. Fields are only ever added. */
export interface PullRequest {
  /** The replica's session: of all sessions' registers it holds its own one alone. */
  readonly sessionId: string
  readonly cursor: Cursor
  /** Keys whose registers are sent whether or not they changed, at most {@link MOST_NAMES}. */
  readonly names?: readonly string[]
  /** Ops to commit first. */
  readonly commit?: { readonly ops: readonly SealedOp[]; readonly rule: Rule }
}

/** Its answer, of about 1 MiB at most, or one register where that alone has more. */
export interface PullAnswer {
  /** What became of the ops. */
  readonly results?: readonly OpResult[]
  /**
   * The home does not know the place that was asked about, or too much changed since: what comes
   * from here on is all that there is. By its `log`, which names what was deleted too, or by its
   * `registers`, those that are live.
   */
  readonly reset?: 'log' | 'registers'
  /** Registers as they are now; those that were deleted have no body. */
  readonly rows: readonly RegisterRow[]
  /** What was deleted. What derived from it, the rows do not say: a replica asks by `names`. */
  readonly deleted: readonly Name[]
  /** How far this is. */
  readonly place: Place
  /** Where to go on; none: the place is the home's newest one. */
  readonly next?: Cursor
}

/** Most keys that a request may name. */
export const MOST_NAMES = 64
/** Keys of the registers that list a user's sessions begin with this. */
export const SESSIONS = 'session/'
/**
 * Keys of what is no replica's, but for a session's own place on the list: what they begin with, in
 * code unit order.
 */
export const OTHERS = [NOTE, SESSIONS] as const

/** Whether a register of the user's scope is in the replica of a session. */
export function isHeld(key: string, sessionId: string): boolean {
  return !OTHERS.some((prefix) => key.startsWith(prefix)) || key === SESSIONS + sessionId
}

/**
 * Whether an op changes what the replicas of other sessions hold: a session's place on the list,
 * they do not.
 */
export function isShared({ envelope: { kind, key, target } }: SealedOp, sessionId: string): boolean {
  const changed = key ?? (target && idIn('register', target)) ?? ''
  return kind === 'erase' || (changed !== SESSIONS + sessionId && !changed.startsWith(NOTE))
}

/** Whether keys or groups with that prefix may be of what no replica holds. */
export function mayBeOthers(prefix: string): boolean {
  return OTHERS.some((other) => prefix.startsWith(other) || other.startsWith(prefix))
}
