import type { Decision, Rows, ScopeStore } from '../../ports/store.ts'

/**
 * A scope that says of each commit what was decided, before it is written, inside its transaction.
 *
 * @param note Contract: synchronous; what it writes to the same database is durable together with
 * the commit. Called again where that is tried again
 */
export function onDecision(scope: ScopeStore, note: (decision: Decision, rows: Rows) => void): ScopeStore {
  return {
    commit: (ops, decide) =>
      scope.commit(ops, (given, rows) => {
        const decision = decide(given, rows)
        note(decision, rows)
        return decision
      }),
    entries: (query) => scope.entries(query),
    head: () => scope.head(),
    register: (key) => scope.register(key),
    registers: (prefix, after) => scope.registers(prefix, after),
    indexed: (group, query) => scope.indexed(group, query),
    sums: (groups) => scope.sums(groups),
    changesSince: (seq) => scope.changesSince(seq),
    attach: (attachment, at) => scope.attach(attachment, at),
    attachment: (id) => scope.attachment(id),
    derive: (row, seq) => scope.derive(row, seq),
    derived: (prefix, after) => scope.derived(prefix, after),
    close: () => scope.close(),
    ...(scope.outbox && { outbox: async (after) => scope.outbox?.(after) ?? [] }),
    ...(scope.watch && { watch: (listener) => scope.watch?.(listener) ?? (() => {}) }),
  }
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
