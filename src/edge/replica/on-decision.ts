import type { Decision, Rows, ScopeStore } from '../../ports/store.ts'
import { deciding } from '../../sync/deciding.ts'

/**
 * A scope that says of each commit what was decided, before it is written, inside its transaction.
 *
 * @param note Contract: synchronous; what it writes to the same database is durable together with
 * the commit. Called again where that is tried again
 */
export function onDecision(scope: ScopeStore, note: (decision: Decision, rows: Rows) => void): ScopeStore {
  return deciding(scope, (decide) => (ops, rows) => {
    const decision = decide(ops, rows)
    note(decision, rows)
    return decision
  })
}

/**
 * The same of each deletion.
 *
 * @param note `seq` is that of the commit's last op
 */
export function onDeletes(scope: ScopeStore, note: (seq: number) => void): ScopeStore {
  return onDecision(scope, ({ erase, emptied, log }, { head }) => {
    if (erase || emptied.length > 0) note((log.at(-1) ?? head).seq)
  })
}
