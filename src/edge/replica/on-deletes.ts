import type { ScopeStore } from '../../ports/store.ts'

/**
 * A scope that says of each deletion before it is written, inside its transaction.
 *
 * @param note Contract: synchronous; what it writes to the same database is durable together with
 * the deletion. Called again where a commit is tried again. `seq` is that of its last op
 */
export function onDeletes(scope: ScopeStore, note: (seq: number) => void): ScopeStore {
  const commit: ScopeStore['commit'] = (ops, decide) =>
    scope.commit(ops, (given, rows) => {
      const decision = decide(given, rows)
      const { seq } = decision.log.at(-1) ?? rows.head
      if (decision.erase || decision.emptied.length > 0) note(seq)
      return decision
    })
  return {
    commit,
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
    ...(scope.watch && { watch: (listener) => scope.watch?.(listener) ?? (() => {}) }),
  }
}
