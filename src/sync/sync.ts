import type { Channel, Lock, Network } from '../platform/tabs.ts'
import type { Certificate } from '../ports/certificate.ts'
import type { Host } from '../ports/host.ts'
import type { HomeClock } from '../ports/lease.ts'
import type { Scope } from '../ports/op.ts'
import { checkOptions } from '../ports/options.ts'
import type { Store } from '../ports/store.ts'
import type { Transport } from '../ports/sync.ts'
import type { KeepLocal } from './keep-local.ts'
import type { Refused, Resolution } from './refused.ts'
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
   * Name of lock and channel: tabs with one database and one user share it. Default: `plimsoll-
   * sync`.
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
   * `conflict`: a register was written elsewhere too. `rejected`: the home can never take an op.
   * Both were taken back here, and are kept until they are resolved or discarded.
   *
   * @returns what ends it
   */
  on(event: 'conflict' | 'rejected', listener: (refused: Refused) => void): () => void
  /** What the home refused of a scope, oldest first. */
  refused(scope: Scope): Promise<readonly Refused[]>
  /**
   * Writes what is to hold in place of a put that was refused, on the version that is there now,
   * and forgets what was refused. Another value keeps the places in indexes of the one that was
   * refused.
   *
   * @throws ERR_NOT_FOUND: it was resolved already; ERR_INVALID_ARGUMENT: it is no put, or
   * forgotten; ERR_CONFLICT: the register was deleted
   */
  resolve(refused: Refused, resolution: Resolution): Promise<void>
  /** Forgets what was refused. */
  discard(refused: Refused): Promise<void>
  /**
   * A certificate of forgetting with the replicas of its scope, which is open or followed, as the
   * home told last: which hold nothing of all that is deleted there, this device among them, and
   * which have not said so. Where a delete still waits here, none has. Wait for {@link settled}
   * before.
   *
   * @param scope a session's, or that of the user: what derives in others goes with theirs
   */
  certify(scope: Scope, certificate: Certificate): Promise<Certificate>
  /** Keeps a scope up to date that is not open. @returns what ends it */
  follow(scope: Scope): () => void
  /** Sends and fetches nothing until {@link resume}; writing goes on. */
  pause(): void
  /** Tries again now, whatever it waits for. */
  resume(): void
  /** Resolves once all is sent and fetched: the state is `current` or `conflict`. */
  settled(): Promise<SyncStatus>
  /**
   * Removes what is here of the user, and stops until {@link resume}. Where something waits for the
   * home, or was refused and not resolved, nothing is removed, unless `force` is given: wait for
   * {@link settled} before, for as long as the user would.
   *
   * @returns what was lost, or would be: by scope, how many ops
   */
  signOut(options?: { readonly force?: boolean }): Promise<SignedOut>
  /** Stops; what waits stays. */
  close(): Promise<void>
}

export interface SignedOut {
  readonly done: boolean
  readonly lost: readonly { readonly scope: Scope; readonly waiting: number; readonly refused: number }[]
}

const OPTIONS: readonly (keyof SyncOptions)[] = [
  'store',
  'transport',
  'user',
  'keep',
  'lock',
  'channel',
  'name',
  'network',
  'pollMs',
  'delayMs',
  'baseMs',
  'capMs',
  'stalledMs',
  'host',
  'random',
]
/**
 * Lets the scopes of a store follow their home: what is written is kept here at once, in the same
 * transaction with what says that it is to be sent.
 *
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
  return syncedStore(options)
}
