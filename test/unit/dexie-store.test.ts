import { IDBFactory, IDBKeyRange } from 'fake-indexeddb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { dexieStore, guardTransactions } from '../../src/stores/dexie.ts'
import { describeStore } from '../contract/index.ts'
import { SCOPE } from '../contract/samples.ts'
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

it('in plain Node fails, and names the store for it, rather than to keep all in memory', async () => {
  const store = dexieStore({ name: 'server', channel: null })
  const scope = store.open(SCOPE)
  for (const call of [() => scope.head(), () => scope.entries(), () => store.scopes()])
    await expect(call()).rejects.toMatchObject({
      code: 'ERR_NOT_CONFIGURED',
      message: 'dexieStore: there is no IndexedDB; use plimsoll/sqlite',
    })
  expect(store.status()).toEqual({ state: 'ready', durable: true })
})
