import { IDBFactory, IDBKeyRange } from 'fake-indexeddb'
import { afterAll, beforeAll } from 'vitest'
import { dexieStore, guardTransactions } from '../../src/stores/dexie.ts'
import { describeStore } from '../contract/index.ts'
import { describeDifferential } from '../everywhere/differential.ts'

const options = { name: 'test', channel: null, IDBKeyRange }
type Factory = InstanceType<typeof IDBFactory>
const factories = new WeakMap<object, Factory>()

function open(indexedDB: Factory = new IDBFactory()): ReturnType<typeof dexieStore> {
  const store = dexieStore({ ...options, indexedDB })
  factories.set(store, indexedDB)
  return store
}

let undo = (): void => {}
beforeAll(() => {
  undo = guardTransactions()
})
afterAll(() => undo())

describeStore('Dexie', () => open(), { reopen: async (store) => open(factories.get(store)) })

describeDifferential('Dexie', () => open(), { again: (store) => open(factories.get(store)), runs: 40 })
