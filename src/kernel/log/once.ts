import { type ErrorDetails, PlimsollError } from '../../ports/errors.ts'
import type { OpResult } from '../../ports/op.ts'
import type { Decide } from '../../ports/store.ts'
import { decide, nothingWritten } from './decide.ts'

/** How often a write that lost to another one is tried again. */
export const TRIES = 8

/**
 * What was tried so often, or so long. @param details its id, and the version that is there now,
 * where known
 */
export function changedByOthers(operation: string, what: string, details?: ErrorDetails): PlimsollError {
  const reason = `${what} was changed by others again and again`
  return new PlimsollError('ERR_CONFLICT', `${operation}: ${reason}`, details)
}

/** As `decide`, but if any of the ops is refused, none is written. */
export const allOrNone: Decide = (ops, rows) => {
  const decision = decide(ops, rows)
  return areAccepted(decision.results) ? decision : nothingWritten(decision.results)
}

/**
 * As `allOrNone`, for ops that are one whole and named after it: where one of them was written
 * before, all of them were, and none is written now, however many there are this time.
 */
export const once: Decide = (ops, rows) =>
  ops.some(({ envelope }) => rows.results.has(envelope.opId)) ? look(ops, rows) : allOrNone(ops, rows)

/** Says what would become of ops, and writes nothing. */
export const look: Decide = (ops, rows) => nothingWritten(decide(ops, rows).results)

export function areAccepted(results: readonly OpResult[]): boolean {
  return results.every(({ status }) => status === 'accepted')
}

/** Whether ops that went together through {@link once} had been written before. */
export function wasWritten(results: readonly OpResult[]): boolean {
  return results.some(isRepeated)
}

export function isRepeated(result: OpResult): result is Extract<OpResult, { readonly status: 'accepted' }> {
  return result.status === 'accepted' && result.repeated === true
}
