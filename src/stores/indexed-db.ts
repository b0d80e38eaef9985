/** The store of the widget: that of `dexieStore`, without Dexie. */
import type { DexieStore, DexieStoreOptions } from './dexie.ts'
import { openDatabase } from './idb-open.ts'
import { RecoveringStore } from './idb-store.ts'

export type { DexieStore } from './dexie.ts'
export type { StoreStatus } from './store-status.ts'

/** Nothing is opened before the first call. */
export function indexedDbStore(options: DexieStoreOptions): DexieStore {
  return new RecoveringStore({ durability: 'strict', ...options }, openDatabase)
}
