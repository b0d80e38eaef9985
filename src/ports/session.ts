import type { Message, SessionMessage, ToolSpec } from './message.ts'

/** How messages are written. */
export interface AppendOptions {
  /**
   * Names the op; repeating an op is a no-op that gives the first result. It may begin with
   * `entry:` in `append` alone, before the id that the first message was given: the op is one thing
   * with that message then. Default: made from the messages' ids where all of them were given, else
   * fresh.
   */
  readonly opId?: string
  /**
   * Id of the round to join, for what does not open one; a result whose call waits joins its
   * call's. Default: the newest that this session has seen.
   */
  readonly round?: string
}

export interface AppendResult {
  /** The messages as they are stored, in order. */
  readonly messages: readonly Message[]
  /** Whether they had been stored before. */
  readonly repeated: boolean
  /** Whether what had been stored before has other content: the first wins. */
  readonly mismatch: boolean
}

export interface HistoryOptions {
  /** The last so many rounds. */
  readonly rounds?: number
  /** The last so many messages, widened to whole steps. Default 50, where `rounds` is not given. */
  readonly messages?: number
  /** Only what shows before this message. */
  readonly before?: string
  /**
   * Most UTF-16 units of stored messages; the newest step is given in any case. So a page is read
   * in a bounded memory. Default: no limit.
   */
  readonly characters?: number
}

/** What an app shows of a session. The same object until something changes. */
export interface Snapshot {
  /** Whether the log was read yet. */
  readonly loaded: boolean
  /** The messages of the current window, whole and uncut. */
  readonly messages: readonly SessionMessage[]
  /** Highest seq that is in it. */
  readonly seq: number
}

/** A part of the tail. */
export interface TailSection {
  /** Labels the section's fence: 1 to 64 letters, digits, dashes and underscores. */
  readonly name: string
  readonly text: string
}

/** Limits of the window beside the budget; any that is left out does not limit. */
export interface WindowLimits {
  /** Rounds that show. */
  readonly rounds?: number
  /** Messages that show, results included. */
  readonly messages?: number
  readonly tokens?: number
}

/**
 * How much of the conversation shows: a band that changes seldom, or one size, which is a sliding
 * window.
 */
export type WindowOptions = WindowBand | WindowSize

/** The longer a prefix stays as it is, the more of it a provider's cache holds. */
export interface WindowBand {
  /** The window grows until one of these, or the room in the budget, is exceeded … */
  readonly max?: WindowLimits
  /**
   * … and is then cut back to these in one step. Default: half of `max`, and half of the room.
   * With `tokens` here and none in `max` it is cut earlier: once the tokens above have cost as
   * much, over the calls that repeated them, as the cut costs.
   */
  readonly keep?: WindowLimits
}

/**
 * A sliding window: what is older leaves with the next call, so a full one begins with other bytes
 * in nearly each round.
 *
 * - `rounds`: complete rounds, and the open one beside them;
 * - `messages`: in all, the newest included, as are the user message of a round that is cut and
 *   each message of a step;
 * - `tokens`: of what shows, by the memory's counter.
 *
 * The newest step always shows whole. Where it needs more than the size, `receipt.exceeded` says
 * so.
 */
export type WindowSize =
  | { readonly rounds: number }
  | { readonly messages: number }
  | { readonly tokens: number }

export interface ToolOutputOptions {
  /** Most tokens of an output from its first call on. Default: a sixteenth of the cap. */
  readonly first?: number
  /**
   * Most tokens of an output once an epoch change found it outside of the newest quarter of the
   * cap. Default: 800, at most half of `first`.
   */
  readonly old?: number
}

/** How much of a conversation shows, beside the budget. */
export interface Limits {
  readonly window?: WindowOptions
  readonly toolOutput?: ToolOutputOptions
}

/** What a context is asked for. */
export interface ContextOptions {
  /** Told to the model with the request; a change starts an epoch. */
  readonly tools?: readonly ToolSpec[]
  /**
   * Instructions of this call, after the memory's own and before pins. They are no message of the
   * log, and never leave the window; a change starts an epoch.
   */
  readonly system?: string
  /**
   * Text for the last block of the request, whole or as named sections, fenced as data. Never
   * stored; it may change at every call without cost to the prefix.
   */
  readonly tail?: string | readonly TailSection[]
  /** Never write: an epoch change is shown in this context only. Default `false`. */
  readonly preview?: boolean
  /**
   * What to do when calls of the newest step have no result yet. Default `reject`, with
   * `ERR_TOOL_PENDING`.
   */
  readonly onPending?: 'reject' | 'abandon'
  /**
   * Proposes other limits for the window and for outputs than the memory's, for this call. Each set
   * of limits is a lane with epochs of its own, so keep them for many calls. The budget holds
   * whatever they say.
   */
  readonly limits?: Limits
  /**
   * Start an epoch (cause `manual`) and cut the window back, whatever its state. Default `false`.
   */
  readonly newEpoch?: boolean
}

/** What the keys of a user's sessions begin with, in the user's scope. */
export const SESSION = 'session/'

/** A conversation of a user's, as it is listed. */
export interface SessionInfo {
  readonly sessionId: string
  /** Empty until it is set. */
  readonly title: string
  /** Unix milliseconds of the first message, by the clock of its writer. */
  readonly createdAt: number
  /** The project that it was in when it was listed; absent: none. */
  readonly project?: string
}
