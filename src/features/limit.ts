import { PlimsollError } from '../ports/errors.ts'

export function limitReached(operation: string, what: string, limit: number): PlimsollError {
  return new PlimsollError('ERR_LIMIT', `${operation}: there are ${limit} ${what} already`, { limit })
}
