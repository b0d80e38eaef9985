import type { PlimsollError } from '../ports/errors.ts'

/** Failures in a row, the last of them, and until when nothing is tried, in Unix milliseconds. */
export interface Pace {
  failures: number
  cause: PlimsollError | undefined
  until: number
}

export function newPace(): Pace {
  return { failures: 0, cause: undefined, until: 0 }
}
