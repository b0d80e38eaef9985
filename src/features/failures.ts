import { PlimsollError } from '../ports/errors.ts'

export function limitReached(operation: string, what: string, limit: number): PlimsollError {
  return new PlimsollError('ERR_LIMIT', `${operation}: there are ${limit} ${what} already`, { limit })
}

export function notFound(operation: string, reason: string, id: string): PlimsollError {
  return new PlimsollError('ERR_NOT_FOUND', `${operation}: ${reason}`, { id })
}
