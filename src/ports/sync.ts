import type { AbortSignalLike } from './host.ts'
import type { OpResult, SealedOp } from './op.ts'
import type { Attachment, Head, MarkRow, RegisterRow } from './store.ts'

/**
 * What a replica of a scope and its home say to each other. A home gives each op that it accepts
 * the next seq, and a random `tok`; a replica that knows seq and tok of a place in the log knows
 * that all before it is the same. Neither clocks nor counters of a replica order anything.
 */

/** Version of these messages. A home answers others with ERR_UPGRADE_REQUIRED. */
export const SYNC_PROTOCOL = 1
/** Most ops of one push, of all its scopes. */
export const PUSH_OPS = 256
/** Most UTF-16 units of bodies of one push, unless its first op alone has more. */
export const PUSH_UNITS = 2 ** 19
/** Most scopes that one request names. */
export const SYNC_SCOPES = 32

/** An op on its way. */
export interface SyncOp extends Omit<SealedOp, 'derived' | 'places' | 'bodies'> {
  /** One for each id; `null`: it was forgotten, or a later put wrote over it. */
  readonly bodies: readonly (string | null)[]
  /**
   * Registers that were written beside it and have no row of their own, as of this op: what the
   * session's hashes are keyed by.
   */
  readonly beside?: readonly { readonly key: string; readonly body: string }[]
}

/** Ops of one scope for its home, in the order in which they were written. */
export interface PushRequest {
  /**
   * Of the log that the replica knows. To a home without one, the name that it gets: random, and
   * kept by the replica before it pushes. Empty: the replica knows none.
   */
  readonly generation: string
  readonly ops: readonly SyncOp[]
  /** Attachments that no op waits for: the replica does not have them, or they were deleted. */
  readonly without?: readonly string[]
}

/** What became of one op. Sending it again gives the same answer. */
export type PushResult =
  | { readonly seq: number }
  /** A put whose base is not the register's version, which is given. */
  | { readonly conflict: string | null }
  /** It can never be written. */
  | { readonly rejected: PushRejection }

export type PushRejection =
  | Extract<OpResult, { readonly status: 'rejected' }>['reason']
  /** A limit of the home: its size, or how many there may be. */
  | 'too-large'
  | 'forbidden'

export type PushAnswer =
  /** No results: the log is another one, of which nothing was written. The replica asks for it. */
  | {
      readonly generation: string
      readonly results: readonly PushResult[]
      readonly head: number
      /**
       * Places of ops that were here before. Another writer may have used their names, and what it
       * wrote holds: the replica is told these whole, where it asks for the log.
       */
      readonly repeated?: readonly number[]
      /**
       * Attachments that are not here, and that the next op names: it, and those after it, were not
       * written, and have no result. The replica sends these first.
       */
      readonly lacks?: readonly string[]
    }
  /** The log of that generation was erased, and nothing was written. */
  | { readonly erased: true; readonly generation: string }

export interface PullRequest {
  /** Absent: the replica knows no log yet. */
  readonly generation?: string
  /** Seq of the newest op that it has; 0: none. */
  readonly cursor: number
  /** What the home gave with it; empty with cursor 0. */
  readonly anchor: string
  /** Most ops of the answer. Default and at most 512. */
  readonly limit?: number
  /**
   * Seqs at which the home accepted ops of the replica's own, as it was answered: of these only the
   * names are sent back.
   */
  readonly known?: readonly { readonly from: number; readonly to: number }[]
  /**
   * What the replica is called here: random, and of this scope alone. The home notes up to which
   * seq it holds nothing of what was deleted. Absent: nothing is noted.
   */
  readonly replica?: string
  /**
   * Ops from another place on are asked for, in place of those after `cursor`: after this seq, or
   * the newest. A home may give those after `cursor` all the same.
   */
  readonly start?: number | Newest
  /** With `start`: ops that wait on the replica, and may have come before it. */
  readonly waiting?: readonly string[]
}

/** How many ops are the newest. Where both are given, those of which both hold. */
export interface Newest {
  /** Bodies of their entries have so many UTF-8 bytes, or are fewer without one more op. */
  readonly bytes?: number
  /** They begin with the first one whose message was not written before, in Unix milliseconds. */
  readonly since?: number
}

/**
 * What a log comes to at a seq: for a replica that is to have only what comes after it. Seqs are
 * those of the answer.
 */
export interface LogStart extends Pick<Head, 'ordinal' | 'first'> {
  /** Registers that have a value, written up to there, and not since. */
  readonly registers: readonly RegisterRow[]
  /** The marks that were current there. */
  readonly marks: readonly MarkRow[]
  /** Of the ops that wait on the replica, those that were accepted up to there. */
  readonly arrived: readonly string[]
}

/** What a home knows of its replicas. */
export interface Confirmations {
  /**
   * By name, the last that told theirs: up to which seq each holds nothing of what was deleted
   * before. -1: it may hold what was erased.
   */
  readonly replicas?: readonly { readonly name: string; readonly seq: number }[]
  /** Newest seq that emptied something; 0: none since the last erase. */
  readonly emptiedAt?: number
}

/** An op of the home's log. Of those that are known, only `opId`. */
export type PulledOp = SyncOp | { readonly opId: string }

export type PullAnswer =
  | (Confirmations & {
      /** Empty: nothing was ever written there. */
      readonly generation: string
      /** The cursor that was asked about; with `start`, where that is. */
      readonly from: number
      readonly start?: LogStart
      /** The ops after it, one for each seq. */
      readonly ops: readonly PulledOp[]
      /** Seq of the last of them, and what the home knows its place by. */
      readonly cursor: number
      readonly anchor: string
      /** Newest seq of the home. */
      readonly head: number
    })
  /**
   * The replica's place is not in the log: that was erased, or restored to an older state and went
   * on from there. Or it is older than what the home still tells of deletions.
   */
  | { readonly reset: 'erased' | 'diverged' | 'too-old'; readonly generation: string }

/** Something changed at home. A hint: it may be lost, late or repeated. */
export interface Poke {
  /** Absent: any of them. */
  readonly scope?: SyncScope
}

/** A scope of the caller's: that of a session, or, without one, the user's own. */
export interface SyncScope {
  readonly sessionId?: string
}

/** An attachment of a scope. */
export interface AttachmentRequest extends SyncScope {
  /** Of the log whose ops name it. */
  readonly generation: string
  readonly id: string
}

/** One request may be about several scopes: an answer for each, in their order. */
export interface Transport {
  /** @throws ERR_UNAUTHENTICATED, ERR_UPGRADE_REQUIRED, ERR_OFFLINE and other PlimsollErrors */
  push(requests: readonly (PushRequest & SyncScope)[], signal: AbortSignalLike): Promise<Answers<PushAnswer>>
  pull(requests: readonly (PullRequest & SyncScope)[], signal: AbortSignalLike): Promise<Answers<PullAnswer>>
  /**
   * Brings an attachment home, before the op that names it. Idempotent. `deleted`: nothing was
   * kept, since its id was deleted, or the log erased.
   *
   * @throws ERR_ENTRY_TOO_LARGE, ERR_DUPLICATE_ID (other bytes under that id): the op that names it
   * is refused then; and as `push`
   */
  attach(
    request: AttachmentRequest,
    attachment: Attachment,
    signal: AbortSignalLike,
  ): Promise<'stored' | 'kept' | 'deleted'>
  /** Fetches one; nothing, where the home does not have it. @throws as `push` */
  attachment(request: AttachmentRequest, signal: AbortSignalLike): Promise<Attachment | undefined>
  /**
   * Optional: calls the listener when something may have changed at home, and with `undefined` each
   * time that the connection came back, since hints were lost meanwhile.
   */
  pokes?(scopes: readonly SyncScope[], listener: (poke: Poke | undefined) => void): () => void
}

/** One for each scope that was asked about, in their order. */
export interface Answers<Answer> extends ReadonlyArray<Answer | SyncFailure> {
  /** The home's time when it answered, Unix milliseconds. Absent: it does not say. */
  readonly time?: number
}

/** A scope of several that could not be answered. */
export interface SyncFailure {
  readonly error: { readonly code: string; readonly message: string; readonly retryAfter?: number }
}
