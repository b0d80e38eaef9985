import type { OpResult } from '../../ports/op.ts'
import type { Decide, Decision } from '../../ports/store.ts'
import { decide } from './decide.ts'

/** As `decide`, but if any of the ops is refused, none is written. */
export const allOrNone: Decide = (ops, rows) => {
  const decision = decide(ops, rows)
  return decision.results.every(({ status }) => status === 'accepted')
    ? decision
    : nothingWritten(decision.results)
}

/** A decision that leaves the scope as it is. */
export function nothingWritten(results: readonly OpResult[]): Decision {
  return {
    results,
    erase: false,
    log: [],
    registers: [],
    unlisted: [],
    listed: [],
    sums: new Map(),
    emptied: [],
    marks: [],
    refused: [],
    used: [],
  }
}
