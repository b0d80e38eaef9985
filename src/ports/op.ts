import type { Json, Message, Trust } from './message.ts'

/**
 * What owns data. Any well-formed, non-empty strings of up to 256 bytes, compared byte for byte.
 * Without a `sessionId` it is the user's own scope, which holds the list of sessions and what they
 * share.
 */
export interface Scope {
  readonly tenant?: string
  readonly userId: string
  readonly sessionId?: string
}

/** Why an epoch began: why the rendered prefix was allowed to change. */
export type EpochCause =
  | 'start'
  | 'window'
  | 'budget'
  | 'head'
  | 'late'
  | 'sync'
  | 'rewind'
  | 'forget'
  | 'manual'

/**
 * What a delete and a source name: entries, registers and attachments have name spaces of their
 * own. `user` is a register of the user's scope, as a session's scope names it.
 */
export type Name = `${'entry' | 'register' | 'attachment' | 'user'}:${string}`

/** The id or key in a name of that space; undefined in one of another space. */
export function idIn(space: 'entry' | 'register' | 'attachment' | 'user', name: Name): string | undefined {
  return name.startsWith(`${space}:`) ? name.slice(space.length + 1) : undefined
}

/** How the entries of an epoch are shown. */
export interface Cuts {
  /** Outputs before this entry are shown at `toolOutput.old`, reasoning before it not at all. */
  readonly oldBefore?: string
  /**
   * The user message of the round into which the cut falls is shown capped: it was not the newest
   * one.
   */
  readonly capOpener?: true
  /**
   * The user message of that round does not show: it did not fit, and the epoch's summary covers
   * it.
   */
  readonly foldOpener?: true
  /**
   * The step that begins with entry `from` is shown with its outputs capped at `tokens`, as it
   * would not fit otherwise.
   */
  readonly squeeze?: { readonly from: string; readonly tokens: number }
}

/**
 * A stretch of calls in one lane during which the rendered request only grows at its end. `id` is a
 * hash of lane, base, windowFrom, cuts, head and calibration, keyed by the session's secret, so two
 * tabs that cross the line together usually write the same mark.
 */
export interface EpochMark {
  readonly type: 'epoch'
  readonly id: string
  readonly lane: string
  readonly cause: EpochCause
  /** First entry shown; `null` while there is none. The user message of its round is shown too. */
  readonly windowFrom: string | null
  /**
   * Newest entry that its writer had read: what the prefix hash covers, and what everything added
   * later is late to.
   */
  readonly seen: string | null
  /**
   * Messages up to `seen`, hidden and forgotten ones included. Where the log holds another number,
   * others came before what was shown, and the epoch is over.
   */
  readonly count: number
  /**
   * Earliest entry, in the log's order, that the window needs, where that is not `windowFrom`
   * (interleaved writers).
   */
  readonly readFrom?: string
  readonly cuts: Cuts
  /**
   * What the counter's counts are multiplied by in this epoch, where a provider's reports said so;
   * else 1.
   */
  readonly calibration?: number
  /** Id of the summary mark that the memory text holds; none: no entry is covered. */
  readonly summary?: string
  /** Id of a summary that holds, but had no room in this epoch: of it only what is pinned shows. */
  readonly withheld?: string
  /** The head holds something of long-term memory: facts, profile, skills. */
  readonly remembers?: true
  /**
   * Keyed hash of the rendered system and memory text and the tools; their bytes are in the
   * register `head/<hash>`.
   */
  readonly head: string
  /** Keyed hash of the head and all blocks but the tail, as they were when the epoch began. */
  readonly prefixHash: string
  /** Version of the rules that turn entries into blocks. */
  readonly v: number
}

/**
 * Text that stands for the messages before `upto`, from `from` on. It replaces the summary that it
 * names as its base, and covers what that covered. Inert when the log holds another `count` of
 * messages before `upto`.
 */
export interface SummaryMark {
  readonly type: 'summary'
  readonly id: string
  readonly lane: string
  /**
   * First entry that is covered; absent: the log's first. What is older was never shown to who
   * wrote it.
   */
  readonly from?: string
  /** Messages before `from`. */
  readonly skipped?: number
  /** First entry that is *not* covered. */
  readonly upto: string
  /**
   * Newest entry that its writer had read: what was added later is not covered, wherever it stands.
   */
  readonly seen: string
  /** Messages before `upto` in the log's order, hidden and forgotten ones included. */
  readonly count: number
  /** Messages that it was written from, those of the summaries before it included. */
  readonly of: number
  /**
   * Where writers interleaved, the first entry in the log's order that showed on, and the messages
   * before that one.
   */
  readonly apart?: { readonly from: string; readonly count: number }
  readonly text: string
  /**
   * What the text may not lose: what the app pinned, and names of the covered part. Empty: nothing.
   */
  readonly carry: string
  /**
   * All that was pinned, a line each: what is left of the memory section where there is no room for
   * the rest.
   */
  readonly pinned: string
  /** Names of the covered part that neither text nor carry hold: how many, and the first five. */
  readonly lost: { readonly count: number; readonly first: readonly string[] }
  /** The lowest of what it covers. */
  readonly trust: Trust
  /** The model that wrote the text, or `extract`. */
  readonly by: string
  /**
   * Tokens of input and output that its writing took, refused attempts included, by the lane's
   * counter.
   */
  readonly spent: number
  /** Unix milliseconds; for the spend cap only, never for order. */
  readonly at: number
}

/** Hides entries from view (edit, regenerate). */
export interface HidingMark {
  readonly type: 'rewind'
  readonly id: string
  readonly hides: readonly string[]
  /**
   * The message that showed before them; `null`: none did. Versions of one place have the same.
   * Absent: it was not recorded.
   */
  readonly after?: string | null
}

/**
 * Hides entries from view, or takes an earlier rewind back. Rewinds are a set: they have no base.
 */
export type RewindMark = HidingMark | { readonly type: 'rewind'; readonly id: string; readonly undo: string }

export type Mark = EpochMark | SummaryMark | RewindMark

/**
 * Where a register stands in the indexes of its scope. It is derived from the register's value,
 * written with it and gone with it, and everyone who sees the envelope can read it.
 */
export interface IndexEntry {
  readonly group: string
  /**
   * Place in the group, in code unit order; the register's key breaks ties. Absent: the register is
   * counted, not listed.
   */
  readonly order?: string
  /**
   * What it adds to the group's sum, beside 1 to its count: a whole number. Absent: it is listed,
   * not counted.
   */
  readonly weight?: number
}

/**
 * The one unit of writing. Every op has a client-made `opId`; repeating an op returns its first
 * result and changes nothing. An op and its one entry may be one thing, found by one index: its
 * `opId` is the entry's {@link Name} then. No other op may have such an id.
 *
 * - `append`: one or more messages of one round, atomic and contiguous. `round` is the id of the
 *   message that opened it: the first of `messages`, or one that is in the log.
 * - `mark`: an epoch, summary or rewind. `base` is the id of the mark of that kind and lane that it
 *   replaces; when that is no longer the current one, the mark is *inert*: stored, never applied.
 *   So is a mark of a kind that this version does not know.
 * - `put`: writes a register. Its version is the `opId` of the put that wrote it; `base` is the
 *   version that the writer saw (`null`: none). Another version is a conflict, and nothing is
 *   written.
 * - `delete`: empties an entry's or register's body or removes an attachment, and empties what
 *   names it in `sources`, for ever. Remove wins: it also holds for a target that arrives later.
 * - `erase`: empties the scope.
 */
export type Op =
  | {
      readonly kind: 'append'
      readonly opId: string
      readonly round: string
      readonly messages: readonly Message[]
      readonly contexts?: readonly HandedOut[]
    }
  | {
      readonly kind: 'mark'
      readonly opId: string
      readonly base: string | null
      readonly entry: Mark
      readonly sources?: readonly Name[]
    }
  | {
      readonly kind: 'put'
      readonly opId: string
      readonly key: string
      readonly base: string | null
      readonly value: Json
      readonly sources?: readonly Name[]
      readonly index?: readonly IndexEntry[]
    }
  | { readonly kind: 'delete'; readonly opId: string; readonly target: Name }
  | { readonly kind: 'erase'; readonly opId: string }

/** A context that was handed out before an op, recorded with it. */
export interface HandedOut {
  /**
   * Of its head and blocks, its tail aside; or of that hash and of the names of what made its tail,
   * which are none where it had none.
   */
  readonly hash: string
  /** Of the log that it was built from. */
  readonly seq: number
}

/**
 * What a store and a server see of an op. Bodies stay sealed, so they may be encrypted; everything
 * that decides an op's fate is here.
 */
export interface Envelope {
  readonly opId: string
  readonly kind: Op['kind']
  /** Ids of the op's entries, in order; for a put, its key. Each has one body. */
  readonly ids: readonly string[]
  readonly mark?: MarkKind
  readonly round?: string
  readonly key?: string
  readonly base?: string | null
  readonly lane?: string
  readonly target?: Name
  readonly sources?: readonly Name[]
  /** Puts: where the register stands from now on. */
  readonly index?: readonly IndexEntry[]
  /** Attachments that the op's messages name. */
  readonly attachments?: readonly string[]
  /** Contexts that were handed out since the entry before it. */
  readonly contexts?: readonly HandedOut[]
}

/** The kinds of {@link Mark}, and those that a later version has. */
export type MarkKind = Mark['type'] | (string & {})

/** An op as it travels and is stored: the envelope, and beside each id one opaque body. */
export interface SealedOp {
  readonly envelope: Envelope
  /** One for each of `envelope.ids`; `null`: it was forgotten where the op comes from. */
  readonly bodies: readonly (string | null)[]
  /**
   * What was derived from a body before the commit (token counts), sealed with it; local, never
   * synced.
   */
  readonly derived?: readonly (string | undefined)[]
  /**
   * Place in the op of each body, where some of its entries have none any more. Default: in order.
   */
  readonly places?: readonly number[]
}

/** What became of an op. Expected outcomes are values; only failures of storage are thrown. */
export type OpResult =
  /**
   * Written (now or before: `repeated`). `applied: false` for a mark whose base was no longer
   * current.
   */
  | { readonly status: 'accepted'; readonly seq: number; readonly applied: boolean; readonly repeated?: true }
  /** A put whose base is not the current version, which is given; nothing was written. */
  | { readonly status: 'conflict'; readonly version: string | null; readonly repeated?: true }
  /** An op that can never be written. */
  | { readonly status: 'rejected'; readonly reason: RejectReason; readonly repeated?: true }

export type RejectReason =
  /** One of its ids already names another entry, or its `opId` an entry that is not all of it. */
  | 'duplicate-id'
  /** Its round was never opened. */
  | 'unknown-round'
  /** Its key was deleted; remove wins. */
  | 'deleted'
