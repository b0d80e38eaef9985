import type { FactKind } from './fact.ts'
import type { Role, Trust } from './message.ts'

/** Something that was found. */
export interface Recalled {
  readonly id: string
  readonly type: 'message' | 'fact'
  /** Of a message. */
  readonly role?: Role
  /** Whose message it is, where it has a name. */
  readonly name?: string
  /** Of a fact. */
  readonly kind?: FactKind
  readonly text: string
  readonly trust: Trust
  /** Unix milliseconds. */
  readonly createdAt: number
  /** Id of the message's session. */
  readonly sessionId?: string
  /** The message's number in the log of its session, by which {@link readSource} reads it. */
  readonly ordinal?: number
  /**
   * Of a message of a session whose words are kept with the user, as the edge does: since when what
   * is said there may not be found yet, Unix milliseconds.
   */
  readonly asOf?: number
  /** To compare results of one call by; it means nothing else. */
  readonly score: number
}

export interface RecallOptions {
  /** Results at most: 1 to 200. Default 10. */
  readonly first?: number
}

/** What a context shows of what was said, in this session and in others. */
export interface RecallAcross {
  /** Default `true`: what the newest user message says. */
  readonly query?: string | true
  /**
   * Which other sessions of the user to look through, at most 256, or as many as `recall({ sessions
   * })` says; `all`: as many of the newest. This session is looked through in any case.
   */
  readonly sessions: 'all' | readonly string[]
}

export interface UserRecallOptions extends RecallOptions {
  /**
   * Which sessions to look through, at most 256, or as many as `recall({ sessions })` says.
   * Default: none, facts alone; `all`: as many of the newest.
   */
  readonly sessions?: 'all' | readonly string[]
}
