import { type Channel, webChannel, webLock } from '../platform/tabs.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Controller } from '../ports/host.ts'
import type { Scope } from '../ports/op.ts'
import type { ScopeStore } from '../ports/store.ts'
import { SYNC_SCOPES } from '../ports/sync.ts'
import { checkFunction } from '../text/check-value.ts'
import { Alarm } from './alarm.ts'
import { HomeTime } from './clock.ts'
import { withDefaults } from './defaults.ts'
import { Exchange } from './exchange.ts'
import { Followed } from './followed.ts'
import { hold, leftOf, newPace } from './pace.ts'
import { Pokes } from './pokes.ts'
import type { ScopeSync, Step } from './scope-sync.ts'
import { plimsollError, type SyncStatus, statusOf } from './status.ts'
import type { SyncOptions } from './sync.ts'
import { say, type Word } from './tab-words.ts'

/** Steps that move nothing until it is left to later. */
const IDLE_STEPS = 4
/** How long another tab may take to send what was written here, in milliseconds. */
const TAKE_OVER_MS = 10_000

const PAUSED = new PlimsollError('ERR_OFFLINE', 'sync: paused')

type OnRefused = (scope: Scope, orders: readonly number[]) => Promise<void>

/** Sends and fetches, when there is reason to. */
export class Engine {
  readonly followed: Followed
  /** Told of rows of outboxes that are refused now. */
  readonly onRefused = new Set<OnRefused>()
  readonly closed: Controller
  readonly clock: HomeTime
  readonly #options: ReturnType<typeof withDefaults>
  /** Opens a scope as the app writes to it. */
  readonly open: (scope: Scope) => ScopeStore
  readonly #exchange: Exchange
  readonly #listeners = new Set<(status: SyncStatus) => void>()
  readonly #pokes: Pokes
  readonly #ends: (() => void)[] = []
  readonly #channel: Channel | undefined
  #status: SyncStatus = { state: 'syncing', waiting: 0, refused: 0 }
  /** That of the tab that works, where that is another one. */
  #heard: SyncStatus | undefined
  readonly #alarm: Alarm
  #running: Promise<void> | undefined
  /** Whether there was a reason to run meanwhile. */
  #isWoken = false
  #isWorker: boolean
  /** Whether anything is known of what waits. */
  hasStarted = false
  #isPaused = false
  #isSignedOut = false
  /** What runs while nothing is sent. */
  #pausing = Promise.resolve<unknown>(undefined)
  readonly #pace = newPace()
  #movedAt: number
  #polledAt: number

  /** @param open opens a scope as the app writes to it */
  constructor(options: SyncOptions, open: (scope: Scope) => ScopeStore) {
    this.#options = withDefaults(options)
    this.open = open
    const { transport, host, network, name, lock = webLock(), channel = webChannel } = this.#options
    this.closed = host.controller()
    this.#isWorker = !lock
    this.clock = new HomeTime(() => host.now())
    this.#movedAt = host.now()
    this.#polledAt = this.#movedAt
    this.#alarm = new Alarm(host, () => this.#rung())
    this.#exchange = new Exchange({
      transport,
      host,
      stopped: () => {
        const { aborted, reason } = this.closed.signal
        return aborted ? (reason as PlimsollError) : this.#isPaused ? PAUSED : undefined
      },
      onTime: (...time) => {
        this.clock.heard(...time)
        say(this.#channel, { time })
      },
      onFailure: ({ pace }, error) => hold(pace, error, this.#options),
      onStep: (sync, step) => this.#took(sync, step),
    })
    this.followed = new Followed(
      options,
      (sync) => this.#due(sync, 0),
      // What is left of it to do is done by the next run.
      () => this.#wake(0),
    )
    this.#pokes = new Pokes(transport, (poke) => {
      const { scope } = poke ?? {}
      // Connected again: whatever kept requests from arriving may be over.
      if (!poke && !this.#pace.cause?.retryAfter) this.#pace.ms = 0
      this.#pull(({ sessionId }) => !scope || scope.sessionId === sessionId)
    })
    this.#ends.push(network.listen(() => this.#again()))
    this.#channel = channel ? channel(name) : undefined
    if (this.#channel) this.#channel.onmessage = ({ data }) => this.#hear(data as Word)
    // Without the lock this tab works only where nobody else does. Where a browser refuses locks,
    // as it does where the user blocks site data, each tab works.
    if (lock)
      lock(name, () => this.#work(), this.closed.signal).catch(() => {
        if (!this.closed.signal.aborted) void this.#work()
      })
    this.#wake(0)
  }

  get status(): SyncStatus {
    return this.#status
  }

  newId(): string {
    return this.#options.host.newId()
  }

  subscribe(listener: (status: SyncStatus) => void): () => void {
    checkFunction('subscribe', 'listener', listener)
    const own = (status: SyncStatus): void => listener(status)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  /** Something of a scope waits for the home. */
  written(sync: ScopeSync): void {
    sync.isPushDue = true
    this.#due(sync, this.#options.delayMs)
  }

  /** Puts a log that begins at a seq in place of what is here of it. @throws ERR_OFFLINE */
  async older(sync: ScopeSync, start: number): Promise<void> {
    if (!this.#mayWork) throw new PlimsollError('ERR_OFFLINE', 'sync: what is older is at home alone')
    await this.#exchange.start(sync, start)
    sync.isPullDue = true
    this.#due(sync, 0)
  }

  pause(): void {
    this.#isPaused = true
    this.#exchange.abort(PAUSED)
    this.tell()
  }

  resume(): void {
    this.#isPaused = false
    this.#isSignedOut = false
    say(this.#channel, { isSignedOut: false })
    this.#again()
  }

  /** Runs something while nothing is sent, which says whether the user is signed out then. */
  paused<Result extends { readonly done: boolean }>(work: () => Promise<Result>): Promise<Result> {
    // One after the other: a second one would find the first one's pause, and leave it.
    const done = this.#pausing.then(async () => {
      const wasPaused = this.#isPaused
      this.pause()
      await this.#running
      try {
        const result = await work()
        this.#isSignedOut ||= result.done
        if (result.done) say(this.#channel, { isSignedOut: true })
        return result
      } finally {
        this.#isPaused = wasPaused
        this.#again()
      }
    })
    this.#pausing = done.catch(() => {})
    return done
  }

  async close(): Promise<void> {
    const reason = new PlimsollError('ERR_INTERRUPTED', 'sync: closed')
    this.closed.abort(reason)
    this.#exchange.abort(reason)
    this.#pokes.listen([])
    for (const end of this.#ends) end()
    this.#alarm.clear()
    this.#channel?.close()
    await this.#running
    await this.followed.sweep(true)
    this.#listeners.clear()
  }

  #now(): number {
    return this.#options.host.now()
  }

  /** A scope is due: here, or in the tab that works. */
  #due(sync: ScopeSync, ms: number): void {
    if (this.closed.signal.aborted) return
    sync.since = this.#now()
    if (this.followed.due.every((one) => one === sync)) this.#movedAt = sync.since
    if (!this.#isWorker) say(this.#channel, { due: sync.scope })
    this.#wake(this.#isWorker ? ms : TAKE_OVER_MS)
    this.tell()
  }

  /** This tab works from now on, until it is closed. */
  #work(): Promise<void> {
    this.#isWorker = true
    this.hasStarted = false
    this.#heard = undefined
    this.#again()
    return new Promise((resolve) => this.#ends.push(resolve))
  }

  #hear({ due, status, refused, time, isSignedOut }: Word): void {
    if (time) this.clock.heard(...time)
    if (isSignedOut !== undefined) {
      this.#isSignedOut = isSignedOut
      this.#again()
    }
    const followed = this.followed
    if (due && this.#isWorker && followed.isOurs(due)) {
      const sync = followed.use(due)
      sync.isPushDue = true
      sync.isPullDue ||= sync.replica.seen === undefined
      this.#due(sync, 0)
      followed.unuse(sync)
    }
    if (status && !this.#isWorker) {
      this.#heard = status
      this.#wake(0)
      this.tell()
    }
    if (refused && followed.isOurs(refused.scope)) this.#refused(refused).catch(() => {})
  }

  /** Something changed around: all is tried again, and asked for. */
  #again(): void {
    Object.assign(this.#pace, newPace())
    this.#movedAt = this.#now()
    for (const sync of this.followed.all) {
      sync.pace.ms = 0
      sync.isPullDue = true
      sync.isPushDue = true
      sync.fetchAgain()
    }
    this.#wake(0)
    this.tell()
  }

  /** The home may have something new. */
  #pull(isNew: (scope: Scope) => boolean = () => true): void {
    if (!this.#isWorker) return
    for (const sync of this.followed.all)
      if (isNew(sync.scope)) {
        sync.isPullDue = true
        this.#due(sync, 0)
      }
  }

  #wake(ms: number): void {
    if (!this.closed.signal.aborted) this.#alarm.set(ms)
  }

  #rung(): void {
    this.#isWoken = this.#running !== undefined
    if (this.#isWoken) this.tell()
    else this.#running = this.#run()
  }

  async #run(): Promise<void> {
    const pace = this.#pace
    try {
      await this.#start()
      // What waits is told where nothing can be sent, too, and what another tab has seen to.
      for (const { replica } of this.followed.all) await replica.refreshed()
      for (let idle = 0; ; ) {
        const due = await this.#workable()
        if (due.length === 0) {
          const isDueNow = (one: ScopeSync) => this.#leftFor(one) === 0
          if (!this.#isWorker || !this.#mayWork) break
          if (await this.followed.cascade(this.open, this.#options.host, isDueNow)) continue
          break
        }
        this.tell()
        const hasMoved = await this.#exchange.step(due)
        if (hasMoved) this.#movedAt = this.#now()
        idle = hasMoved ? 0 : idle + 1
        pace.failures = 0
        pace.cause = undefined
        // What says nothing new, again and again, is asked later.
        if (idle >= IDLE_STEPS) for (const one of due) hold(one.pace, undefined, this.#options)
      }
      await this.followed.sweep()
    } catch (error) {
      // Where it goes on by now, that is no failure.
      if (error !== PAUSED && !this.closed.signal.aborted)
        hold(pace, plimsollError(error, 'ERR_STORAGE', 'sync: the store failed'), this.#options)
    }
    this.#running = undefined
    if (this.closed.signal.aborted) return
    const isHere = this.#isWorker && !this.#isPaused && !this.#isSignedOut
    this.#pokes.listen(isHere ? this.followed.all.filter(({ uses }) => uses > 0) : [])
    this.#exchange.together = SYNC_SCOPES
    this.#wakeForNext()
    this.tell()
  }

  #wakeForNext(): void {
    const now = this.#now()
    const { pollMs } = this.#options
    if (pollMs !== undefined) {
      const left = leftOf({ since: this.#polledAt, ms: pollMs }, now)
      if (left === 0) {
        this.#polledAt = now
        this.#pull()
      }
      this.#wake(left || pollMs)
    }
    if (this.#isWoken) this.#wake(0)
    this.#isWoken = false
    if (!this.#mayWork) return
    for (const sync of this.followed.due) this.#wake(Math.max(leftOf(this.#pace, now), this.#leftFor(sync)))
  }

  /** How long a scope is not to be worked on, in milliseconds. */
  #leftFor({ pace, since }: ScopeSync): number {
    const now = this.#now()
    return Math.max(leftOf(pace, now), this.#isWorker ? 0 : leftOf({ since, ms: TAKE_OVER_MS }, now))
  }

  /** Whether anything may be sent, now or later by itself. */
  get #mayWork(): boolean {
    if (this.#isPaused || this.#isSignedOut || this.closed.signal.aborted) return false
    return this.#pace.cause?.code !== 'ERR_UPGRADE_REQUIRED' && this.#options.network.isOnline()
  }

  async #workable(): Promise<readonly ScopeSync[]> {
    if (!this.#isWorker)
      for (const sync of this.followed.due) {
        const { state, waiting } = await sync.replica.view()
        sync.mayFetch = false
        // The other tab has done it.
        if (waiting.length > 0 || state.generation === undefined) continue
        sync.isPushDue = false
        sync.isPullDue = false
      }
    if (!this.#mayWork || leftOf(this.#pace, this.#now()) > 0) return []
    const due = this.followed.due.filter((one) => this.#leftFor(one) === 0)
    return due.slice(0, this.#exchange.together)
  }

  /** Finds what was written and not sent before. */
  async #start(): Promise<void> {
    if (!this.hasStarted) await this.followed.findWaiting()
    this.hasStarted = true
  }

  async #refused({ scope, orders }: NonNullable<Word['refused']>): Promise<void> {
    for (const tell of [...this.onRefused]) await tell(scope, orders)
  }

  async #took(sync: ScopeSync, { hasMoved, refused }: Step): Promise<void> {
    const { scope, pace } = sync
    // One that did not take something may still tell something.
    if (leftOf(pace, this.#now()) === 0) pace.cause = undefined
    // What is answered and goes on as before is asked less and less often.
    if (hasMoved || !sync.isDue) pace.failures = 0
    if (refused.length === 0) return
    const word = { scope, orders: refused.map(({ order }) => order) }
    say(this.#channel, { refused: word })
    await this.#refused(word)
  }

  /** Tells how it stands, where that changed. */
  tell(): void {
    if (this.closed.signal.aborted) return
    const status = statusOf(this.followed.all, {
      isSignedOut: this.#isSignedOut,
      isOffline: this.#isPaused || !this.#options.network.isOnline(),
      isStalled: this.#isStalled(),
      hasStarted: this.hasStarted,
      cause: this.#pace.cause,
      heard: this.#isWorker ? undefined : this.#heard?.state,
    })
    if (JSON.stringify(status) === JSON.stringify(this.#status)) return
    this.#status = status
    if (this.#isWorker) say(this.#channel, { status })
    // An observer stops nothing: what it watches has happened.
    for (const listener of [...this.#listeners])
      try {
        listener(status)
      } catch {}
  }

  /** Whether nothing moves for long. Where something is due, it is looked at again then. */
  #isStalled(): boolean {
    if (!this.#mayWork || this.followed.due.length === 0) return false
    const now = this.#now()
    // Of a clock that was set back it is not known how long it has been.
    this.#movedAt = Math.min(this.#movedAt, now)
    const left = this.#movedAt + this.#options.stalledMs - now
    if (left > 0) this.#wake(left)
    return left <= 0
  }
}
