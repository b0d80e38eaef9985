import type { AbortSignalLike, Host } from '../../ports/host.ts'
import type { Json } from '../../ports/message.ts'
import type { SqlStorageLike } from '../../stores/sql-schema.ts'
import type { Alarms } from './alarms.ts'
import type { WorkItem } from './work-table.ts'

/** What a handler knows of its attempt. */
export interface WorkAttempt {
  readonly key: string
  /** Which attempt this is, from 1. */
  readonly attempt: number
  /**
   * Aborts when the time is over; the attempt counts as failed then, whatever still comes of it.
   */
  readonly signal: AbortSignalLike
}

/**
 * Contract: does the work, and returns when it is to be done again, Unix milliseconds (a second
 * from now at the earliest); nothing: it is done. Idempotent, since it is called at least once:
 * again after it threw, took too long, or ended with the object. It does a bounded part of what
 * there is, and asks to be called again for the rest.
 */
export type WorkHandler = (payload: Json | undefined, attempt: WorkAttempt) => Promise<number | undefined>

export interface WorkQueueOptions {
  readonly storage: SqlStorageLike
  readonly alarms: Alarms
  readonly host: Pick<Host, 'now' | 'timeout'>
  /**
   * By kind. Work of a kind without a handler, which another version of the code has left, is
   * looked at again in an hour.
   */
  readonly handlers: { readonly [kind: string]: WorkHandler }
  /** Attempts before work is quarantined. Default 5. */
  readonly maxAttempts?: number
  /**
   * Most milliseconds of one attempt. Default 240 000: a compaction may ask its model twice, for a
   * minute each.
   */
  readonly timeoutMs?: number
  /** Most items of one run. Default 16. */
  readonly maxItems?: number
  /**
   * Milliseconds after which a run begins no more items. Default 60 000; an alarm of Cloudflare's
   * may take 15 minutes.
   */
  readonly maxRunMs?: number
  /**
   * Told of each failed attempt, for logs. What it throws is ignored. The error may quote content:
   * log its code, not its message.
   */
  readonly onFailure?: (failure: WorkFailure) => void
}

export interface WorkFailure extends Pick<WorkItem, 'kind' | 'key' | 'attempts'> {
  readonly error: unknown
  readonly isQuarantined: boolean
}
