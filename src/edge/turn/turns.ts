import { webHost } from '../../platform/web.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import { hookedModel, type ModelHooks } from './hooked-model.ts'
import type { ChatRequest, RequestKey, TurnOutcome, TurnWork } from './protocol.ts'
import { type RunRow, RunTables } from './run-tables.ts'
import { addCall, nothingSpent } from './spent.ts'
import { endedTape, RunTape, type TapeSource } from './tape.ts'
import { tapePieces, tapeStream } from './tape-stream.ts'
import { Turn } from './turn.ts'
import type { ResumedRun, RunStream, TurnsOptions } from './turns-options.ts'
import { startOf, uiEncoder } from './ui/encoder.ts'

/** Milliseconds for which an ended run can be read again, and one under an `Idempotency-Key`. */
const KEEP_MS = 60 * 60_000
const KEEP_NAMED_MS = 24 * KEEP_MS
/** The same of one during which something was forgotten: for who still reads it. */
const KEEP_FORGETFUL_MS = 60_000
/**
 * An object that nobody calls is evicted after 70 to 140 seconds, whatever it waits for; an alarm
 * is a call.
 */
const BEAT_MS = 30_000
/** A model or a tool that never answers would keep everybody else from the session. */
const TIMEOUTS = { model: 5 * 60_000, tool: 5 * 60_000 }
/** Turns that wait for another: each of them holds its request in memory. */
const MOST_WAITING = 8
/** Seconds. */
const RETRY_AFTER = 5

/**
 * The turns of one session's object; they outlive their callers. Of requests that have a
 * key there is one at a time, and another is refused meanwhile; what they stream is kept for an
 * hour after their end, so that it can be read again from its beginning, by as many as want to.
 * Requests without a key wait for one another, and nothing of them is kept.
 *
 * The agent has the object's tools and no others: tools that a page declares are not run by it, and
 * a call of one is answered with an error that the model reads. Results that a page gives for calls
 * which wait (`addToolOutput`) are taken, and the run goes on with them.
 *
 * Make one of them for an object, and no second one over the same storage: runs that an instance
 * does not know it takes for interrupted.
 */
export class Turns {
  readonly #options: TurnsOptions
  readonly #host: Host
  readonly #tables: RunTables
  #live: Turn | undefined
  /** Whether there may be rows of runs that go on no more; never while a run goes on. */
  #mayBeLost = true
  #beatAt = 0
  /**
   * The end of the newest turn that is not kept, for the next one to wait for; the one that goes
   * on; how many wait.
   */
  #newest: Promise<void> = Promise.resolve()
  #busy: Turn | undefined
  #waiting = 0

  constructor(options: TurnsOptions) {
    this.#options = options
    this.#host = options.host ?? webHost
    this.#tables = new RunTables(options.storage, options.seal)
  }

  /**
   * Begins a turn, and resolves once its first context is built, or the model has begun where
   * nothing is kept: what is thrown before that is thrown here. To leave the stream does not end
   * the turn.
   *
   * The same request again joins the run while it goes on, and reads it again once it has ended; a
   * run that failed or was interrupted is started again, and goes on with what was recorded. Which
   * requests are the same, an `Idempotency-Key` says, else their ids and what they hold.
   *
   * Its stream keeps no timer, so that the object may rest; that of {@link resume} does.
   *
   * @throws ERR_CONFLICT (`id`: another run goes on; or the key was used for something else),
   * ERR_OVERLOADED (too many wait), what `beforeModel` throws, as `session.append()` and
   * `session.context()`
   */
  async start(request: ChatRequest, by: StartedBy = {}): Promise<RunStream> {
    return request.key ? this.#startKept(request, request.key, by) : this.#startNext(request, by)
  }

  async #startKept(request: ChatRequest, known: RequestKey, by: StartedBy): Promise<RunStream> {
    this.#findLost()
    const live = this.#live
    if (live && live.key?.key !== known.key)
      throw new PlimsollError('ERR_CONFLICT', 'chat: another run goes on in this session', { id: live.id })
    const secret = live ? undefined : this.#tables.secret()
    const hidden = secret === undefined ? known : this.#hidden(known, secret)
    const kept = secret === undefined ? undefined : this.#keptOf(hidden)
    const same = live?.key ?? kept
    if (same && same.fingerprint !== hidden.fingerprint)
      throw new PlimsollError('ERR_CONFLICT', 'chat: the Idempotency-Key was used for another request')
    // Who sent the message that a run goes on with has its parts already.
    const { hasParts } = request
    if (kept)
      return {
        run: kept.id,
        stream: this.#stream(endedTape(this.#tables, kept.place), hasParts ? kept : undefined),
      }
    const turn =
      live ?? this.#beginKept(request, by, known, secret === undefined ? this.#hidden(known) : hidden)
    await turn.begun
    return { run: turn.id, stream: this.#stream(turn.tape, hasParts ? turn : undefined) }
  }

  async #startNext(request: ChatRequest, by: StartedBy): Promise<RunStream> {
    if (this.#waiting >= MOST_WAITING)
      throw new PlimsollError(
        'ERR_OVERLOADED',
        'chat.completions: too many requests wait in this session already',
        {
          retryAfter: RETRY_AFTER,
        },
      )
    this.#waiting++
    const next = this.#newest.then(async () => {
      this.#waiting--
      await this.#options.onTurn?.(this.#host.now() + BEAT_MS)
      this.#busy = this.#begin(request, by)
      return this.#busy
    })
    // Its end is waited for, also where it could not begin.
    this.#newest = next.then(({ ended }) => ended).catch(() => {})
    const { id, begun, tape } = await next
    await begun
    return { run: id, stream: tapePieces(tape) }
  }

  /**
   * A run's stream from its first chunk on, live if it goes on.
   *
   * @param run its id, or `current`: the one that goes on now, or that was interrupted and that no
   * other followed
   * @returns undefined: there is none, or none any more. Over HTTP that is status 204.
   */
  resume(run: string): ResumedRun | undefined {
    this.#findLost()
    const live = this.#live
    if (live && (run === 'current' || run === live.id))
      return { run: live.id, stream: tapeStream(live.tape, this.#host) }
    const row = run === 'current' ? this.#tables.newest() : this.#tables.byId(run)
    if (!row || (run === 'current' && row.status !== 'interrupted')) return undefined
    return { run: row.id, stream: tapeStream(endedTape(this.#tables, row.place)) }
  }

  /**
   * Stops a run, and resolves when nothing more will be recorded of it. What it had recorded stays;
   * a reply that was not whole is not recorded. Idempotent.
   *
   * @param run its id, or `current`
   * @returns whether it went on until then
   */
  async stop(run: string): Promise<boolean> {
    const live = this.#live
    if (!live || (run !== 'current' && run !== live.id)) return false
    live.stop()
    await live.ended
    return true
  }

  /**
   * Stops all that goes on, kept or not, and resolves when nothing more will be recorded of it. A
   * turn that is not kept may itself wait for this, as long as it has no session.
   */
  async stopAll(): Promise<void> {
    const turns = [this.#live, this.#busy?.isOpen ? this.#busy : undefined].filter(
      (turn) => turn !== undefined,
    )
    for (const turn of turns) turn.stop()
    await Promise.all(turns.map(({ ended }) => ended))
  }

  /** Id of the run that goes on; undefined: none does. */
  get current(): string | undefined {
    return this.#live?.id
  }

  /** Whether a run goes on that is kept. */
  get isLive(): boolean {
    return this.#live !== undefined
  }

  /** When {@link runDueWork} wants to be called next, Unix milliseconds; undefined: never. */
  nextWorkAt(): number | undefined {
    this.#findLost()
    if (this.#live) return this.#beatAt
    return this.#tables.firstDue()
  }

  /** Whether the newest run under a key failed, of those that are kept. */
  hasFailed(key: string): boolean {
    this.#findLost()
    const secret = this.#tables.secret()
    if (secret === undefined) return false
    return this.#tables.newestOf(this.#tables.hide(key, secret))?.status === 'failed'
  }

  /**
   * When it is to be called again while a turn goes on that is not kept, so that the object stays
   * awake; undefined: none does.
   */
  beat(): number | undefined {
    return this.#busy ? this.#host.now() + BEAT_MS : undefined
  }

  /**
   * Removes what is kept of runs that ended an hour ago, or a day ago where they have an
   * `Idempotency-Key`. To be called by an alarm also keeps the object awake while a run goes on.
   */
  runDueWork(): void {
    const now = this.#host.now()
    this.#findLost()
    if (this.#live) {
      this.#beatAt = now + BEAT_MS
      this.#live.tape.keep()
    }
    for (const { place } of this.#tables.dueUntil(now)) this.#tables.remove(place)
  }

  /**
   * Removes what is kept of all runs that have ended: their streams hold what was said. One that
   * goes on is kept for a minute after its end. For calls that forget messages of the session.
   */
  clear(): void {
    // Of those that nobody works at any more nothing need be said: who could read it is gone with
    // them.
    const lost = this.#live ? [] : this.#tables.running()
    for (const { place } of [...lost, ...this.#tables.dueUntil(Number.MAX_SAFE_INTEGER)])
      this.#tables.remove(place)
    if (this.#live) this.#tables.shorten(KEEP_FORGETFUL_MS)
    this.#tables.forgetSecret()
  }

  /** The same, as it is stored: its hashes of what was said cannot be tried. */
  #hidden({ key, fingerprint, ...rest }: RequestKey, secret = this.#secret()): RequestKey {
    const hide = (name: string): string => this.#tables.hide(name, secret)
    return { ...rest, key: hide(key), fingerprint: hide(fingerprint) }
  }

  #secret(): string {
    const kept = this.#tables.secret()
    if (kept !== undefined) return kept
    const secret = this.#host.newSecret()
    this.#tables.keepSecret(secret)
    return secret
  }

  /**
   * A run that the request can be the same as, if it came to an end that is worth to be read again.
   */
  #keptOf({ key, among }: RequestKey): RunRow | undefined {
    if (among === 'running') return undefined
    const row = among === 'all' ? this.#tables.newestOf(key) : this.#tables.newest()
    const hasReply = row?.status === 'done' || row?.status === 'stopped'
    return hasReply && row.key === key ? row : undefined
  }

  #beginKept(request: ChatRequest, by: StartedBy, key: RequestKey, hidden: RequestKey): Turn {
    const turn = this.#begin(request, by, key, hidden)
    this.#live = turn
    this.#beatAt = this.#host.now() + BEAT_MS
    this.#options.onRun?.(this.#beatAt)
    return turn
  }

  #begin(request: ChatRequest, by: StartedBy, key?: RequestKey, hidden?: RequestKey): Turn {
    const host = this.#host
    const tables = this.#tables
    const id = host.newId()
    const place = hidden && tables.insert({ id, ...hidden, keep: hidden.isNamed ? KEEP_NAMED_MS : KEEP_MS })
    const onFailure = (error: unknown): void => turn.fail(error)
    const tape = new RunTape(place === undefined ? undefined : { tables, place, host, onFailure })
    const begunAt = host.now()
    const spent = nothingSpent()
    const onEnd = (outcome: TurnOutcome | undefined): void => {
      this.#end(turn, place, outcome)
      if (!outcome) return
      const milliseconds = host.now() - begunAt
      this.#options.onEnd?.({ run: id, ...outcome, ...spent, milliseconds, size: tape.size })
    }
    const turn: Turn = new Turn({ id, key, tape, host, onEnd })
    void turn.work(request, () => this.#work(by, spent))
    return turn
  }

  async #work(by: StartedBy, spent: ReturnType<typeof nothingSpent>): Promise<TurnWork> {
    const { tools, run, lease: leaseOf, ...hooks } = this.#options
    const { model, session: open } = { ...this.#options, ...by }
    const options = run?.() ?? {}
    const lease = leaseOf?.()
    const answering = await model()
    const session = await open()
    const afterModel: ModelHooks['afterModel'] = (usage, context, said) => {
      addCall(spent, answering.id, usage, context)
      return hooks.afterModel?.(usage, context, said)
    }
    return {
      model: (more) => hookedModel(answering, { ...hooks, afterModel, ...more }),
      session,
      tools: tools?.(session) ?? [],
      options: { ...options, timeouts: { ...TIMEOUTS, ...options.timeouts } },
      ...(lease && { lease }),
    }
  }

  #end({ tape }: Turn, place: number | undefined, outcome: TurnOutcome | undefined): void {
    if (place === undefined) this.#busy = undefined
    else this.#endKept(tape, place, outcome !== undefined)
  }

  #endKept(tape: RunTape, place: number, hasBegun: boolean): void {
    this.#live = undefined
    // Its row still says that it goes on.
    if (tape.hasFailed) this.#mayBeLost = true
    try {
      // What did not begin leaves nothing to read.
      if (!hasBegun) this.#tables.remove(place)
      const due = this.#tables.dueOf(place)
      if (due !== undefined) this.#options.onWork?.(due)
    } catch {
      // Storage failed; the next caller learns it.
      this.#mayBeLost = true
    }
  }

  #stream(
    source: TapeSource,
    after?: { readonly messageId?: string; readonly begin: number },
  ): AsyncIterable<Uint8Array> {
    const { messageId } = after ?? {}
    return tapePieces(source, {
      from: after?.begin ?? 0,
      ...(messageId !== undefined && { first: startOf(messageId) }),
    })
  }

  /**
   * Ends the streams of runs of which the row says that they go on, and which nobody works at any
   * more.
   */
  #findLost(): void {
    if (!this.#mayBeLost) return
    const tables = this.#tables
    const error = new PlimsollError('ERR_INTERRUPTED', 'chat: the object was restarted')
    for (const { place } of tables.running()) {
      // What is kept is of one protocol.
      const end = uiEncoder({ messageId: '' }).next({ type: 'error', error })
      tables.end(
        place,
        { status: 'interrupted', messageId: '', begin: 0, endedAt: this.#host.now() },
        { at: tables.sizeOf(place), bytes: new TextEncoder().encode(end) },
      )
    }
    this.#mayBeLost = false
  }
}

/** What one turn has in place of what the options say. */
export type StartedBy = Partial<Pick<TurnsOptions, 'session' | 'model'>>
