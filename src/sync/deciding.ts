import type { Decide, ScopeStore } from '../ports/store.ts'

/** A scope whose commits are decided by what `around` makes of their rule; all else is its own. */
export function deciding(scope: ScopeStore, around: (decide: Decide) => Decide): ScopeStore {
  return {
    commit: (ops, decide) => scope.commit(ops, around(decide)),
    entries: (query) => scope.entries(query),
    head: () => scope.head(),
    register: (key) => scope.register(key),
    registers: (prefix, after, before) => scope.registers(prefix, after, before),
    indexed: (group, query) => scope.indexed(group, query),
    sums: (groups) => scope.sums(groups),
    changesSince: (seq) => scope.changesSince(seq),
    attach: (attachment, at) => scope.attach(attachment, at),
    attachment: (id) => scope.attachment(id),
    attached: (ids) => scope.attached(ids),
    derive: (row, seq) => scope.derive(row, seq),
    derived: (prefix, after) => scope.derived(prefix, after),
    close: () => scope.close(),
    ...(scope.snapshot && {
      snapshot: (work) => (scope.snapshot as NonNullable<typeof scope.snapshot>)(work),
    }),
    ...(scope.outbox && { outbox: async (after) => scope.outbox?.(after) ?? [] }),
    ...(scope.watch && { watch: (listener) => scope.watch?.(listener) ?? (() => {}) }),
  }
}
