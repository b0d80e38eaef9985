import type { Host } from '../../ports/host.ts'

/** Ids that a certificate names of each kind; the rest is counted. */
export const NAMED = 32

/** What was removed of one kind. */
export interface Removed {
  readonly count: number
  /** Ids of the first 32. */
  readonly first: readonly string[]
}

/** What can be removed. Summaries and heads are what was shown of messages and facts; texts in parts go with their messages. */
export type RemovedKind = 'sessions' | 'messages' | 'summaries' | 'facts' | 'heads' | 'attachments'

/**
 * - `store`: the store that the memory was given; what it says is durable.
 * - `replicas`: copies of the user's scope in the objects of other sessions, which empty theirs with their next pull.
 * - `devices`: what other devices, exports and the app itself hold.
 * - `recovery`: what the platform keeps so that it can go back in time (a Durable Object: 30 days), and the pages of a file that were freed.
 */
export type Holder = 'store' | 'replicas' | 'devices' | 'recovery'

/** What was removed, without any of it: what was asked for, what went with it, and who is known to hold it no more. */
export interface Certificate {
  readonly action: 'forget' | 'erase'
  /** Id of the message, fact, session or user. */
  readonly target: string
  /** Unix milliseconds. */
  readonly at: number
  /** Whether all of it was gone before: then nothing was written. */
  readonly already: boolean
  readonly removed: Readonly<Record<RemovedKind, Removed>>
  /** Attachments that the message named and that stay, since something else has or names their id. */
  readonly kept: Removed
  /** Who holds it no more. */
  readonly confirmed: readonly Holder[]
  /** Who may hold it for a while; nothing here can say until when. */
  readonly pending: readonly Holder[]
}

/** What was found of each kind. */
export type Found = Partial<Record<RemovedKind, Removed>>

export function certificateOf(
  host: Host,
  action: Certificate['action'],
  target: string,
  already: boolean,
  found: Found,
  kept = NONE,
): Certificate {
  return {
    action,
    target,
    at: host.now(),
    already,
    removed: {
      sessions: NONE,
      messages: NONE,
      summaries: NONE,
      facts: NONE,
      heads: NONE,
      attachments: NONE,
      ...found,
    },
    kept,
    confirmed: ['store'],
    pending: ['replicas', 'devices', 'recovery'],
  }
}

/** How much of each kind, for an audit record. */
export function countsOf(found: Found): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(found).flatMap(([kind, { count }]) => (count > 0 ? [[kind, count]] : [])),
  )
}

export function removed(ids: readonly string[]): Removed {
  return { count: ids.length, first: ids.slice(0, NAMED) }
}

const NONE: Removed = { count: 0, first: [] }
