import { isPlimsollError, PlimsollError } from '../ports/errors.ts'
import type { SyncFailure } from '../ports/sync.ts'
import type { ScopeSync } from './scope-sync.ts'

/**
 * - `current`: all that was written here is at home, and what is new there is here, as far as is
 *   known.
 * - `syncing`: something is to be sent or fetched.
 * - `conflict`: as `current`, but a register was written here and elsewhere, and the app is to say
 *   what holds.
 * - `offline`: no network, no answer, or paused. Tried again by itself.
 * - `stalled`: connected, but nothing moves; `cause` says why, if anybody did. Tried again by
 *   itself.
 * - `signed-out`: the home does not take the token, or `signOut` was called. With the former the
 *   token is asked for again, now and then.
 * - `upgrade-required`: the home speaks another version. Writing goes on here; `resume()` tries
 *   again.
 * - `storage-full`: there is no room, here or at home.
 */
export type SyncState =
  | 'offline'
  | 'syncing'
  | 'current'
  | 'stalled'
  | 'conflict'
  | 'upgrade-required'
  | 'storage-full'
  | 'signed-out'

export interface SyncStatus {
  readonly state: SyncState
  /** Ops that wait for the home, and those that it refused and nobody has looked after. */
  readonly waiting: number
  readonly refused: number
  /** Why, where something failed. */
  readonly cause?: PlimsollError
}

/** What a failure makes of the state; of others only that nothing moves is told. */
export const STATES: { readonly [code: string]: SyncState } = {
  ERR_OFFLINE: 'offline',
  ERR_UNAUTHENTICATED: 'signed-out',
  ERR_UPGRADE_REQUIRED: 'upgrade-required',
  ERR_STORAGE_FULL: 'storage-full',
}

export function errorOf({ error: { code, message, retryAfter } }: SyncFailure): PlimsollError {
  return new PlimsollError(code as PlimsollError['code'], message, {
    ...(retryAfter !== undefined && { retryAfter }),
  })
}

/** What was thrown as an error of this library. */
export function plimsollError(cause: unknown, code: PlimsollError['code'], message: string): PlimsollError {
  return isPlimsollError(cause) ? cause : new PlimsollError(code, message, { cause })
}

/** What the state of the whole depends on, beside its scopes. */
export interface Situation {
  readonly isSignedOut: boolean
  readonly isOffline: boolean
  readonly isStalled: boolean
  readonly hasStarted: boolean
  /** Why nothing can be sent at all. */
  readonly cause: PlimsollError | undefined
  /** State of the tab that works, where that is another one. */
  readonly heard: SyncState | undefined
}

export function statusOf(scopes: readonly ScopeSync[], situation: Situation): SyncStatus {
  const outbox = scopes.flatMap(({ replica }) => replica.seen?.outbox ?? [])
  const refusals = outbox.flatMap(({ refusal }) => refusal ?? [])
  const isDue = scopes.some((sync) => sync.isDue)
  const cause = situation.cause ?? scopes.find(({ pace, isDue }) => pace.cause && isDue)?.pace.cause
  const state = (): SyncState => {
    const { isSignedOut, isOffline, isStalled, hasStarted, heard } = situation
    if (isSignedOut) return 'signed-out'
    if (isOffline) return 'offline'
    const failed = cause && STATES[cause.code]
    if (failed) return failed
    if (isStalled) return 'stalled'
    if (heard && (isDue || heard !== 'syncing') && heard !== 'current') return heard
    if (isDue || !hasStarted) return 'syncing'
    return refusals.some((refusal) => 'conflict' in refusal) ? 'conflict' : 'current'
  }
  const waiting = outbox.length - refusals.length
  return { state: state(), waiting, refused: refusals.length, ...(cause && { cause }) }
}
