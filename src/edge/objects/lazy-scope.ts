import type { ScopeStore } from '../../ports/store.ts'

/**
 * A scope of which it is only known at each call what it is.
 *
 * @param watched whose hints of changes it gives on, and whose outbox
 * @param open Contract: gives the scope as it is now
 */
export function lazyScope(watched: ScopeStore, open: () => Promise<ScopeStore>): ScopeStore {
  return {
    commit: async (ops, decide) => (await open()).commit(ops, decide),
    entries: async (query) => (await open()).entries(query),
    head: async () => (await open()).head(),
    register: async (key) => (await open()).register(key),
    registers: async (prefix, after, before) => (await open()).registers(prefix, after, before),
    indexed: async (group, query) => (await open()).indexed(group, query),
    sums: async (groups) => (await open()).sums(groups),
    changesSince: async (seq) => (await open()).changesSince(seq),
    attach: async (attachment, at) => (await open()).attach(attachment, at),
    attachment: async (id) => (await open()).attachment(id),
    attached: async (ids) => (await open()).attached(ids),
    derive: async (row, seq) => (await open()).derive(row, seq),
    derived: async (prefix, after) => (await open()).derived(prefix, after),
    close: async () => (await open()).close(),
    ...(watched.outbox && { outbox: async (after) => watched.outbox?.(after) ?? [] }),
    ...(watched.watch && { watch: (listener) => watched.watch?.(listener) ?? (() => {}) }),
  }
}
