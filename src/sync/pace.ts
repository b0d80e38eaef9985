import type { PlimsollError } from '../ports/errors.ts'
import type { withDefaults } from './defaults.ts'

/** Failures in a row, the last of them, and since when, and how long, nothing is tried after it. */
export interface Pace {
  failures: number
  cause: PlimsollError | undefined
  /** Unix milliseconds. */
  since: number
  ms: number
}

export function newPace(): Pace {
  return { failures: 0, cause: undefined, since: 0, ms: 0 }
}

/**
 * What is left of a wait, in milliseconds. Nothing is, where the clock was set back to before it
 * began: how long it has been is not known then.
 */
export function leftOf({ since, ms }: Pick<Pace, 'since' | 'ms'>, now: number): number {
  return now < since ? 0 : Math.max(0, since + ms - now)
}

/** Leaves alone for a while what failed; longer, the more often it did in a row. */
export function hold(
  pace: Pace,
  cause: PlimsollError | undefined,
  { host, random, baseMs, capMs }: ReturnType<typeof withDefaults>,
): void {
  const backoff = random() * Math.min(capMs, baseMs * 2 ** pace.failures++)
  pace.cause = cause
  pace.since = host.now()
  pace.ms = Math.max((cause?.retryAfter ?? 0) * 1000, backoff, 1)
}
