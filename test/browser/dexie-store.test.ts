import { afterEach, expect } from 'vitest'
import { mapStore } from '../../src/index.ts'
import type { Store } from '../../src/ports/store.ts'
import { type DexieStore, dexieStore } from '../../src/stores/dexie.ts'
import { describeStore } from '../contract/index.ts'
import { describeDifferential } from '../everywhere/differential.ts'
import { isWhole } from '../everywhere/runs.ts'

const names = new WeakMap<Store, string>()
const opened: DexieStore[] = []

function open(name: string = crypto.randomUUID()): DexieStore {
  const store = dexieStore({ name })
  names.set(store, name)
  opened.push(store)
  return store
}

// A store that went on in memory would answer as well, and tell nothing of this browser's database.
afterEach(() => expect(opened.splice(0).map((store) => store.status().state)).not.toContain('memory'))

describeStore('Dexie', () => open(), {
  reopen: async (store) => {
    await (store as DexieStore).close()
    return open(names.get(store))
  },
})

// A push has it on Node, and here as what the other stores are compared with.
if (isWhole) describeStore('map', () => mapStore())
describeDifferential('Dexie', () => open(), { again: (store) => open(names.get(store)), runs: 5 })
