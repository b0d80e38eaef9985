import { OWED } from '../forgetting/owed.ts'
import { SECRET } from '../kernel/context/secret.ts'
import { HEAD_KEY } from '../kernel/log/message.ts'
import type { Envelope, Name, SealedOp } from '../ports/op.ts'
import type { Head, MarkRow, OutboxRow, RegisterRow } from '../ports/store.ts'
import type { PushRejection, PushResult, SyncOp } from '../ports/sync.ts'

/** How far a replica knows its home's log. */
export interface ReplicaState {
  /** Of the home's log; absent: nothing of it was ever seen. */
  readonly generation?: string
  /** Seq of the newest row that the home confirmed; and its tok. */
  readonly seq: number
  readonly anchor: string
  /** What the head's are at that row. */
  readonly ordinal: number
  readonly first?: string
  /** Number of the newest row that was ever written to the outbox. */
  readonly last: number
  /**
   * What went since from which something may derive in the user's other scopes, and what is shown
   * here of the user's: these are still to be looked at.
   */
  readonly gone?: readonly Name[]
  /** See `PullRequest.replica`. Absent: nothing was fetched yet. */
  readonly replica?: string
  /** An erase waits, before all else: what was written since is of the log that begins with it. */
  readonly erasing?: true
  /** Of the log, only what comes after this seq is here. Absent: all is. */
  readonly after?: number
}

/**
 * Generation of a home to which nothing was ever written: it is stored nowhere, so that a look
 * leaves no trace. A replica may name it, as if it knew no log.
 */
export const NO_GENERATION = ''

export const NO_STATE: ReplicaState = { seq: 0, anchor: '', ordinal: 0, last: 0 }

export function stateIn(text: string | undefined): ReplicaState {
  return text === undefined ? NO_STATE : (JSON.parse(text) as ReplicaState)
}

/** An op that waits to be seen in the home's log: a row of the outbox. */
export interface Waiting {
  /** The row's number. */
  readonly order: number
  readonly envelope: Envelope
  /** Of a put alone: the log has the others'. `null`: it was forgotten. */
  readonly bodies?: SyncOp['bodies']
  readonly beside?: SyncOp['beside']
  /** Where it stands in the log until then; absent: others came first, and it has no effect now. */
  readonly seq?: number
  /** What the head's is at its last row. */
  readonly ordinal?: number
  /** Of a mark that took effect: its place in the chain. */
  readonly chain?: number
  /** Names that it, or another delete of its commit, was the first to empty. */
  readonly emptied?: readonly Name[]
  /** What it, or another op of its commit, was the first to write over. */
  readonly before?: Before
  /** The home refused it: it is kept for the app to see. */
  readonly refusal?: Refusal
}

/**
 * Whether the home may have something else of an op, so that it is to tell it whole. What is
 * written beside an op is as the home says, and so is a mark: another writer's of its name may have
 * come first. A home that was restored may have what is forgotten here.
 */
export function mayDiffer({ envelope: { kind }, bodies, beside, emptied }: Waiting): boolean {
  return Boolean(beside || emptied || kind === 'mark' || bodies?.includes(null))
}

/** What is confirmed, where something that waits stands in its place: `null`, if nothing is. */
export interface Before {
  readonly registers: readonly (readonly [key: string, row: RegisterRow | null])[]
  readonly marks: readonly (readonly [slot: string, row: MarkRow | null])[]
}

export type Refusal = Exclude<PushResult, { readonly seq: number }>

/** An attachment whose bytes are still to be fetched: a row of the outbox too. */
export interface Wanted {
  readonly order: number
  readonly wants: string
}

export function waitingIn({ order, value }: OutboxRow): Waiting | Wanted {
  return { ...(JSON.parse(value) as Omit<Waiting, 'order'>), order }
}

export function outboxRow({ order, ...waiting }: Waiting | Wanted): OutboxRow {
  return { order, value: JSON.stringify(waiting) }
}

/** As much of a head as is taken back to. */
export type Confirmed = Pick<Head, 'seq' | 'ordinal' | 'first'>

/** An op whole: what waits, put together with what the log holds of it. */
export interface WholeOp extends SyncOp {
  readonly derived?: SealedOp['derived']
}

export interface Held {
  readonly waiting: Waiting
  readonly op: WholeOp
}

/** Whether an op was refused since what it names was deleted: nothing of that is kept aside. */
export function isGone(refusal: Refusal): boolean {
  return isRejected(refusal, 'deleted')
}

export function isRejected(refusal: Refusal | undefined, reason: PushRejection): boolean {
  return refusal !== undefined && 'rejected' in refusal && refusal.rejected === reason
}

/**
 * A delete that the home refused under the name of another op: nothing but `forbidden` is ever said
 * of a delete. What it emptied is deleted under another name.
 */
export function isRenamed({ envelope: { kind }, refusal }: Waiting): boolean {
  return kind === 'delete' && refusal !== undefined && !isRejected(refusal, 'forbidden')
}

/** Keys of what the library keeps of its own account, and each device makes the same way. */
const BOOKKEEPING = /^(?:kept|untold|sealed)\/|^(?:retention|skills\/loaded)$/

/**
 * Whether an op was refused that no app wrote: another device was first to list a session, or to
 * note what both know. What is there holds. So does what says that something is being forgotten,
 * once that is done. What a context was built from may show what is forgotten since: who needs it
 * builds it again.
 *
 * @param waiting all that waits
 */
export function isBookkeeping(
  { envelope: { key = '', base }, refusal }: Waiting,
  waiting: readonly Waiting[],
): boolean {
  const isListing = key.startsWith('session/') && base === null
  const last = waiting.findLast(({ envelope }) => envelope.key === key)
  const isForgotten = key === OWED && last?.bodies?.[0] === 'null'
  const isOwn = isListing || isForgotten || BOOKKEEPING.test(key)
  const isBuilt = key === SECRET || key.startsWith(HEAD_KEY)
  if (refusal === undefined) return false
  const isTaken = 'conflict' in refusal || isGone(refusal) || isRejected(refusal, 'duplicate-id')
  return isBuilt || (isOwn && isTaken)
}
