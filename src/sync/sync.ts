import { PlimsollError, isPlimsollError } from '../ports/errors.ts'
import type { AbortSignalLike, Host, Timeout } from '../ports/host.ts'
import type { Json } from '../ports/message.ts'
import type { Scope } from '../ports/op.ts'
import { scopeName } from '../ports/scope-name.ts'
import type { RegisterRow, ScopeStore, Store } from '../ports/store.ts'
import { PUSH_OPS, PUSH_UNITS, SYNC_SCOPES, type SyncScope, type Transport } from '../ports/sync.ts'
import { type Channel, type Lock, type Network, webChannel, webLock, webNetwork } from '../platform/tabs.ts'
import { webHost } from '../platform/web.ts'
import { Refusals, type Refused, type Resolution } from './refused.ts'
import { Replica, type ReplicaStore } from './replica.ts'
import { replicaScope } from './replica-scope.ts'
import { ScopeSync, type Step } from './scope-sync.ts'

/**
 * - `current`: all that was written here is at home, and what is new there is here, as far as is
 *   known.
 * - `syncing`: something is to be sent or fetched.
 * - `conflict`: as `current`, but a register was written here and elsewhere, and the app is to say
 *   what holds.
 * - `offline`: no network, no answer, or paused. Tried again by itself.
 * - `stalled`: connected, but nothing moves; `cause` says why, if anybody did. Tried again by itself.
 * - `signed-out`: the home does not take the token, or `signOut()` was called. With the former the
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
   * So that of several tabs one works; it is right without, too. Default: Web Locks, where there
   * are any. `false`: each tab works.
   */
  readonly lock?: Lock | false
  /** Default: `BroadcastChannel`, where there is one. `false`: tabs do not talk. */
  readonly channel?: ((name: string) => Channel | undefined) | false
  /** Name of lock and channel: tabs with one database and one user share it. Default: `plimsoll-sync`. */
  readonly name?: string
  /** Default: `navigator.onLine`, and the events `online` and `visibilitychange`. */
  readonly network?: Network
  /**
   * Asks the home each so many milliseconds whether anything is new. Default: never, but when the
   * network or the page comes back, something is written, or the transport's pokes say so.
   */
  readonly pollMs?: number
  /** From a write to its push, in milliseconds: what is written meanwhile goes with it. Default 10. */
  readonly delayMs?: number
  /** After a failure: the first wait is up to so many milliseconds, each further one up to double. Default 500. */
  readonly baseMs?: number
  /** No wait is longer, in milliseconds. Default 60 000. */
  readonly capMs?: number
  /** How long nothing may move, in milliseconds, until the state is `stalled`. Default 30 000. */
  readonly stalledMs?: number
  readonly host?: Pick<Host, 'now' | 'newId' | 'timeout' | 'controller'>
  /** Contract: a number from 0 up to 1. Default: `Math.random`. */
  readonly random?: () => number
}

/** A store whose scopes follow their home. */
export interface SyncedStore extends Store {
  readonly status: SyncStatus
  /** @returns what ends it */
  subscribe(listener: (status: SyncStatus) => void): () => void
  /**
   * `conflict`: a register was written elsewhere too. `rejected`: the home can never take an op. Both
   * were taken back here, and are kept until they are resolved or discarded.
   *
   * @returns what ends it
   */
  on(event: 'conflict' | 'rejected', listener: (refused: Refused) => void): () => void
  /** What the home refused of a scope, oldest first. */
  refused(scope: Scope): Promise<readonly Refused[]>
  /**
   * Writes what is to hold in place of a put that was in conflict, on the version that is there
   * now, and forgets what was refused.
   *
   * @throws ERR_NOT_FOUND: it was resolved already; ERR_CONFLICT: it is no put; or it was deleted
   */
  resolve(refused: Refused, resolution: Resolution): Promise<void>
  /** Forgets what was refused. */
  discard(refused: Refused): Promise<void>
  /** Keeps a scope up to date that is not open. @returns what ends it */
  follow(scope: Scope): () => void
  /** Sends and fetches nothing until {@link resume}; writing goes on. */
  pause(): void
  /** Tries again now, whatever it waits for. */
  resume(): void
  /** Resolves once all is sent and fetched: the state is `current` or `conflict`. */
  settled(): Promise<SyncStatus>
  /**
   * Removes what is here of the user, and stops. Where something waits for the home, or was refused
   * and not resolved, nothing is removed, unless `force` is given.
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

/** Steps that move nothing until it is left to later. */
const IDLE_STEPS = 4
/** How long another tab may take to send what was written here, in milliseconds. */
const TAKE_OVER_MS = 10_000

/**
 * Lets the scopes of a store follow their home: what is written is kept here at once, in the same
 * transaction with what says that it is to be sent.
 *
 * @example
 * ```ts
 * import { createMemory } from 'plimsoll'
 * import { dexieStore } from 'plimsoll/dexie'
 * import { httpTransport, sync } from 'plimsoll/sync'
 * const transport = httpTransport({ url: 'https://memory.example.com', token: () => sessionToken() })
 * const store = sync({ store: dexieStore(), transport })
 * const memory = createMemory({ store, budget: 16_000 })
 * ```
 */
export function sync(options: SyncOptions): SyncedStore {
  return new Engine(options)
}

/** A scope that is followed, and why. */
interface Followed {
  readonly sync: ScopeSync
  /** Who has it open or follows it. */
  uses: number
  /** Failures in a row, and until when it is left alone. */
  failures: number
  until: number
}

class Engine implements SyncedStore {
  readonly #store: Store
  readonly #transport: Transport
  readonly #options: SyncOptions
  readonly #host: Pick<Host, 'now' | 'newId' | 'timeout' | 'controller'>
  readonly #network: Network
  readonly #random: () => number
  readonly #scopes = new Map<string, Followed>()
  readonly #listeners = new Set<(status: SyncStatus) => void>()
  readonly #refusals: Refusals
  readonly #closed
  readonly #ends: (() => void)[] = []
  readonly #channel: Channel | undefined
  #status: SyncStatus = { state: 'syncing', waiting: 0, refused: 0 }
  /** The timer of the next run, and when that is. */
  #timer: { readonly timeout: Timeout; readonly at: number } | undefined
  #watchdog: Timeout | undefined
  #poll: Timeout | undefined
  #unpoke: (() => void) | undefined
  #poked = ''
  /** What is being done. */
  #running: Promise<void> | undefined
  /** Ends what is under way. */
  #attempt: { readonly signal: AbortSignalLike; abort(reason: unknown): void } | undefined
  #isWorker: boolean
  #hasStarted = false
  #isPaused = false
  #isSignedOut = false
  /** Why nothing moves, and until when nothing is tried. */
  #problem: { readonly state: SyncState; readonly cause: PlimsollError } | undefined
  #isStalled = false
  #failures = 0
  #until = 0
  /** Scopes of one request. */
  #together = SYNC_SCOPES

  constructor(options: SyncOptions) {
    const { store, transport, host = webHost, network = webNetwork, random = Math.random } = options
    const { name = 'plimsoll-sync', lock = webLock(), channel = webChannel } = options
    this.#options = options
    this.#store = store
    this.#transport = transport
    this.#host = host
    this.#network = network
    this.#random = random
    this.#closed = host.controller()
    this.#isWorker = !lock
    this.#refusals = new Refusals(this, (scope) => this.#replicaOf(scope), host)
    this.#ends.push(network.listen(() => this.#again()))
    this.#channel = (channel || undefined)?.(name)
    if (this.#channel) this.#channel.onmessage = ({ data }) => this.#hear(data)
    if (lock) lock(name, () => this.#work(), this.#closed.signal).catch(() => {})
    this.#wake(0)
  }

  get status(): SyncStatus {
    return this.#status
  }

  open(scope: Scope): ScopeStore {
    const base = this.#store.open(scope)
    if (!this.#isOurs(scope)) return base
    const followed = this.#use(scope)
    return replicaScope({
      scope: replicaStore(base),
      replica: followed.sync.replica,
      onWritten: () => this.#written(followed),
      onClosed: () => this.#unuse(followed),
    })
  }

  oldestUnused(): Promise<number | undefined> {
    return this.#store.oldestUnused()
  }

  removeUnused(until: number): Promise<number> {
    return this.#store.removeUnused(until)
  }

  scopes(after?: Scope): Promise<readonly Scope[]> {
    return this.#store.scopes(after)
  }

  subscribe(listener: (status: SyncStatus) => void): () => void {
    const own = (status: SyncStatus): void => listener(status)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  on(event: 'conflict' | 'rejected', listener: (refused: Refused) => void): () => void {
    return this.#refusals.on(event, listener)
  }

  refused(scope: Scope): Promise<readonly Refused[]> {
    return this.#refusals.of(scope)
  }

  async resolve(refused: Refused, resolution: Resolution): Promise<void> {
    await this.#refusals.resolve(refused, resolution)
    this.#tell()
  }

  async discard(refused: Refused): Promise<void> {
    await this.#refusals.discard(refused)
    this.#tell()
  }

  follow(scope: Scope): () => void {
    const followed = this.#use(scope)
    let isEnded = false
    return () => {
      if (!isEnded) this.#unuse(followed)
      isEnded = true
    }
  }

  pause(): void {
    this.#isPaused = true
    this.#attempt?.abort(new PlimsollError('ERR_OFFLINE', 'sync: paused'))
    this.#tell()
  }

  resume(): void {
    this.#isPaused = false
    this.#again()
  }

  settled(): Promise<SyncStatus> {
    this.#wake(0)
    return new Promise((resolve, reject) => {
      const ends: (() => void)[] = []
      const end = (): void => {
        for (const one of ends) one()
      }
      const see = (): void => {
        const { state } = this.#status
        if (!this.#hasStarted || (state !== 'current' && state !== 'conflict')) return
        end()
        resolve(this.#status)
      }
      const { signal } = this.#closed
      const closed = (): void => {
        end()
        reject(signal.reason)
      }
      if (signal.aborted) return closed()
      signal.addEventListener('abort', closed)
      ends.push(this.subscribe(see), () => signal.removeEventListener('abort', closed))
      see()
    })
  }

  async signOut({ force = false } = {}): Promise<SignedOut> {
    await this.#start()
    const isPaused = this.#isPaused
    this.pause()
    await this.#running
    const lost: SignedOut['lost'][number][] = []
    for (const isLast of [false, true])
      for await (const scope of this.#ourScopes()) {
        const followed = this.#use(scope)
        const { replica } = followed.sync
        for (let isGone = false; !isGone; ) {
          const view = await replica.view()
          const waiting = view.waiting.length
          const refused = view.outbox.length - waiting
          const hasMore = waiting + refused > 0
          if (hasMore && (!isLast || !force)) lost.push({ scope, waiting, refused })
          isGone = !isLast || (hasMore && !force) || (await replica.forget(view))
        }
        this.#unuse(followed)
        if (isLast && lost.length > 0 && !force) break
      }
    return { done: false, lost, ...(isPaused && {}) }
  }

  async close(): Promise<void> {
    this.#closed.abort(new PlimsollError('ERR_INTERRUPTED', 'sync: closed'))
    this.#attempt?.abort(this.#closed.signal.reason)
    for (const end of this.#ends) end()
    for (const timer of [this.#timer?.timeout, this.#watchdog, this.#poll]) timer?.clear()
    this.#unpoke?.()
    this.#channel?.close()
    this.#listeners.clear()
    await this.#running
    for (const { sync } of this.#scopes.values()) await sync.replica.close()
  }
}
