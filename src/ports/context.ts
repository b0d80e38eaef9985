import type { ErrorCode } from './errors.ts'
import type { Part, Role, ToolSpec, Trust } from './message.ts'
import type { EpochCause } from './op.ts'

/** The line. `budget: 16_000` is short for `{ contextWindow: 16_000, maxOutputTokens: 0 }`. */
export interface Budget {
  /** Tokens that the model can take, input and output together. */
  readonly contextWindow: number
  /** Tokens kept free for the reply. */
  readonly maxOutputTokens: number
  /**
   * Share of the cap that is held back, 0 to 0.5. Default 0.12 for a counter of kind `estimate`,
   * else 0.
   */
  readonly margin?: number
}

export type SectionName = 'system' | 'memory' | 'window' | 'tail'

/** Why a block is in the context. */
export type Rule =
  | 'system'
  | 'memory'
  /** Shown as it is in the log. */
  | 'verbatim'
  /** An output (or an old user message of an oversized round) shown capped. */
  | 'capped'
  /** Opens the request with a user message where the log has none there. */
  | 'opening'
  /** An explicit error result for calls that were never answered. */
  | 'abandoned'
  /** Stands for a user message without any text. */
  | 'empty'
  | 'tail'
  /**
   * Closes a request that would otherwise end with the assistant's own words, or hold no message.
   */
  | 'continue'

/**
 * One provider-neutral piece of a request. Renderers turn the list into a request, block after
 * block.
 */
export interface Block {
  readonly section: SectionName
  readonly role: Role
  readonly parts: readonly Part[]
  /** Ids of the entries that it shows; empty for what Plimsoll added. */
  readonly from: readonly string[]
  readonly rule: Rule
  readonly tokens: number
  readonly trust: Trust
}

/** What one model call is given. */
export interface Context {
  readonly lane: string
  /** Id of the epoch's mark. */
  readonly epoch: string
  /**
   * Key of the register that holds what the request begins with: system text, memory text and
   * tools.
   */
  readonly head: string
  /** Tag that fences text which is data, not instructions; fixed for the epoch. */
  readonly fence: string
  /** Never change one in place, the next context may have it too: make a copy. */
  readonly blocks: readonly Block[]
  readonly tools?: readonly ToolSpec[]
  readonly receipt: Receipt
  /**
   * Keyed hash of head, blocks and tail: in one session equal hashes are equal bytes, until
   * something is forgotten.
   */
  readonly hash: string
}

export type OmitReason =
  /** Older than the window. */
  | 'window'
  /** A result that answers no call that waits for one. */
  | 'orphan'
  /** A second result of an answered call. */
  | 'duplicate'
  /** Nothing in it can be shown: no text, or only reasoning without a signature. */
  | 'empty'
  | 'rewound'
  | 'forgotten'
  /** It cannot be decrypted. */
  | 'unreadable'

/**
 * Messages that are not shown. `from` and `to` are the first and the last of them, in the order of
 * the log.
 */
export interface Omitted {
  readonly from: string
  readonly to: string
  readonly count: number
  readonly reason: OmitReason
}

/** Parts of long-term memory: `news` are facts that came since the epoch began. */
export type LongTermSection =
  | 'profile'
  | 'pins'
  | 'skills'
  | 'facts'
  | 'loaded-skills'
  | 'news'
  | 'recall'
  | 'checkpoint'

export interface SectionUse {
  readonly name: SectionName | 'tools' | LongTermSection | (string & {})
  readonly cap?: number
  readonly tokens: number
  readonly items: number
  /**
   * What is shown shorter than it is, or not at all: how many outputs (of long-term memory: items),
   * how many tokens are missing, and the first five, by entry (by id or name).
   */
  readonly overflow: { readonly count: number; readonly tokens: number; readonly first: readonly string[] }
  /** Of what is recalled, where other sessions of the user were asked for. */
  readonly others?: SearchedSessions
}

/** Other sessions of a user, as recall looked through them. */
export interface SearchedSessions {
  readonly searched: number
  /**
   * Of those that were asked for: there are more than one call looks through, or their words are
   * not kept with the user, or not yet; or nothing of them is here, since there are none of that
   * id, or a synced store has still to fetch them.
   */
  readonly missing: number
  /**
   * Since when what is said in one of them may not be found yet, Unix milliseconds. Absent: they
   * were read as they are.
   */
  readonly asOf?: number
}

/** The summary that a context shows in place of older messages. */
export interface SummaryUse {
  /** Id of its mark. */
  readonly id: string
  /** Its place in the chain of the lane's summaries, from 1. */
  readonly place: number
  /** The messages that it stands for. */
  readonly covers: readonly Omit<Omitted, 'reason'>[]
  /** The lowest of what it covers. */
  readonly trust: Trust
  /** The model that wrote it, or `extract`. */
  readonly by: string
  /**
   * The loss ledger: names of what it covers that it does not hold, how many and the first five.
   */
  readonly lost: { readonly count: number; readonly first: readonly string[] }
}

/**
 * What became of a compaction, when a context began that shows its summary, or that had to do
 * without.
 */
export interface CompactEvent {
  readonly type: 'compact'
  /**
   * `refused`: nothing was summarised; what left the window is listed in the receipt's `omitted`.
   */
  readonly status: 'summarised' | 'refused'
  /** Why the epoch began that needed it. */
  readonly cause: EpochCause
  /**
   * Tokens of system text, memory and window, tools aside: as they were when the window passed the
   * line, and now.
   */
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Summaries in the lane's chain so far. */
  readonly summaryCount: number
  /** The model that wrote the summary, or `extract`; absent when refused. */
  readonly by?: string
  /** Why it was refused, or why the model's own text was. */
  readonly reasons: readonly string[]
}

/** The account of the budget. `used <= cap` always; with an estimate `used + margin <= cap`. */
export interface Receipt {
  /** `contextWindow - maxOutputTokens`; `null`: the window alone says how much shows. */
  readonly cap: number | null
  /** `maxOutputTokens`. */
  readonly reserved: number
  readonly margin: number
  readonly used: number
  /** The least that this call could have been cut to, the margin included. */
  readonly floor: number
  readonly sections: readonly SectionUse[]
  /**
   * What of long-term memory is in the sections above, and what had no room. Absent where nothing
   * is remembered.
   */
  readonly remembered?: readonly SectionUse[]
  readonly omitted: readonly Omitted[]
  /**
   * Where the window needs more than its limit, since the newest step always shows whole: the
   * limit, and what shows.
   */
  readonly exceeded?: {
    readonly unit: 'rounds' | 'messages' | 'tokens'
    readonly size: number
    readonly shown: number
  }
  readonly summary?: SummaryUse
  readonly epoch:
    | { readonly id: string; readonly cause: EpochCause; readonly place: number }
    | 'unsaved'
    | 'preview'
  /** Whose vocabulary the counter counts by; absent where it does not say. */
  readonly family?: string
  /**
   * What the renderer that was called with this context has to say of it: so far, that the counter
   * is of another family than the model, and nothing is calibrated. Absent where there is nothing.
   */
  warnings?: readonly { readonly code: 'counter-family'; readonly message: string }[]
  /** What the counter's counts are multiplied by in this epoch; absent for 1. */
  readonly calibration?: number
  /** What failed open on the way here. */
  readonly failures: readonly { readonly part: string; readonly code: ErrorCode; readonly message: string }[]
}

/** Why a past context is not attested. */
export type Unverified =
  /**
   * No hash was recorded: no message followed it in the session object that built it, or the log
   * was imported.
   */
  | 'unrecorded'
  /** Something was forgotten since that it may have held. */
  | 'forgotten'
  /** Something behind it cannot be decrypted. */
  | 'unreadable'
  /** Another one was handed out: from another log, in another lane, or the log was changed. */
  | 'different'

/** A past context, rebuilt. */
export interface ContextAt {
  readonly context: Context
  /**
   * Whether it has the hash of a context that was handed out then, as the next message records it:
   * what is shown is what was sent, its tail aside where it is not in it.
   */
  readonly verified: boolean
  readonly reason?: Unverified
  /**
   * `whole`: its tail is in it as it was sent, which is known where nothing stood there, or nothing
   * but facts that are the same now. `absent`: what stood there is not; where it is not verified,
   * nobody knows whether anything did.
   */
  readonly tail: 'whole' | 'absent'
}
