import { isPlimsollError } from '../ports/errors.ts'

/** Whether nobody could be reached who has what is asked for: a request got no answer at all. */
export function isUnreachable(error: unknown): boolean {
  if (isPlimsollError(error, 'ERR_OFFLINE')) return true
  return isPlimsollError(error, 'ERR_STORAGE') && /^[A-Z]+ \/.*: no answer$/.test(error.message)
}
