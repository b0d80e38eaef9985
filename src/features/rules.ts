import { decide, nothingWritten } from '../kernel/log/decide.ts'
import { allOrNone, areAccepted } from '../kernel/log/once.ts'
import type { Decide } from '../ports/store.ts'

/** As `allOrNone`, but of the last op, a put, only its base is compared: it is not written. */
export const compared: Decide = (ops, rows) => {
  const { results } = allOrNone(ops, rows)
  return areAccepted(results) ? { ...decide(ops.slice(0, -1), rows), results } : nothingWritten(results)
}

/**
 * As `decide`, for registers beside the log, which stays as it is: it is exported, and others go on
 * with it. Where nothing was ever written to the scope, nothing is.
 */
export const beside: Decide = (ops, rows) => {
  const decision = decide(ops, rows)
  const { seq } = rows.head
  if (seq === 0) return nothingWritten(decision.results)
  return { ...decision, log: [], registers: decision.registers.map((row) => ({ ...row, seq })) }
}
