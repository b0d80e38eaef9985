import type { Channel } from '../platform/tabs.ts'
import type { PlimsollError } from '../ports/errors.ts'
import type { Scope } from '../ports/op.ts'
import type { HomeTime } from './clock.ts'
import type { SyncStatus } from './status.ts'

/** What tabs tell each other. */
export interface Word {
  /** Something is to be sent or fetched of a scope. */
  readonly due?: Scope
  /** How the tab does that works. */
  readonly status?: SyncStatus
  /** Something was refused in a scope: rows of its outbox. */
  readonly refused?: { readonly scope: Scope; readonly orders: readonly number[] }
  /** The user has signed out, of all tabs; or is here again. */
  readonly isSignedOut?: boolean
  /** What an answer told of the home's time, as for {@link HomeTime.heard}. */
  readonly time?: Parameters<HomeTime['heard']>
}

/** Tells other tabs. */
export function say(channel: Channel | undefined, { status, ...word }: Word): void {
  const { cause } = status ?? {}
  try {
    channel?.postMessage({
      ...word,
      ...(status && { status: { ...status, ...(cause && { cause: bare(cause) }) } }),
    } satisfies Word)
  } catch {
    // A hint that is lost costs time alone.
  }
}

/** As much of an error as other tabs can be told. */
function bare({ name, code, message }: PlimsollError): PlimsollError {
  return { name, code, message } as PlimsollError
}
