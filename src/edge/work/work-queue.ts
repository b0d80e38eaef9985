import { aborted } from '../../ports/aborted.ts'
import { type ErrorCode, isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { Json } from '../../ports/message.ts'
import type { Alarms } from './alarms.ts'
import type { WorkFailure, WorkHandler, WorkQueueOptions } from './work.ts'
import { type QuarantinedWork, type WorkItem, WorkTable } from './work-table.ts'

const SECOND = 1000
/** What a second attempt waits for; each further one waits twice as long. */
const BACKOFF = 2 * SECOND
const LONGEST_BACKOFF = 3_600 * SECOND
const HOUR = 3_600 * SECOND

/**
 * Durable work of one Durable Object, on its single alarm: at least once, with retries of its own.
 *
 * The platform gives an alarm six tries and then forgets it; a fired alarm is used up; and an
 * object may end at any time. So each attempt is counted on disk before it begins, and the alarm is
 * set for what comes after it: work that takes the object down is tried `maxAttempts` times too,
 * with 2, 4, 8 … seconds between, and then kept out of the way of other work.
 *
 * @example
 * ```ts
 * class SessionObject extends DurableObject {
 *   readonly #work = new WorkQueue({
 *     storage: this.ctx.storage,
 *     alarms: objectAlarms(this.ctx.storage),
 *     host: webHost,
 *     handlers: { attachments: () => runDueWork(this.#memory) },
 *   })
 *   constructor(ctx: DurableObjectState, env: Env) {
 *     super(ctx, env)
 *     ctx.waitUntil(this.#work.ensureArmed())
 *   }
 *   alarm() {
 *     return this.#work.run()
 *   }
 * }
 * ```
 */
export class WorkQueue {
  readonly #table: WorkTable
  readonly #alarms: Alarms
  readonly #host: Pick<Host, 'now' | 'timeout'>
  readonly #handlers: ReadonlyMap<string, WorkHandler>
  readonly #maxAttempts: number
  readonly #timeoutMs: number
  readonly #maxItems: number
  readonly #maxRunMs: number
  readonly #onFailure: ((failure: WorkFailure) => void) | undefined
  #running: Promise<void> | undefined
  /** When {@link run} is to be called though no work is due. */
  #wakeAt = Number.POSITIVE_INFINITY

  constructor(options: WorkQueueOptions) {
    const { maxAttempts = 5, timeoutMs = 240_000, maxItems = 16, maxRunMs = 60_000 } = options
    this.#table = new WorkTable(options.storage)
    this.#alarms = options.alarms
    this.#host = options.host
    this.#handlers = new Map(Object.entries(options.handlers))
    this.#maxAttempts = maxAttempts
    this.#timeoutMs = timeoutMs
    this.#maxItems = maxItems
    this.#maxRunMs = maxRunMs
    this.#onFailure = options.onFailure
  }

  /**
   * Notes work, to be done from `due` on (Unix milliseconds; now or before: at once). It is written
   * before this returns, so that it is durable together with what its caller writes before the next
   * `await`; the promise is that of the alarm. Idempotent by kind and key: of two times the earlier
   * one counts, of two payloads the later one, and where nothing changes nothing is written. What
   * failed keeps its backoff, and what is quarantined stays there. What is asked for while it is
   * being done is done once more.
   */
  async schedule(
    kind: string,
    due: number,
    { key = '', payload }: { readonly key?: string; readonly payload?: Json } = {},
  ): Promise<void> {
    const noted = this.#table.put(kind, key, due, payload)
    if (noted !== undefined && noted === this.#table.earliest()) await this.#arm(noted)
  }

  /**
   * Sets the alarm for that time, unless it comes sooner: for what needs no row of its own, since
   * an object that died has other signs of it. The promise is that of the alarm.
   */
  async wake(at: number): Promise<void> {
    const now = this.#host.now()
    if (this.#wakeAt > now && this.#wakeAt <= at) return
    this.#wakeAt = at
    if ((this.#table.earliest() ?? Number.POSITIVE_INFINITY) > at) await this.#alarms.set(at)
  }

  /** Sets the alarm for work that is due then, or sooner. */
  #arm(due: number): Promise<void> {
    const wakeAt = this.#wakeAt > this.#host.now() ? this.#wakeAt : Number.POSITIVE_INFINITY
    const at = Math.min(due, wakeAt)
    return at === Number.POSITIVE_INFINITY ? this.#alarms.delete() : this.#alarms.set(at)
  }

  /** What was noted with work that is owed, in quarantine too; undefined: there is none. */
  payloadOf(kind: string, key = ''): Json | undefined {
    return this.#table.payloadOf(kind, key)
  }

  /** Forgets work, that in quarantine too. An attempt that has begun goes on, and is its last. */
  cancel(kind: string, key = ''): void {
    this.#table.remove(kind, key)
  }

  /**
   * Does what is due: what `alarm()` is to call. A failure of one item does not keep others from
   * being done. One run at a time: a second call gets the promise of the first.
   *
   * @throws ERR_STORAGE, what alarms throw; then the platform's own retries have to do
   */
  run(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /**
   * Sets the alarm, if there is work and none is set, or one that is later. For the constructor:
   * reads a row, and asks for the alarm only where there is work. Not to be awaited in
   * `blockConcurrencyWhile`, which it does not need.
   */
  async ensureArmed(): Promise<void> {
    if (this.#table.earliest() === undefined) return
    const armed = await this.#alarms.get()
    // It may have been done meanwhile, or other work been noted.
    const earliest = this.#table.earliest()
    if (earliest !== undefined && (armed === null || armed > earliest)) await this.#alarms.set(earliest)
  }

  /** Work that was given up, the first hundred. */
  quarantined(): readonly QuarantinedWork[] {
    return this.#table.quarantined()
  }

  /** Takes work out of quarantine, to be done at once. @returns whether it was there */
  async retry(kind: string, key = ''): Promise<boolean> {
    const now = this.#host.now()
    if (!this.#table.release(kind, key, now)) return false
    await this.#arm(this.#table.earliest() ?? now)
    return true
  }

  async #run(): Promise<void> {
    const begun = this.#host.now()
    for (const item of this.#table.due(begun, this.#maxItems)) {
      await this.#attempt(item)
      if (this.#host.now() - begun >= this.#maxRunMs) break
    }
    // Nothing may come between: the alarm of work that is noted later must not be deleted.
    await this.#arm(this.#table.earliest() ?? Number.POSITIVE_INFINITY)
  }

  async #attempt(item: WorkItem): Promise<void> {
    const handler = this.#handlers.get(item.kind)
    const now = this.#host.now()
    if (!handler) return this.#table.postpone(item, now + HOUR)
    // An object that ended in the last attempt that work may have could not say so.
    if (item.attempts >= this.#maxAttempts) return this.#fail(item, ENDED)
    const begun = this.#table.begin(item, now + backoff(item.attempts + 1))
    // It was cancelled by what was done before it in this run.
    if (!begun) return
    await this.#arm(this.#table.earliest() ?? now)
    await this.#alarms.flush?.()
    const { signal, clear } = this.#host.timeout(this.#timeoutMs)
    try {
      const next = await Promise.race([
        handler(begun.payload, { key: begun.key, attempt: begun.attempts, signal }),
        aborted(signal).catch(() => {
          throw new PlimsollError(
            'ERR_TIMEOUT',
            `work: ${item.kind} took longer than ${this.#timeoutMs} ms`,
            {
              limit: this.#timeoutMs,
            },
          )
        }),
      ])
      const again = next === undefined ? undefined : Math.max(next, this.#host.now() + SECOND)
      this.#table.end(begun, again)
    } catch (error) {
      this.#fail(begun, error)
    } finally {
      clear()
    }
  }

  #fail(item: WorkItem, error: unknown): void {
    const { kind, key, attempts } = item
    const now = this.#host.now()
    const isLocked = isPlimsollError(error) && LOCKED.has(error.code)
    const isQuarantined = !isLocked && attempts >= this.#maxAttempts
    if (isLocked) this.#table.end(item, now + HOUR)
    else this.#table.fail(item, isQuarantined ? null : now + backoff(attempts), nameOf(error), now)
    try {
      this.#onFailure?.({ kind, key, attempts, error, isQuarantined })
    } catch {}
  }
}

/**
 * What no attempt can help: a secret is missing or another one. The work waits until that is set
 * right.
 */
const LOCKED: ReadonlySet<ErrorCode> = new Set(['ERR_DECRYPT', 'ERR_NOT_CONFIGURED'])
const ENDED = new PlimsollError('ERR_INTERRUPTED', 'work: the object ended in each of its attempts')

function backoff(attempts: number): number {
  return Math.min(BACKOFF * 2 ** (attempts - 1), LONGEST_BACKOFF)
}

function nameOf(error: unknown): string {
  if (isPlimsollError(error)) return error.code
  return error instanceof Error ? error.name : typeof error
}
