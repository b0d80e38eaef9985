import type { PlimsollError } from '../ports/errors.ts'
import type { withDefaults } from './defaults.ts'

/** Failures in a row, the last of them, and until when nothing is tried, in Unix milliseconds. */
export interface Pace {
  failures: number
  cause: PlimsollError | undefined
  until: number
}

export function newPace(): Pace {
  return { failures: 0, cause: undefined, until: 0 }
}

/** Leaves alone for a while what failed; longer, the more often it did in a row. */
export function hold(
  pace: Pace,
  cause: PlimsollError | undefined,
  { host, random, baseMs, capMs }: ReturnType<typeof withDefaults>,
): void {
  const backoff = random() * Math.min(capMs, baseMs * 2 ** pace.failures++)
  pace.cause = cause
  pace.until = host.now() + Math.max((cause?.retryAfter ?? 0) * 1000, backoff, 1)
}
