/** What was removed of one kind. */
export interface Removed {
  readonly count: number
  /** Ids of the first 32. */
  readonly first: readonly string[]
}

/**
 * What can be removed. Summaries and heads are what was shown of messages and facts; texts in parts
 * go with their messages.
 */
export type RemovedKind = 'sessions' | 'messages' | 'summaries' | 'facts' | 'heads' | 'attachments'

/**
 * - `store`: the store that the memory was given; what it says is durable.
 * - `replicas`: copies of the user's scope in the objects of other sessions, which empty theirs
 *   with their next pull.
 * - `devices`: what other devices, exports and the app itself hold.
 * - `recovery`: what the platform keeps so that it can go back in time (a Durable Object: 30 days),
 *   and the pages of a file that were freed.
 */
export type Holder = 'store' | 'replicas' | 'devices' | 'recovery'

/**
 * What was removed, without any of it: what was asked for, what went with it, and who is known to
 * hold it no more. Counts and ids: no text, and no hash that says anything of one.
 */
export interface Certificate {
  readonly action: 'forget' | 'erase'
  /** Id of the message, fact, session or user. */
  readonly target: string
  /** Unix milliseconds. */
  readonly at: number
  /**
   * Whether nothing of it was there: it was gone before, or never was. Then nothing is recorded.
   */
  readonly already: boolean
  readonly removed: Readonly<Record<RemovedKind, Removed>>
  /**
   * Attachments that the message named and that stay, since something else has or names their id.
   */
  readonly kept: Removed
  /** Who holds it no more. */
  readonly confirmed: readonly Holder[]
  /** Who may hold it for a while; nothing here can say until when. */
  readonly pending: readonly Holder[]
  /** Of a synced store: see `SyncedStore.certify`. */
  readonly replicas?: Replicas
}

/** Replicas of a scope, each by a random name that it has in this scope alone. */
export interface Replicas {
  /** These hold nothing of all that is deleted in the scope. */
  readonly confirmed: readonly string[]
  /** These have not said so yet; one that is lost never does. */
  readonly pending: readonly string[]
}
