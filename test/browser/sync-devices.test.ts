import { afterAll, it } from 'vitest'
import { dexieStore } from '../../src/stores/dexie.ts'
import { limit, runs } from '../everywhere/runs.ts'
import { checkOver } from '../sync/over.ts'

const name = crypto.randomUUID()
const store = dexieStore({ name, mirror: null, durability: 'relaxed' })

afterAll(async () => {
  await store.close()
  indexedDB.deleteDatabase(name)
})

it('devices and a home over IndexedDB hold the same, and what those over maps hold', {
  timeout: limit(30_000),
}, async () => {
  await checkOver(store, runs(60))
})
