import type { Channel, Lock, Network } from '../platform/tabs.ts'
import type { Host } from '../ports/host.ts'
import type { HomeClock } from '../ports/lease.ts'
import type { Scope } from '../ports/op.ts'
import { checkOptions, invalid } from '../ports/options.ts'
import type { Store } from '../ports/store.ts'
import type { Transport } from '../ports/sync.ts'
import { checkMethod } from '../text/check-value.ts'
import { checkShape, optional } from '../text/fields.ts'
import { checkId } from '../text/json.ts'
import type { KeepLocal } from './keep-local.ts'
import type { SyncStatus } from './status.ts'
import { syncedStore } from './synced-store.ts'

export interface SyncOptions {
  /** Where the replicas live. An encrypted store goes around the synced one, not inside it. */
  readonly store: Store
  readonly transport: Transport
  /**
   * Whose scopes the transport's token is for. Others, a guest's for example, stay as they are in
   * the store. Default: all of them.
   */
  readonly user?: Pick<Scope, 'tenant' | 'userId'>
  /**
   * Has the newest part of each session here, as {@link keepLocal} says. Default: all of it.
   */
  readonly keep?: KeepLocal
  /**
   * So that of several tabs one works; it is right without, too. Default: Web Locks, where there
   * are any. `false`: each tab works.
   */
  readonly lock?: Lock | false
  /** Default: `BroadcastChannel`, where there is one. `false`: tabs do not talk. */
  readonly channel?: ((name: string) => Channel | undefined) | false
  /**
   * Name of lock and channel: tabs with one database and one user share it. Two databases in one
   * process or origin need one each: else the second takes the first for a tab of its own, and
   * leaves the exchange to it. Default: `plimsoll-sync`.
   */
  readonly name?: string
  /** Default: `navigator.onLine`, and the events `online` and `visibilitychange`. */
  readonly network?: Network
  /**
   * Asks the home each so many milliseconds whether anything is new. Default: never, but when the
   * network or the page comes back, something is written, or the transport's pokes say so.
   */
  readonly pollMs?: number
  /**
   * From a write to its push, in milliseconds: what is written meanwhile goes with it. Default 10.
   */
  readonly delayMs?: number
  /**
   * After a failure: the first wait is up to so many milliseconds, each further one up to double.
   * Default 500.
   */
  readonly baseMs?: number
  /** No wait is longer, in milliseconds. Default 60 000. */
  readonly capMs?: number
  /** How long nothing may move, in milliseconds, until the state is `stalled`. Default 30 000. */
  readonly stalledMs?: number
  readonly host?: Pick<Host, 'now' | 'newId' | 'newSecret' | 'timeout' | 'controller'>
  /** Contract: a number from 0 up to 1. Default: `Math.random`. */
  readonly random?: () => number
}

/** A store whose scopes follow their home. */
export interface SyncedStore extends Store {
  readonly status: SyncStatus
  /**
   * What the home's answers told of its time; before the first one that of this device. A lease of
   * a session over this store holds by it.
   */
  readonly clock: HomeClock
  /** @returns what ends it */
  subscribe(listener: (status: SyncStatus) => void): () => void
  /**
   * Keeps a scope up to date that is not open.
   *
   * @returns what ends it
   * @throws ERR_INVALID_ARGUMENT: it is none, or not of the `user` that is synced
   */
  follow(scope: Scope): () => void
  /** Sends and fetches nothing until {@link resume}; writing goes on. */
  pause(): void
  /** Tries again now, whatever it waits for; so do other tabs that are not paused. */
  resume(): void
  /** Resolves once all is sent and fetched: the state is `current` or `conflict`. */
  settled(): Promise<SyncStatus>
  /** Stops; what waits stays. */
  close(): Promise<void>
}

const TIMES = ['pollMs', 'delayMs', 'baseMs', 'capMs', 'stalledMs'] as const
const OPTIONS: readonly (keyof SyncOptions)[] = [
  'store',
  'transport',
  'user',
  'keep',
  'lock',
  'channel',
  'name',
  'network',
  ...TIMES,
  'host',
  'random',
]

/**
 * Lets the scopes of a store follow their home: what is written is kept here at once, in the same
 * transaction with what says that it is to be sent.
 *
 * @throws ERR_INVALID_ARGUMENT, an unknown option included; `pollMs` is 0
 * @example In a browser:
 * ```ts
 * import { createMemory } from 'plimsoll'
 * import { dexieStore } from 'plimsoll/dexie'
 * import { httpTransport, sync } from 'plimsoll/sync'
 *
 * const transport = httpTransport({ url: 'https://memory.example.com', token: () => sessionToken() })
 * const user = { userId: 'ada' }
 * const store = sync({ store: dexieStore({ name: 'assistant' }), transport, user })
 * const memory = createMemory({ store, budget: 16_000 })
 * ```
 */
export function sync(options: SyncOptions): SyncedStore {
  checkOptions('sync', 'options', options, OPTIONS)
  const { store, transport, user, keep } = options
  checkMethod('sync', 'store', store, 'open')
  checkMethod('sync', 'transport', transport, 'push')
  if (user !== undefined) checkShape('sync', 'user', user, { tenant: optional(checkId), userId: checkId })
  if (keep !== undefined) checkMethod('sync', 'keep', keep, 'startOf')
  for (const name of TIMES) {
    const least = name === 'pollMs' ? 1 : 0
    if (!((options[name] ?? least) >= least)) throw invalid('sync', name, `must be ${least} or more`)
  }
  return syncedStore(options)
}
