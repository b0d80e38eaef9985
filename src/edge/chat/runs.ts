import { webHost } from '../../platform/web.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import { NO_SEAL, type ObjectSeal } from '../rows/object-seal.ts'
import { type ChatRequest, keyOf, type RequestKey } from './chat-request.ts'
import type { ChatRunsOptions, RunStream } from './chat-runs-options.ts'
import { LiveRun, type RunOutcome, type RunWork } from './live-run.ts'
import { runErrorText } from './run-error.ts'
import { type RunRow, RunTables } from './run-tables.ts'
import { endedTape, RunTape, type TapeSource } from './run-tape.ts'
import { tapeStream } from './tape-stream.ts'
import { SSE_DONE, sse } from './ui-message-stream.ts'

/** Milliseconds for which an ended run can be read again. */
const KEEP_MS = 60 * 60_000
/** An object that nobody calls is evicted after 70 to 140 seconds, whatever it waits for; an alarm is a call. */
const BEAT_MS = 30_000
/** A model or a tool that never answers would keep everybody else from the session. */
const TIMEOUTS = { model: 5 * 60_000, tool: 5 * 60_000 }

/**
 * The chats of one session's object: runs of the agent that outlive whoever asked for them. What a run streams is kept for an hour after
 * its end, so that it can be read again from its beginning, by as many as want to. One run at a time.
 *
 * The agent has the object's tools and no others: tools that a page declares are not run by it, and a call of one is answered with an error
 * that the model reads. Results that a page gives for calls which wait (`addToolOutput`) are taken, and the run goes on with them.
 *
 * Make one of them for an object, and no second one over the same storage: runs that an instance does not know it takes for interrupted.
 */
export class ChatRuns {
  readonly #options: ChatRunsOptions
  readonly #host: Host
  readonly #tables: RunTables
  readonly #seal: () => ObjectSeal
  #live: LiveRun | undefined
  /** Whether there may be rows of runs that go on no more; never while a run goes on. */
  #mayBeLost = true
  #beatAt = 0

  constructor(options: ChatRunsOptions) {
    this.#options = options
    this.#host = options.host ?? webHost
    this.#seal = options.seal ?? (() => NO_SEAL)
    this.#tables = new RunTables(options.storage, this.#seal)
  }

  /**
   * Begins a run, and resolves once its first context is built: what is thrown before that is thrown here. To leave the stream does not end the
   * run.
   *
   * The same request again joins the run while it goes on, and reads it again once it has ended; a run that failed or was interrupted is begun
   * anew, and goes on with what was recorded. Which requests are the same, an `Idempotency-Key` says, else their ids and what they hold.
   *
   * @throws ERR_CONFLICT (`id`: another run goes on; or the key was used for something else), what `beforeModel` throws, as
   *   `session.append()` and `session.context()`
   */
  async start(request: ChatRequest): Promise<RunStream> {
    const known = hidden(keyOf(request), this.#seal())
    this.#findLost()
    const live = this.#live
    if (live && live.request.key !== known.key)
      throw new PlimsollError('ERR_CONFLICT', 'chat: another run goes on in this session', { id: live.id })
    const kept = live ? undefined : this.#keptOf(known)
    const same = live?.request ?? kept
    if (same && same.fingerprint !== known.fingerprint)
      throw new PlimsollError('ERR_CONFLICT', 'chat: the Idempotency-Key was used for another request')
    // Who sent the message that a run goes on with has its parts already.
    const hasParts = request.messages.at(-1)?.role === 'assistant'
    if (kept)
      return {
        run: kept.id,
        stream: this.#stream(endedTape(this.#tables, kept.place), hasParts ? kept : undefined),
      }
    const run = live ?? this.#begin(request, known)
    await run.begun
    return { run: run.id, stream: this.#stream(run.tape, hasParts ? run : undefined) }
  }

  /**
   * The stream of a run from its first chunk on, live if it goes on.
   *
   * @param run its id, or `current`: the one that goes on now, or that was interrupted and that no other followed
   * @returns undefined: there is none, or none any more. Over HTTP that is status 204.
   */
  resume(run: string): ReadableStream<Uint8Array> | undefined {
    this.#findLost()
    const live = this.#live
    if (live && (run === 'current' || run === live.id)) return this.#stream(live.tape)
    const row = run === 'current' ? this.#tables.newest() : this.#tables.byId(run)
    if (!row || (run === 'current' && row.status !== 'interrupted')) return undefined
    return this.#stream(endedTape(this.#tables, row.place))
  }

  /**
   * Stops a run, and resolves when nothing more will be recorded of it. What it had recorded stays; a reply that was not whole is not
   * recorded. Idempotent.
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

  /** Id of the run that goes on; undefined: none does. */
  get current(): string | undefined {
    return this.#live?.id
  }

  /** When {@link runDueWork} wants to be called next, Unix milliseconds; undefined: never. */
  nextWorkAt(): number | undefined {
    this.#findLost()
    if (this.#live) return this.#beatAt
    const first = this.#tables.firstEnd()
    return first === undefined ? undefined : first + KEEP_MS
  }

  /** Removes what is kept of runs that ended an hour ago. To be called by an alarm also keeps the object awake while a run goes on. */
  runDueWork(): void {
    const now = this.#host.now()
    this.#findLost()
    if (this.#live) this.#beatAt = now + BEAT_MS
    for (const { place } of this.#tables.endedUntil(now - KEEP_MS)) this.#tables.remove(place)
  }

  /** Removes what is kept of all runs that have ended: their streams hold what was said. For whoever forgets messages of the session. */
  clear(): void {
    // Of those that nobody works at any more nothing need be said: who could read it is gone with them.
    const lost = this.#live ? [] : this.#tables.running()
    for (const { place } of [...lost, ...this.#tables.endedUntil(Number.MAX_SAFE_INTEGER)])
      this.#tables.remove(place)
  }

  /** A run that the request can be the same as, if it came to an end that is worth to be read again. */
  #keptOf({ key, among }: RequestKey): RunRow | undefined {
    if (among === 'running') return undefined
    const row = among === 'all' ? this.#tables.newestOf(key) : this.#tables.newest()
    const hasReply = row?.status === 'done' || row?.status === 'stopped'
    return hasReply && row.key === key ? row : undefined
  }

  #begin(request: ChatRequest, known: RequestKey): LiveRun {
    const host = this.#host
    const tables = this.#tables
    const id = host.newId()
    const place = tables.insert({ id, ...known })
    const tape = new RunTape({ tables, place, host, onFailure: (error) => live.fail(error) })
    const onEnd = (outcome: RunOutcome | undefined): void => this.#end(live, place, outcome)
    const live: LiveRun = new LiveRun({ id, request: known, tape, host, onEnd })
    this.#live = live
    this.#beatAt = host.now() + BEAT_MS
    this.#options.onWork?.(this.#beatAt)
    void live.work(request, () => this.#work())
    return live
  }

  async #work(): Promise<RunWork> {
    const { model, session, tools, run, beforeModel, afterModel } = this.#options
    const options = run?.() ?? {}
    const answering = await model()
    const opened = await session()
    return {
      model: answering,
      session: opened,
      tools: tools?.(opened) ?? [],
      run: { ...options, timeouts: { ...TIMEOUTS, ...options.timeouts } },
      ...(beforeModel && { beforeModel }),
      ...(afterModel && { afterModel }),
    }
  }

  #end({ id, tape }: LiveRun, place: number, outcome: RunOutcome | undefined): void {
    const { onWork, onEnd } = this.#options
    this.#live = undefined
    // Its row still says that it goes on.
    if (tape.hasFailed) this.#mayBeLost = true
    try {
      // What did not begin leaves nothing to read.
      if (!outcome) this.#tables.remove(place)
      const due = this.nextWorkAt()
      if (due !== undefined) onWork?.(due)
    } catch {
      // Storage failed, which whoever asks next is told.
      this.#mayBeLost = true
    }
    if (!outcome) return
    const { status, code, result } = outcome
    onEnd?.({ run: id, status, ...(code && { code }), steps: result?.steps ?? 0, size: tape.size })
  }

  #stream(
    source: TapeSource,
    after?: { readonly messageId?: string; readonly begin: number },
  ): ReadableStream<Uint8Array> {
    const { messageId } = after ?? {}
    return tapeStream(source, {
      host: this.#host,
      from: after?.begin ?? 0,
      ...(messageId !== undefined && { first: sse({ type: 'start', messageId }) }),
    })
  }

  /** Ends the streams of runs of which the row says that they go on, and which nobody works at any more. */
  #findLost(): void {
    if (!this.#mayBeLost) return
    const tables = this.#tables
    for (const { place } of tables.running()) {
      const end = sse({ type: 'error', errorText: runErrorText('ERR_INTERRUPTED') }) + SSE_DONE
      tables.transaction(() => {
        tables.write(place, tables.sizeOf(place), new TextEncoder().encode(end))
        tables.end(place, { status: 'interrupted', messageId: '', begin: 0, endedAt: this.#host.now() })
      })
    }
    this.#mayBeLost = false
  }
}

/** The same, without the hashes of what was said. */
function hidden({ key, fingerprint, among }: RequestKey, { hide }: ObjectSeal): RequestKey {
  return { key: hide(key), fingerprint: hide(fingerprint), among }
}
