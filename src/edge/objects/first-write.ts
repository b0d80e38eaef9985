import type { Scope } from '../../ports/op.ts'
import type { ScopeStore, Store } from '../../ports/store.ts'
import { mapStore } from '../../stores/map.ts'
import type { SqlStorageLike } from '../../stores/sql-schema.ts'

/**
 * A store whose tables are made by the first write: who only looks at what is not there, and
 * anybody can be a new guest, leaves an object that holds nothing.
 */
export function madeByWrites(storage: SqlStorageLike, store: Store): Store {
  const nothing = mapStore()
  let isMade = false
  const look = (): boolean => {
    isMade ||=
      storage.sql.exec(`SELECT 1 FROM sqlite_master WHERE name = 'plimsoll_meta' LIMIT 1`).toArray().length >
      0
    return isMade
  }
  const open = (scope: Scope): ScopeStore => {
    const made = store.open(scope)
    const unmade = nothing.open(scope)
    const now = (): ScopeStore => (look() ? made : unmade)
    const making = (): ScopeStore => {
      isMade = true
      return made
    }
    return {
      commit: (ops, decide) => making().commit(ops, decide),
      attach: (attachment, at) => making().attach(attachment, at),
      derive: (row, seq) => making().derive(row, seq),
      entries: async (query) => now().entries(query),
      head: async () => now().head(),
      register: async (key) => now().register(key),
      registers: async (prefix, after, before) => now().registers(prefix, after, before),
      indexed: async (group, query) => now().indexed(group, query),
      sums: async (groups) => now().sums(groups),
      changesSince: async (seq) => now().changesSince(seq),
      attachment: async (id) => now().attachment(id),
      attached: async (ids) => now().attached(ids),
      derived: async (prefix, after) => now().derived(prefix, after),
      close: async () => now().close(),
      ...(made.outbox && {
        outbox: async (after) => (look() ? (made.outbox?.(after) ?? []) : []),
      }),
      ...(made.watch && { watch: (listener) => made.watch?.(listener) ?? (() => {}) }),
    }
  }
  return {
    open,
    oldestUnused: async () => (look() ? store.oldestUnused() : undefined),
    removeUnused: async (until) => (look() ? store.removeUnused(until) : 0),
    scopes: async (after) => (look() ? store.scopes(after) : []),
  }
}
