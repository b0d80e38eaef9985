import { PlimsollError } from '../ports/errors.ts'
import { type AbortSignalLike, type Host, MOST_MS, type Timeout } from '../ports/host.ts'
import { invalid } from '../text/json.ts'

/** The reason to stop a run, as an error that nobody outside of the agent sees. */
export class Aborted extends Error {
  override readonly name = 'Aborted'
}

/** What ends work early: the run's own signal. */
export interface Bounds {
  readonly host: Pick<Host, 'timeout' | 'controller'>
  readonly signal: AbortSignalLike
}

/** A time limit, with the error that tells of it. */
export interface TimeLimit {
  /** Milliseconds; without it there is none. */
  readonly ms: number | undefined
  /** What did not end, as the subject of the error's message. */
  readonly subject: string
}

/**
 * Does work that may hang. It is given a signal that aborts with the run's and when time is up;
 * whether or not it listens, it is not waited for longer. What it returns at once costs no timer.
 *
 * @throws Aborted, ERR_TIMEOUT, else what the work throws
 */
export function within<Value>(
  { host, signal }: Bounds,
  { ms, subject }: TimeLimit,
  work: (signal: AbortSignalLike) => Value | PromiseLike<Value>,
): Promise<Value> {
  return new Promise<Value>((resolve, reject) => {
    if (signal.aborted) throw new Aborted()
    const own = ms === undefined ? undefined : host.controller()
    const begun = work(own?.signal ?? signal)
    if (!isThenable(begun)) {
      resolve(begun)
      return
    }
    let timeout: Timeout | undefined
    const end = (): void => {
      signal.removeEventListener('abort', onAbort)
      timeout?.signal.removeEventListener('abort', onTimeout)
      timeout?.clear()
    }
    const onAbort = (): void => {
      end()
      own?.abort(signal.reason)
      reject(new Aborted())
    }
    const onTimeout = (): void => {
      end()
      const error = timedOut(subject, ms ?? 0)
      own?.abort(error)
      reject(error)
    }
    signal.addEventListener('abort', onAbort)
    if (ms !== undefined) {
      timeout = host.timeout(ms)
      timeout.signal.addEventListener('abort', onTimeout)
    }
    begun.then(
      (value) => {
        end()
        resolve(value)
      },
      (error: unknown) => {
        end()
        reject(error)
      },
    )
    // The work may have aborted its run before anyone listened.
    if (signal.aborted) onAbort()
  })
}

/** @throws ERR_INVALID_ARGUMENT */
export function checkMs(argument: string, ms: number | undefined): void {
  if (ms !== undefined && !(typeof ms === 'number' && ms > 0 && ms <= MOST_MS))
    throw invalid('runAgent', argument, `must be milliseconds above 0, at most ${MOST_MS}`)
}

export function timedOut(subject: string, ms: number): PlimsollError {
  return new PlimsollError('ERR_TIMEOUT', `runAgent: ${subject} did not end within ${ms} ms`, { limit: ms })
}

export function isThenable<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}
