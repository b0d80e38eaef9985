import type { ScopeStore } from '../../ports/store.ts'

/**
 * A scope for as long as it is held. Once `check` throws, every call rejects with that, and reads
 * and writes nothing: so a call that was under way when its session was removed leaves nothing
 * behind. A commit that had to wait is checked once more when it is decided.
 *
 * @param check Contract: throws the caller's error once the scope is no longer held
 */
export function heldScope(scope: ScopeStore, check: () => void): ScopeStore {
  const held = <Result>(call: () => Promise<Result>): Promise<Result> => {
    try {
      check()
    } catch (error) {
      return Promise.reject(error)
    }
    return call()
  }
  return {
    commit: (ops, decide) =>
      held(() =>
        scope.commit(ops, (given, rows) => {
          check()
          return decide(given, rows)
        }),
      ),
    entries: (query) => held(() => scope.entries(query)),
    head: () => held(() => scope.head()),
    register: (key) => held(() => scope.register(key)),
    registers: (prefix, after) => held(() => scope.registers(prefix, after)),
    indexed: (group, query) => held(() => scope.indexed(group, query)),
    sums: (groups) => held(() => scope.sums(groups)),
    changesSince: (seq) => held(() => scope.changesSince(seq)),
    attach: (attachment, at) => held(() => scope.attach(attachment, at)),
    attachment: (id) => held(() => scope.attachment(id)),
    derive: (row, seq) => held(() => scope.derive(row, seq)),
    derived: (prefix, after) => held(() => scope.derived(prefix, after)),
    close: () => scope.close(),
    ...(scope.watch && { watch: (listener) => scope.watch?.(listener) ?? (() => {}) }),
  }
}
