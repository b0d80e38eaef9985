import { messageIn } from '../kernel/log/bodies.ts'
import { decide } from '../kernel/log/decide.ts'
import { readAll, readEntry } from '../kernel/log/entries.ts'
import { TRIES } from '../kernel/log/once.ts'
import { kernelOf } from '../operations/kernel-of.ts'
import { isPlimsollError, PlimsollError } from '../ports/errors.ts'
import type { AbortSignalLike, Controller, Host } from '../ports/host.ts'
import { type HomeClock, LEASE, type LeaseMark } from '../ports/lease.ts'
import type { SessionBase } from '../ports/memory.ts'
import type { Json, Message, MessageInput } from '../ports/message.ts'
import type { SealedOp } from '../ports/op.ts'
import type { ScopeStore } from '../ports/store.ts'
import { hashText } from '../text/hash.ts'
import { canonical, checkOptions, checkText } from '../text/json.ts'
import type { AgentSession } from './agent-session.ts'
import type { AgentEvent } from './events.ts'
import { leaseIn, type Round, readRound } from './round.ts'
import type { Written } from './transcript.ts'
import { Aborted, checkMs } from './within.ts'

const DEFAULT_MS = 1_500
/** A lease lasts at least this part of the time since its run wrote something. */
const PART = 8
/** Milliseconds between two looks at least. */
const LEAST_WAIT = 20
/** Milliseconds between two looks at what the home has confirmed, where nothing tells of it. */
const SETTLE_MS = 50

export interface LeaseOptions {
  /** Who answers, for people to read: `browser`, `edge`. */
  readonly holder: string
  /**
   * Milliseconds for which a lease holds unless it is renewed: so long others wait for one who is
   * gone. A step that takes long is waited for longer, up to an eighth of the time that it has
   * taken. Default 1 500.
   */
  readonly ms?: number
  /**
   * The home's time. Default: what the session's store knows of it, where that follows a home, else
   * the run's own clock, which is right at home.
   */
  readonly clock?: HomeClock
  /**
   * Where the session follows a home: `wait` holds no lease and goes on with no step before all
   * that is here is in the home's log, so that nobody acts on what the home may refuse. `answer`
   * never waits, so that it works without a network; should another one answer meanwhile, the home
   * keeps one reply for each step, and shows what is left of the run that was longer. Default
   * `wait`.
   */
  readonly offline?: 'wait' | 'answer'
}

/** What decides that a run answers a message, and no other one: made by {@link lease}. */
export interface Lease {
  /**
   * Waits until the message is answered, or may be answered here. @throws ERR_NOT_FOUND,
   * ERR_CONFLICT (the home takes no lease), Aborted
   */
  hold(request: HoldRequest): Promise<Tenure | Settled>
}

export interface HoldRequest {
  readonly session: AgentSession
  /** Id of the user's message. */
  readonly message: string
  readonly host: Host
  readonly signal: AbortSignalLike
  readonly emit: (event: AgentEvent) => void
}

/** The message was answered elsewhere, or is not to be answered any more. */
export interface Settled {
  readonly type: 'settled'
  readonly message: string
  readonly round: Round
}

/** The time for which a run holds the lease of a message. */
export interface Tenure {
  readonly type: 'held'
  readonly message: string
  /** What there was when it began. */
  readonly round: Round
  /** Aborts with the run, and when another one has the lease. */
  readonly signal: AbortSignalLike
  readonly isLost: boolean
  /**
   * Whether it goes on, with so many steps in the log, once all that is here is in the home's log.
   *
   * @throws Aborted
   */
  check(steps: number): Promise<void>
  /** The same of the log as it is here: what was read before had no more. @throws Aborted */
  stillAt(steps: number): Promise<void>
  /** Writes the reply of a step; the log's own wins where there is one. */
  reply(step: number, message: MessageInput): Promise<Written>
  /** Writes a message under its id, or gives the one that has it. */
  append(message: MessageInput & { readonly id: string }): Promise<Written>
  /**
   * Ends it.
   *
   * @param how `answered`: the reply says it; `over`: nobody who waits is to go on; `open`: they
   * are
   */
  end(how: 'answered' | 'over' | 'open'): Promise<void>
}

/**
 * Lets one of several agents answer a message, whichever of them is first, and another one go on
 * where that one ends: each gives it to `runAgent`. What decides is in the log: {@link LeaseMark}.
 *
 * @throws ERR_INVALID_ARGUMENT
 * @example
 * ```ts
 * import { createMemory, lease, mapStore, runAgent, scriptedModel } from 'plimsoll'
 *
 * const session = createMemory({ store: mapStore(), budget: 16_000 }).session({ userId: 'ada' })
 * await session.append({ role: 'user', content: 'When is the train?' })
 * const model = scriptedModel(['At 9:40.'])
 * const { answer } = await runAgent({ session, model, lease: lease({ holder: 'browser' }) })
 * ```
 */
export function lease(options: LeaseOptions): Lease {
  checkOptions('lease', 'options', options, ['holder', 'ms', 'clock', 'offline'])
  checkText('lease', 'holder', options.holder)
  if (options.ms !== undefined) checkMs('lease.ms', options.ms)
  return { hold: (request) => hold(options, request) }
}

/**
 * The lease of a message that counts now; undefined: nobody ever had one. One whose `until` has
 * passed holds no more.
 *
 * @param message id of the user's message
 */
export async function leaseOf(session: SessionBase, message: string): Promise<LeaseMark | undefined> {
  return readLease(kernelOf('leaseOf', session).store, message)
}

async function readLease(store: ScopeStore, message: string): Promise<LeaseMark | undefined> {
  return leaseIn(await readAll(store, { from: message, kinds: [LEASE, 'rewind'] }), message)
}

/** Id of the first reply to a message: the one that shows, else the one that is to come. */
export async function firstReplyId(session: SessionBase, message: string): Promise<string> {
  const { store } = kernelOf('runAgent', session)
  const [first] = (await readRound(store, message))?.steps ?? []
  if (first) return first.message.id
  for (let place = 0; ; place++) {
    const id = replyId(message, 1, place)
    if (!(await readEntry(store, id))) return id
  }
}

/** @param place counts the replies of this step that do not show any more */
function replyId(message: string, step: number, place: number): string {
  return `reply/${hashText(message)}/${step}${place === 0 ? '' : `/${place}`}`
}

async function hold(options: LeaseOptions, request: HoldRequest): Promise<Tenure | Settled> {
  const { message, emit } = request
  const holding = new Holding(options, request)
  try {
    let tries = 0
    for (let waited = false; ; ) {
      const round = await holding.look()
      if (round.answer) break
      const { lease } = round
      if (lease?.term === holding.term) return holding.begin(round)
      const left = lease ? lease.until - holding.clock.earliest() : 0
      if (lease && left > 0) {
        waited = true
        tries = 0
        emit({ type: 'lease', status: 'waiting', message, holder: lease.holder })
        await holding.wait(left)
      } else if (waited && lease?.over) {
        // A run that asks for it now may go on with what was ended; one that only waited may not.
        break
      } else if (tries++ < TRIES) await holding.write()
      else throw new PlimsollError('ERR_CONFLICT', `runAgent: the home refuses each lease of ${message}`)
    }
    await holding.end('answered')
    return { type: 'settled', message, round: await holding.look() }
  } catch (error) {
    await holding.end('answered')
    throw error
  }
}

class Holding implements Tenure {
  readonly type = 'held'
  readonly message: string
  readonly clock: HomeClock
  readonly term: string
  readonly #options: LeaseOptions
  readonly #request: HoldRequest
  readonly #store: ScopeStore
  readonly #controller: Controller
  /** Ends the wait for the next renewal. */
  readonly #ended: Controller
  /** When the run wrote something last, by the host's clock. */
  #movedAt: number
  #until = 0
  #marks = 0
  #hasEnded = false
  #round: Round | undefined
  #isLost = false
  readonly #onAbort = (): void => this.#controller.abort(this.#request.signal.reason)

  constructor(options: LeaseOptions, request: HoldRequest) {
    const { host, session, message, signal } = request
    this.#options = options
    this.#request = request
    this.#store = kernelOf('runAgent', session).store
    this.message = message
    this.clock = options.clock ??
      this.#store.clock ?? { earliest: () => host.now(), latest: () => host.now() }
    this.term = `${LEASE}/${host.newId()}`
    this.#controller = host.controller()
    this.#ended = host.controller()
    this.#movedAt = host.now()
    if (signal.aborted) this.#onAbort()
    signal.addEventListener('abort', this.#onAbort)
  }

  get signal(): AbortSignalLike {
    return this.#controller.signal
  }

  get isLost(): boolean {
    return this.#isLost
  }

  get round(): Round {
    return this.#round as Round
  }

  /** The message's round, once what is here is what the home has. @throws ERR_NOT_FOUND, Aborted */
  async look(): Promise<Round> {
    await this.#settle()
    const { message } = this
    const round = await readRound(this.#store, message)
    if (round) return round
    throw new PlimsollError('ERR_NOT_FOUND', `runAgent: message ${message} does not show`, { id: message })
  }

  begin(round: Round): this {
    const { emit, host } = this.#request
    this.#round = round
    this.#movedAt = host.now()
    emit({ type: 'lease', status: 'held', message: this.message, holder: this.#options.holder })
    void this.#renew()
    return this
  }

  async write(mark: Partial<LeaseMark> = {}): Promise<void> {
    const { host } = this.#request
    const { ms = DEFAULT_MS, holder } = this.#options
    const { clock, message: of, term } = this
    const id = this.#marks++ === 0 ? term : `${LEASE}/${host.newId()}`
    const at = Math.floor(clock.earliest())
    const until = Math.floor(clock.latest() + Math.max(ms, (host.now() - this.#movedAt) / PART))
    const body: LeaseMark = { id, of, holder, term, at, until, ...mark }
    await this.#store.commit([sealed(body)], decide)
    this.#until = until
  }

  async check(steps: number): Promise<void> {
    await this.#settle()
    await this.stillAt(steps)
  }

  async stillAt(steps: number): Promise<void> {
    const round = await readRound(this.#store, this.message)
    if (round?.lease?.term !== this.term) this.#lose(round?.lease)
    else if (round.steps.length !== steps || round.answer) await this.#startOver()
    if (this.signal.aborted) throw new Aborted()
  }

  async reply(step: number, message: MessageInput): Promise<Written> {
    const { emit } = this.#request
    for (let place = 0; ; place++) {
      const id = replyId(this.message, step, place)
      const own = { ...message, id }
      const { repeated } = await this.append(own)
      const { shows } = await this.look()
      const stored = await this.#read(id)
      if (stored && shows(id)) {
        if (said(stored) === said(own)) return { messages: [stored], repeated }
        emit({ type: 'reply-dropped', step, message: own, stored })
        return { messages: [stored], repeated: true }
      }
      // It was hidden as soon as it was written, or never arrived at home.
      if (!repeated || place === TRIES) this.#lose(undefined)
      if (this.signal.aborted) throw new Aborted()
    }
  }

  async append(message: MessageInput & { readonly id: string }): Promise<Written> {
    const { session, host } = this.#request
    const { id, role } = message
    try {
      // A name of its own: else a home would take what another run wrote for this one.
      const opId = `${LEASE}/${host.newId()}`
      const written = await session.append([message], {
        opId,
        ...(role === 'assistant' && { round: this.message }),
      })
      this.#movedAt = host.now()
      return written
    } catch (error) {
      if (!isPlimsollError(error, 'ERR_DUPLICATE_ID')) throw error
      const stored = await this.#read(id)
      return { messages: stored ? [stored] : [], repeated: true }
    }
  }

  async end(how: 'answered' | 'over' | 'open'): Promise<void> {
    const isHeld = !this.#hasEnded
    this.#stop()
    if (!isHeld || how === 'answered') return
    const lease = await readLease(this.#store, this.message)
    if (lease?.term === this.term) await this.write({ until: 0, ...(how === 'over' && { over: true }) })
  }

  /** Resolves after so many milliseconds, or once others wrote. @throws Aborted */
  async wait(ms: number): Promise<void> {
    await pause(this.#request.host, ms, this.signal, (wake) => this.#store.watch?.(wake))
    if (this.signal.aborted) throw new Aborted()
  }

  /** Keeps the lease as long as the run goes on. */
  async #renew(): Promise<void> {
    const { ms = DEFAULT_MS } = this.#options
    while (!this.#hasEnded) {
      // Twice before it ends, so that one that comes late is early enough.
      const left = Math.max(this.#until - this.clock.latest(), ms / 4)
      await pause(this.#request.host, left / 2, this.#ended.signal)
      if (this.#hasEnded) return
      try {
        const lease = await readLease(this.#store, this.message)
        if (lease?.term !== this.term) this.#lose(lease)
        else if (!this.#hasEnded) await this.write()
      } catch {
        // The store may fail for a while; whether the lease is still there says the next look.
      }
    }
  }

  /** Resolves once all that is here is in the home's log. @throws Aborted */
  async #settle(): Promise<void> {
    if (this.#options.offline === 'answer') return
    for (;;) {
      const { seq, confirmed = seq } = await this.#store.head()
      if (confirmed >= seq) return
      await this.wait(SETTLE_MS)
    }
  }

  async #read(id: string): Promise<Message | undefined> {
    const row = await readEntry(this.#store, id)
    return row && messageIn(row)
  }

  #lose(lease: LeaseMark | undefined): void {
    if (this.#hasEnded) return
    this.#stop()
    this.#isLost = true
    const { emit } = this.#request
    emit({ type: 'lease', status: 'lost', message: this.message, holder: lease?.holder ?? '' })
    this.#controller.abort(new Error('another run answers'))
  }

  /** One that had the lease before wrote after all: the run goes on from that. */
  async #startOver(): Promise<void> {
    await this.end('open')
    this.#isLost = true
    this.#controller.abort(new Error('the log has moved on'))
  }

  #stop(): void {
    this.#hasEnded = true
    this.#ended.abort(undefined)
    this.#request.signal.removeEventListener('abort', this.#onAbort)
  }
}

/** Resolves after so many milliseconds, or when the signal aborts, or when it is woken. */
async function pause(
  host: Host,
  ms: number,
  signal: AbortSignalLike,
  watch?: (wake: () => void) => (() => void) | undefined,
): Promise<void> {
  if (signal.aborted) return
  const timeout = host.timeout(Math.max(LEAST_WAIT, Math.ceil(ms)))
  let wake = (): void => {}
  const woken = new Promise<void>((resolve) => {
    wake = resolve
  })
  timeout.signal.addEventListener('abort', wake)
  signal.addEventListener('abort', wake)
  const forget = watch?.(wake)
  await woken
  forget?.()
  signal.removeEventListener('abort', wake)
  timeout.clear()
}

function sealed(mark: LeaseMark): SealedOp {
  const { id } = mark
  const envelope = { opId: `entry:${id}`, kind: 'mark', ids: [id], mark: LEASE, base: null } as const
  return { envelope, bodies: [JSON.stringify({ type: LEASE, ...mark })] }
}

/** What of a message no two writers may have in different words. */
function said({ role, content }: MessageInput): string {
  return canonical([role, content as Json])
}
