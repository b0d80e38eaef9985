import { TRIES } from '../kernel/log/once.ts'
import { PlimsollError } from '../ports/errors.ts'

export function limitReached(operation: string, what: string, limit: number): PlimsollError {
  return new PlimsollError('ERR_LIMIT', `${operation}: there are ${limit} ${what} already`, { limit })
}

export function notFound(operation: string, reason: string, id: string): PlimsollError {
  return new PlimsollError('ERR_NOT_FOUND', `${operation}: ${reason}`, { id })
}

/** @param details the version that is there now, where it is known */
export function changedByOthers(
  operation: string,
  what: string,
  id: string,
  details: { readonly version?: string | null } = {},
): PlimsollError {
  const reason = `${what} was changed by others ${TRIES} times in a row`
  return new PlimsollError('ERR_CONFLICT', `${operation}: ${reason}`, { id, ...details })
}
