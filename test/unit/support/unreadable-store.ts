import type { ScopeStore, Store } from '../../../src/ports/store.ts'
import { changedStore } from '../../everywhere/changed-store.ts'

/**
 * A store that cannot read what has one of these ids or keys, as one that encrypts where a key is
 * gone.
 */
export function unreadableStore(store: Store, names: ReadonlySet<string>): Store {
  const opened = <Row extends { readonly body: string | null }>(row: Row, name: string): Row =>
    names.has(name) && row.body !== null ? { ...row, body: null, unreadable: true } : row
  return changedStore(
    store,
    (inner): Partial<ScopeStore> => ({
      entries: async (query) => {
        const page = await inner.entries(query)
        return { ...page, rows: page.rows.map((row) => opened(row, row.id)) }
      },
      changesSince: async (seq) => {
        const changes = await inner.changesSince(seq)
        return { ...changes, rows: changes.rows.map((row) => opened(row, row.id)) }
      },
      register: async (key) => {
        const row = await inner.register(key)
        return row && opened(row, row.key)
      },
      registers: async (prefix, after) =>
        (await inner.registers(prefix, after)).map((row) => opened(row, row.key)),
      indexed: async (group, query) => (await inner.indexed(group, query)).map((row) => opened(row, row.key)),
    }),
  )
}
