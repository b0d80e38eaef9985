import { type Channel, type Lock, type Network, webChannel, webLock, webNetwork } from '../platform/tabs.ts'
import { webHost } from '../platform/web.ts'
import { isPlimsollError, PlimsollError } from '../ports/errors.ts'
import { type Controller, type Host, MOST_MS, type Timeout } from '../ports/host.ts'
import type { HomeClock } from '../ports/lease.ts'
import type { Scope } from '../ports/op.ts'
import { checkOptions } from '../ports/options.ts'
import { scopeName } from '../ports/scope-name.ts'
import type { ScopeStore, Store } from '../ports/store.ts'
import {
  type Answers,
  PUSH_OPS,
  PUSH_UNITS,
  type PushRejection,
  type PushRequest,
  SYNC_SCOPES,
  type SyncFailure,
  type SyncScope,
  type Transport,
} from '../ports/sync.ts'
import { cascade } from './cascade.ts'
import { HomeTime } from './clock.ts'
import { readScopes } from './read.ts'
import { Refusals, type Refused, type Resolution } from './refused.ts'
import { Replica, type ReplicaStore } from './replica.ts'
import { replicaScope } from './replica-scope.ts'
import { type Room, ScopeSync, type Step } from './scope-sync.ts'

/**
 * - `current`: all that was written here is at home, and what is new there is here, as far as is
 *   known.
 * - `syncing`: something is to be sent or fetched.
 * - `conflict`: as `current`, but a register was written here and elsewhere, and the app is to say
 *   what holds.
 * - `offline`: no network, no answer, or paused. Tried again by itself.
 * - `stalled`: connected, but nothing moves; `cause` says why, if anybody did. Tried again by
 *   itself.
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
const DELAY_MS = 10
const BASE_MS = 500
const CAP_MS = 60_000
const STALLED_MS = 30_000
/** Steps that move nothing until it is left to later. */
const IDLE_STEPS = 4
/** How long another tab may take to send what was written here, in milliseconds. */
const TAKE_OVER_MS = 10_000

/**
 * Lets the scopes of a store follow their home: what is written is kept here at once, in the same
 * transaction with what says that it is to be sent.
 *
 * @example
 * ```ts import { createMemory } from 'plimsoll' import { dexieStore } from 'plimsoll/dexie' import
 * { httpTransport, sync } from 'plimsoll/sync' const transport = httpTransport({ url:
 * 'https://memory.example.com', token: () => sessionToken() }) const store = sync({ store:
 * dexieStore(), transport }) const memory = createMemory({ store, budget: 16_000 })
 * ```
 */
export function sync(options: SyncOptions): SyncedStore {
  checkOptions('sync', 'options', options, OPTIONS)
  return new Engine(options)
}

/** A scope that is followed, and why. */
interface Followed {
  readonly sync: ScopeSync
  /** Who has it open or follows it. */
  uses: number
  /** Since when it is due. */
  since: number
  /** Failures in a row, the last of them, and until when it is left alone. */
  failures: number
  cause: PlimsollError | undefined
  until: number
}

/** What tabs tell each other. */
interface Word {
  /** Something is to be sent or fetched of a scope. */
  readonly due?: Scope
  /** How the tab does that works. */
  readonly status?: SyncStatus
  /** Something was refused in a scope: rows of its outbox. */
  readonly refused?: { readonly scope: Scope; readonly orders: readonly number[] }
  /** What an answer told of the home's time, as for {@link HomeTime.heard}. */
  readonly time?: Parameters<HomeTime['heard']>
}

class Engine implements SyncedStore {
  readonly clock: HomeTime
  readonly #options: SyncOptions
  readonly #store: Store
  readonly #transport: Transport
  readonly #host: NonNullable<SyncOptions['host']>
  readonly #network: Network
  readonly #scopes = new Map<string, Followed>()
  readonly #listeners = new Set<(status: SyncStatus) => void>()
  readonly #refusals: Refusals
  readonly #closed: Controller
  readonly #ends: (() => void)[] = []
  readonly #channel: Channel | undefined
  #status: SyncStatus = { state: 'syncing', waiting: 0, refused: 0 }
  /** That of the tab that works, where that is another one. */
  #heard: SyncStatus | undefined
  /** The timer of the next run, and when that is. */
  #timer: { readonly timeout: Timeout; readonly at: number } | undefined
  #watchdog: Timeout | undefined
  #poll: Timeout | undefined
  #unpoke: (() => void) | undefined
  /** Scopes of which changes are told. */
  #poked = ''
  #running: Promise<void> | undefined
  /** Whether there was a reason to run meanwhile. */
  #isWoken = false
  /** Ends the request that is under way. */
  #request: Controller | undefined
  #isWorker: boolean
  #hasStarted = false
  #isPaused = false
  #isSignedOut = false
  /** Failures in a row, the last of them, and until when nothing is tried. */
  #failures = 0
  #cause: PlimsollError | undefined
  #until = 0
  #movedAt: number
  #isStalled = false
  /** Scopes of one request. */
  #together = SYNC_SCOPES

  constructor(options: SyncOptions) {
    const { store, transport, host = webHost, network = webNetwork } = options
    const { name = 'plimsoll-sync', lock = webLock(), channel = webChannel } = options
    this.#options = options
    this.#store = store
    this.#transport = transport
    this.#host = host
    this.clock = new HomeTime(() => host.now())
    this.#network = network
    this.#closed = host.controller()
    this.#isWorker = !lock
    this.#movedAt = host.now()
    this.#refusals = new Refusals({
      open: (scope) => this.open(scope),
      withReplica: (scope, work) => this.#with(scope, ({ sync }) => work(sync.replica)),
      host,
    })
    this.#ends.push(network.listen(() => this.#again()))
    this.#channel = channel ? channel(name) : undefined
    if (this.#channel) this.#channel.onmessage = ({ data }) => this.#hear(data as Word)
    // Without the lock this tab works only where nobody else does.
    if (lock) lock(name, () => this.#work(), this.#closed.signal).catch(() => {})
    this.#wake(0)
    this.#pollLater()
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
      clock: this.clock,
      onWritten: () => {
        followed.sync.isPushDue = true
        this.#due(followed, this.#options.delayMs ?? DELAY_MS)
      },
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
    this.#request?.abort(new PlimsollError('ERR_OFFLINE', 'sync: paused'))
    this.#tell()
  }

  resume(): void {
    this.#isPaused = false
    this.#isSignedOut = false
    this.#again()
  }

  settled(): Promise<SyncStatus> {
    return new Promise((resolve, reject) => {
      const { signal } = this.#closed
      const end = (): void => {
        unsubscribe()
        signal.removeEventListener('abort', closed)
      }
      const see = (): void => {
        const { state } = this.#status
        if (!this.#hasStarted || (state !== 'current' && state !== 'conflict')) return
        end()
        resolve(this.#status)
      }
      const closed = (): void => {
        end()
        reject(signal.reason)
      }
      const unsubscribe = this.subscribe(see)
      signal.addEventListener('abort', closed)
      if (signal.aborted) closed()
      else see()
    })
  }

  async signOut({ force = false } = {}): Promise<SignedOut> {
    const wasPaused = this.#isPaused
    this.pause()
    await this.#running
    const lost: SignedOut['lost'][number][] = []
    const look = (scope: Scope, isLast: boolean) =>
      this.#with(scope, async ({ sync: { replica } }) => {
        for (;;) {
          const view = await replica.view()
          const waiting = view.waiting.length
          const refused = view.outbox.length - waiting
          const isKept = waiting + refused > 0 && !force
          if (waiting + refused > 0 && (isKept || !isLast)) lost.push({ scope, waiting, refused })
          if (!isLast || isKept || (await replica.forget(view))) return
        }
      })
    const scopes = await this.#ourScopes()
    for (const isLast of [false, true])
      for (const scope of scopes) if (!isLast || force || lost.length === 0) await look(scope, isLast)
    this.#isSignedOut = force || lost.length === 0
    this.#isPaused = wasPaused
    if (!this.#isSignedOut) this.#again()
    this.#tell()
    return { done: this.#isSignedOut, lost }
  }

  async close(): Promise<void> {
    const reason = new PlimsollError('ERR_INTERRUPTED', 'sync: closed')
    this.#closed.abort(reason)
    this.#request?.abort(reason)
    for (const end of [...this.#ends, this.#unpoke]) end?.()
    for (const timer of [this.#timer?.timeout, this.#watchdog, this.#poll]) timer?.clear()
    this.#channel?.close()
    await this.#running
    for (const { sync } of this.#scopes.values()) await sync.replica.close()
    this.#scopes.clear()
    this.#listeners.clear()
  }

  get #isClosed(): boolean {
    return this.#closed.signal.aborted
  }

  #isOurs({ tenant, userId }: Scope): boolean {
    const { user } = this.#options
    return !user || (user.userId === userId && user.tenant === tenant)
  }

  #use(scope: Scope): Followed {
    const name = scopeName(scope)
    const known = this.#scopes.get(name)
    if (known) {
      known.uses++
      return known
    }
    const sync = new ScopeSync(scope, new Replica(replicaStore(this.#store.open(scope))))
    const followed = { sync, uses: 1, since: 0, failures: 0, cause: undefined, until: 0 }
    this.#scopes.set(name, followed)
    this.#due(followed, 0)
    return followed
  }

  #unuse(followed: Followed): void {
    followed.uses--
    // What is left of it to do is done by the next run.
    this.#wake(0)
  }

  async #with<Result>(scope: Scope, work: (followed: Followed) => Promise<Result>): Promise<Result> {
    const followed = this.#use(scope)
    try {
      return await work(followed)
    } finally {
      this.#unuse(followed)
    }
  }

  /** A scope is due: here, or in the tab that works. */
  #due(followed: Followed, ms: number): void {
    if (this.#isClosed) return
    const now = this.#host.now()
    if (!this.#dueScopes().some((one) => one !== followed)) this.#movedAt = now
    followed.since = now
    if (!this.#isWorker) this.#say({ due: followed.sync.scope })
    this.#wake(this.#isWorker ? ms : TAKE_OVER_MS)
    this.#tell()
  }

  #dueScopes(): readonly Followed[] {
    return [...this.#scopes.values()].filter(({ sync }) => sync.isDue)
  }

  /** This tab works from now on, until it is closed. */
  #work(): Promise<void> {
    this.#isWorker = true
    this.#hasStarted = false
    this.#heard = undefined
    this.#again()
    return new Promise((resolve) => this.#ends.push(resolve))
  }

  #say(word: Word): void {
    try {
      this.#channel?.postMessage(word)
    } catch {
      // A hint that is lost costs time alone.
    }
  }

  #hear({ due, status, refused, time }: Word): void {
    if (time) this.clock.heard(...time)
    if (due && this.#isWorker && this.#isOurs(due)) {
      const followed = this.#use(due)
      followed.sync.isPushDue = true
      followed.sync.isPullDue ||= followed.sync.replica.seen === undefined
      this.#due(followed, 0)
      this.#unuse(followed)
    }
    if (status && !this.#isWorker) {
      this.#heard = status
      this.#wake(0)
      this.#tell()
    }
    if (refused && this.#isOurs(refused.scope)) this.#tellRefused(refused.scope, refused.orders)
  }

  #tellRefused(scope: Scope, orders: readonly number[]): void {
    this.#with(scope, async ({ sync: { replica } }) => {
      const { outbox } = await replica.view()
      const rows = outbox.filter(({ order, refusal }) => refusal && orders.includes(order))
      await this.#refusals.tell(scope, replica, rows)
    }).catch(() => {})
  }

  /** Something changed around: all is tried again, and asked for. */
  #again(): void {
    this.#failures = 0
    this.#cause = undefined
    this.#until = 0
    this.#movedAt = this.#host.now()
    for (const followed of this.#scopes.values()) {
      followed.until = 0
      followed.sync.isPullDue = true
      followed.sync.isPushDue = true
    }
    this.#wake(0)
    this.#tell()
  }

  #pollLater(): void {
    const { pollMs } = this.#options
    if (pollMs === undefined || this.#isClosed) return
    this.#poll = this.#host.timeout(Math.min(pollMs, MOST_MS))
    this.#poll.signal.addEventListener('abort', () => {
      this.#pull()
      this.#pollLater()
    })
  }

  /** The home may have something new. */
  #pull(isNew: (scope: Scope) => boolean = () => true): void {
    if (!this.#isWorker) return
    for (const followed of this.#scopes.values())
      if (isNew(followed.sync.scope)) {
        followed.sync.isPullDue = true
        this.#due(followed, 0)
      }
  }

  #wake(ms: number): void {
    const at = this.#host.now() + ms
    if (this.#isClosed || (this.#timer && this.#timer.at <= at)) return
    this.#timer?.timeout.clear()
    const timeout = this.#host.timeout(Math.min(ms, MOST_MS))
    this.#timer = { timeout, at }
    timeout.signal.addEventListener('abort', () => {
      this.#timer = undefined
      if (this.#running) this.#isWoken = true
      else this.#running = this.#run()
    })
  }

  async #run(): Promise<void> {
    try {
      await this.#start()
      // What waits is told where nothing can be sent, too.
      for (const { sync } of this.#dueScopes()) await sync.replica.refresh()
      for (let idle = 0; ; ) {
        const due = await this.#workable()
        if (due.length === 0 && (await this.#cascade())) continue
        if (due.length === 0) break
        this.#tell()
        const hasMoved = await this.#step(due)
        if (hasMoved) this.#moved()
        idle = hasMoved ? 0 : idle + 1
        this.#failures = 0
        this.#cause = undefined
        // What says nothing new, again and again, is asked later.
        if (idle >= IDLE_STEPS) for (const one of due) this.#put(one, undefined)
      }
      await this.#sweep()
    } catch (error) {
      this.#failed(error)
    }
    this.#running = undefined
    if (this.#isClosed) return
    this.#listen()
    this.#together = SYNC_SCOPES
    this.#wakeForNext()
    this.#tell()
  }

  #wakeForNext(): void {
    if (this.#isWoken) this.#wake(0)
    this.#isWoken = false
    if (!this.#mayWork) return
    const now = this.#host.now()
    for (const followed of this.#dueScopes())
      this.#wake(Math.max(0, this.#until - now, this.#dueAt(followed) - now))
  }

  /** When a scope may be worked on. */
  #dueAt({ until, since }: Followed): number {
    return Math.max(until, this.#isWorker ? 0 : since + TAKE_OVER_MS)
  }

  /** Whether anything may be sent, now or later by itself. */
  get #mayWork(): boolean {
    const isWelcome = this.#cause?.code !== 'ERR_UPGRADE_REQUIRED'
    return !this.#isPaused && !this.#isSignedOut && !this.#isClosed && isWelcome && this.#network.isOnline()
  }

  async #workable(): Promise<readonly Followed[]> {
    if (!this.#isWorker)
      for (const { sync } of this.#dueScopes()) {
        const { state, waiting } = await sync.replica.view()
        // The other tab has done it.
        if (waiting.length > 0 || state.generation === undefined) continue
        sync.isPushDue = false
        sync.isPullDue = false
      }
    const now = this.#host.now()
    if (!this.#mayWork || this.#until > now) return []
    const due = this.#dueScopes().filter((one) => this.#dueAt(one) <= now)
    return due.slice(0, this.#together)
  }

  /**
   * Takes along what derives in a user's other scopes from what is gone in one. @returns whether
   * anything may be due
   */
  async #cascade(): Promise<boolean> {
    if (!this.#isWorker || !this.#mayWork) return false
    let isDone = false
    for (const { sync } of [...this.#scopes.values()]) {
      const { gone } = sync.replica.seen?.state ?? {}
      if (!gone) continue
      const { sessionId: _, ...user } = sync.scope
      isDone ||= await this.#with(user, async (shared) => {
        // What is noted there may still be to come.
        if (shared.sync.isDue) return this.#dueAt(shared) <= this.#host.now()
        const isOfUser = (scope: Scope) => scopeName({ ...user, ...scope }) === scopeName(scope)
        const scopes = async () => (await readScopes(this.#store)).filter(isOfUser)
        await cascade({ open: (scope) => this.open(scope), scopes, host: this.#host }, sync.scope, gone)
        await sync.replica.cascaded(gone)
        return true
      })
    }
    return isDone
  }

  /** Finds what was written and not sent before. */
  async #start(): Promise<void> {
    if (this.#hasStarted) return
    if (this.#isWorker)
      for (const scope of await this.#ourScopes()) {
        if (this.#scopes.has(scopeName(scope))) continue
        const store = replicaStore(this.#store.open(scope))
        const isWaiting = (await store.outbox(0)).length > 0
        await store.close()
        if (isWaiting) this.#unuse(this.#use(scope))
      }
    this.#hasStarted = true
  }

  async #ourScopes(): Promise<readonly Scope[]> {
    return (await readScopes(this.#store)).filter((scope) => this.#isOurs(scope))
  }

  /** Lets go of what nobody has open and nothing waits of. */
  async #sweep(): Promise<void> {
    for (const [name, { sync, uses }] of this.#scopes) {
      if (uses > 0 || sync.isDue) continue
      this.#scopes.delete(name)
      await sync.replica.close()
    }
  }

  /** Pushes and pulls once. @returns whether anything moved */
  async #step(due: readonly Followed[]): Promise<boolean> {
    const room: Room = { ops: PUSH_OPS, units: PUSH_UNITS }
    const pushes: { readonly followed: Followed; readonly request: PushRequest }[] = []
    for (const followed of due) {
      if (!followed.sync.isPushDue || room.ops === 0) continue
      const request = await followed.sync.pushRequest(room)
      if (request) pushes.push({ followed, request })
    }
    let hasMoved = false
    let failure: unknown
    try {
      if (pushes.length > 0) hasMoved = await this.#push(pushes)
    } catch (error) {
      // A home that takes nothing now may still have something to tell.
      if (!isPlimsollError(error) || STATES[error.code]) throw error
      failure = error
    }
    if (await this.#pullAll(due)) hasMoved = true
    if (failure) throw failure
    return hasMoved
  }

  /** @returns whether anything moved */
  async #pullAll(due: readonly Followed[]): Promise<boolean> {
    let hasMoved = false
    const pulls: { readonly followed: Followed; readonly request: Parameters<ScopeSync['pulled']>[0] }[] = []
    for (const followed of due) {
      if (followed.until > this.#host.now()) continue
      const request = await followed.sync.pullRequest()
      if (request) pulls.push({ followed, request })
    }
    if (pulls.length === 0) return false
    const scoped = pulls.map(({ followed, request }) => ({ ...request, ...named(followed.sync.scope) }))
    const answers = await this.#ask((signal) => this.#transport.pull(scoped, signal))
    for (const [index, { followed, request }] of pulls.entries()) {
      const answer = answers[index] ?? NO_ANSWER
      if ('error' in answer) this.#put(followed, answer)
      else if (await this.#took(followed, followed.sync.pulled(request, answer))) hasMoved = true
    }
    return hasMoved
  }

  async #push(
    pushes: readonly { readonly followed: Followed; readonly request: PushRequest }[],
  ): Promise<boolean> {
    const scoped = pushes.map(({ followed, request }) => ({ ...request, ...named(followed.sync.scope) }))
    let answers: Awaited<ReturnType<Transport['push']>>
    try {
      answers = await this.#ask((signal) => this.#transport.push(scoped, signal))
    } catch (error) {
      const rejected = isPlimsollError(error) ? REJECTIONS[error.code] : undefined
      if (!rejected) throw error
      // One of them cannot be sent: each goes alone, until it is found.
      if (pushes.length > 1) this.#together = 1
      else if (pushes[0]) await this.#unpushable(pushes[0], rejected, error)
      return true
    }
    let hasMoved = false
    for (const [index, push] of pushes.entries()) {
      const { followed, request } = push
      const answer = answers[index] ?? NO_ANSWER
      if (!('error' in answer)) {
        if (await this.#took(followed, followed.sync.pushed(request, answer))) hasMoved = true
        continue
      }
      const rejected = REJECTIONS[answer.error.code]
      if (!rejected) this.#put(followed, answer)
      else await this.#unpushable(push, rejected, errorOf(answer)).catch(() => this.#put(followed, answer))
    }
    return hasMoved
  }

  /** @throws what was thrown, where the home does not even take a push without ops */
  async #unpushable(
    { followed: { sync }, request }: { readonly followed: Followed; readonly request: PushRequest },
    rejected: PushRejection,
    error: unknown,
  ): Promise<void> {
    if (request.ops.length === 1) {
      const probe = [{ ...request, ops: [], ...named(sync.scope) }]
      const [answer = NO_ANSWER] = await this.#ask((signal) => this.#transport.push(probe, signal))
      if ('error' in answer) throw error
    }
    sync.unpushable(request, rejected)
  }

  /** @returns whether anything moved */
  async #took(followed: Followed, step: Promise<Step>): Promise<boolean> {
    const { hasMoved, refused } = await step
    followed.cause = undefined
    // What is answered and goes on as before is asked less and less often.
    if (hasMoved || !followed.sync.isDue) followed.failures = 0
    const { scope, replica } = followed.sync
    if (refused.length > 0) {
      this.#say({ refused: { scope, orders: refused.map(({ order }) => order) } })
      await this.#refusals.tell(scope, replica, refused)
    }
    return hasMoved
  }

  /** @throws ERR_OFFLINE in place of what is no error of ours */
  async #ask<Answer>(
    ask: (signal: Controller['signal']) => Promise<Answers<Answer>>,
  ): Promise<Answers<Answer>> {
    const sentAt = this.#host.now()
    const request = this.#host.controller()
    this.#request = request
    const { signal } = request
    try {
      const answers = await new Promise<Answers<Answer>>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        ask(signal).then(resolve, reject)
      })
      const { time } = answers
      if (time !== undefined) {
        this.clock.heard(time, sentAt)
        this.#say({ time: [time, sentAt] })
      }
      return answers
    } catch (cause) {
      if (isPlimsollError(cause)) throw cause
      throw new PlimsollError('ERR_OFFLINE', 'sync: no answer', { cause })
    } finally {
      this.#request = undefined
    }
  }

  #backoff(failures: number): number {
    const { random = Math.random, baseMs = BASE_MS, capMs = CAP_MS } = this.#options
    return random() * Math.min(capMs, baseMs * 2 ** failures)
  }

  #failed(error: unknown): void {
    if (this.#isPaused || this.#isClosed) return
    this.#cause = isPlimsollError(error)
      ? error
      : new PlimsollError('ERR_STORAGE', 'sync: the store failed', { cause: error })
    const wait = Math.max((this.#cause.retryAfter ?? 0) * 1000, this.#backoff(this.#failures++))
    this.#until = this.#host.now() + wait
  }

  /** Leaves a scope alone for a while. */
  #put(followed: Followed, failure: SyncFailure | undefined): void {
    const { retryAfter = 0 } = failure?.error ?? {}
    followed.cause = failure && errorOf(failure)
    const wait = Math.max(retryAfter * 1000, this.#backoff(followed.failures++), 1)
    followed.until = this.#host.now() + wait
  }

  #moved(): void {
    this.#movedAt = this.#host.now()
    this.#isStalled = false
  }

  /** Hears of changes at home, of the scopes that are followed now. */
  #listen(): void {
    const { pokes } = this.#transport
    if (!pokes) return
    const isHere = this.#isWorker && !this.#isPaused && !this.#isSignedOut
    const followed = [...this.#scopes].filter(([, { uses }]) => isHere && uses > 0)
    const poked = followed.map(([name]) => name).join(' ')
    if (poked === this.#poked) return
    this.#poked = poked
    this.#unpoke?.()
    this.#unpoke = undefined
    if (followed.length === 0) return
    const scopes = followed.map(([, { sync }]) => named(sync.scope))
    this.#unpoke = pokes.call(this.#transport, scopes, (poke) => {
      const { scope } = poke ?? {}
      // Connected again: whatever kept requests from arriving may be over.
      if (!poke) this.#until = 0
      this.#pull(({ sessionId }) => !scope || scope.sessionId === sessionId)
    })
  }

  #tell(): void {
    if (this.#isClosed) return
    this.#watch()
    const status = this.#statusNow()
    if (JSON.stringify(status) === JSON.stringify(this.#status)) return
    this.#status = status
    if (this.#isWorker)
      this.#say({ status: { ...status, ...(status.cause && { cause: bare(status.cause) }) } })
    for (const listener of [...this.#listeners]) listener(status)
  }

  /** Tells, where nothing moves for long. */
  #watch(): void {
    const isDue = this.#dueScopes().length > 0 && this.#mayWork
    if (!isDue) {
      this.#watchdog?.clear()
      this.#watchdog = undefined
      this.#isStalled = false
      return
    }
    if (this.#watchdog) return
    const { stalledMs = STALLED_MS } = this.#options
    const left = Math.max(0, this.#movedAt + stalledMs - this.#host.now())
    if (left === 0) this.#isStalled = true
    else {
      this.#watchdog = this.#host.timeout(Math.min(left, MOST_MS))
      this.#watchdog.signal.addEventListener('abort', () => {
        this.#watchdog = undefined
        this.#tell()
      })
    }
  }

  #statusNow(): SyncStatus {
    const followed = [...this.#scopes.values()]
    const views = followed.flatMap(({ sync }) => sync.replica.seen ?? [])
    const waiting = views.reduce((sum, view) => sum + view.waiting.length, 0)
    const refused = views.reduce((sum, view) => sum + view.outbox.length - view.waiting.length, 0)
    const cause = this.#cause ?? followed.find((one) => one.cause && one.sync.isDue)?.cause
    const heard = this.#isWorker ? undefined : this.#heard
    const isConflict = views.some(({ outbox }) =>
      outbox.some(({ refusal }) => refusal && 'conflict' in refusal),
    )
    const isDue = this.#dueScopes().length > 0
    const state = (): SyncState => {
      if (this.#isSignedOut) return 'signed-out'
      if (this.#isPaused || !this.#network.isOnline()) return 'offline'
      const failed = cause && STATES[cause.code]
      if (failed) return failed
      if (isDue && this.#isStalled) return 'stalled'
      if (heard && (isDue || heard.state !== 'syncing') && heard.state !== 'current') return heard.state
      if (isDue || !this.#hasStarted) return 'syncing'
      return isConflict ? 'conflict' : 'current'
    }
    return { state: state(), waiting, refused, ...(cause && { cause }) }
  }
}

/** What a failure makes of the state; of others only that nothing moves is told. */
const STATES: { readonly [code: string]: SyncState } = {
  ERR_OFFLINE: 'offline',
  ERR_UNAUTHENTICATED: 'signed-out',
  ERR_UPGRADE_REQUIRED: 'upgrade-required',
  ERR_STORAGE_FULL: 'storage-full',
}

/** Errors that say that a push is not to be sent again as it is. */
const REJECTIONS: { readonly [code: string]: PushRejection } = {
  ERR_ENTRY_TOO_LARGE: 'too-large',
  ERR_INVALID_ARGUMENT: 'forbidden',
}

const NO_ANSWER: SyncFailure = { error: { code: 'ERR_INTERNAL', message: 'sync: no answer for a scope' } }

function errorOf({ error: { code, message, retryAfter } }: SyncFailure): PlimsollError {
  return new PlimsollError(code as PlimsollError['code'], message, {
    ...(retryAfter !== undefined && { retryAfter }),
  })
}

/** As much of an error as other tabs can be told. */
function bare({ name, code, message }: PlimsollError): PlimsollError {
  return { name, code, message } as PlimsollError
}

function named({ sessionId }: Scope): SyncScope {
  return sessionId === undefined ? {} : { sessionId }
}

function replicaStore(store: ScopeStore): ReplicaStore {
  if (store.outbox) return store as ReplicaStore
  throw new PlimsollError('ERR_NOT_CONFIGURED', 'sync: the store cannot be the replica of a home')
}
