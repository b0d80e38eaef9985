import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import { accepted } from './refusal.ts'

/** What waiting between two attempts takes. */
export interface CallHost extends Pick<Host, 'timeout'> {
  /** Contract: from 0 (inclusive) to 1 (exclusive). Default: `Math.random`. */
  readonly random?: () => number
}

const MOST_ATTEMPTS = 3
/** Longest wait before the second attempt, in milliseconds; it doubles with each further one. */
const FIRST_WAIT_MS = 100
/** How long a caller should wait for an overloaded object, in seconds. */
const RETRY_AFTER = 5

/** What Cloudflare says of a call that failed, by properties of the error. */
interface CallFailure {
  /**
   * The object could not be reached, or was lost meanwhile: an idempotent call may be sent again.
   */
  readonly retryable?: unknown
  /** It has more to do than it can: sending the same again at once makes that worse. */
  readonly overloaded?: unknown
  /** It was thrown by the object's own code. */
  readonly remote?: unknown
}

/**
 * Calls another object, by the rules of Cloudflare's documents on errors of Durable Objects: again,
 * at most three times in all, only where the object was not reached, after waits with full jitter,
 * and through a new stub each time, since one that failed stays broken.
 *
 * @param stub Contract: gives a new stub at each call
 * @param call Contract: idempotent, as whatever names its ops is
 * @throws ERR_OVERLOADED (`retryAfter`), ERR_STORAGE (with `cause`; it does not mean "not done");
 * what the object's own code threw, unchanged
 */
export async function callObject<Stub, Result>(
  stub: () => Stub,
  host: CallHost,
  operation: string,
  call: (stub: Stub) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return accepted(await call(stub()))
    } catch (error) {
      if (isPlimsollError(error)) throw error
      const { retryable, overloaded, remote } = (error ?? {}) as CallFailure
      if (overloaded === true)
        throw new PlimsollError('ERR_OVERLOADED', `${operation}: the object is overloaded`, {
          cause: error,
          retryAfter: RETRY_AFTER,
        })
      if (remote === true) throw error
      if (retryable !== true || attempt === MOST_ATTEMPTS)
        throw new PlimsollError('ERR_STORAGE', `${operation}: the object did not answer`, { cause: error })
      const { random = Math.random } = host
      await sleep(host, random() * FIRST_WAIT_MS * 2 ** (attempt - 1))
    }
  }
}

function sleep(host: CallHost, ms: number): Promise<void> {
  return new Promise((resolve) => {
    host.timeout(ms).signal.addEventListener('abort', () => resolve())
  })
}
