import type { Store } from '../../src/ports/store.ts'
import { type DexieStore, dexieStore } from '../../src/stores/dexie.ts'
import { describeStore } from '../contract/index.ts'
import { describeDifferential } from '../everywhere/differential.ts'

const names = new WeakMap<Store, string>()

function open(name: string = crypto.randomUUID()): DexieStore {
  const store = dexieStore({ name })
  names.set(store, name)
  return store
}

describeStore('Dexie', () => open(), {
  reopen: async (store) => {
    await (store as DexieStore).close()
    return open(names.get(store))
  },
})

describeDifferential('Dexie', () => open(), { again: (store) => open(names.get(store)), runs: 5 })
