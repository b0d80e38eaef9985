import { IDBFactory, IDBKeyRange } from 'fake-indexeddb'
import { afterAll, describe, it } from 'vitest'
import { mapStore, type Store } from '../../../src/index.ts'
import { dexieStore } from '../../../src/stores/dexie.ts'
import { encryptedStore, secretKeys } from '../../../src/stores/encrypted/index.ts'
import { runs } from '../../everywhere/runs.ts'
import { checkBeside, checkForgotten, checkSynced, checkUntrusted } from '../../twins/twins.ts'
import { SqliteFiles } from '../support/sqlite-files.ts'

const files = new SqliteFiles()
afterAll(() => files.remove())

const KEYS = 'a secret of this test, of 32 bytes or more'
const STORES: readonly (readonly [name: string, open: () => Store, worlds: number])[] = [
  ['map', () => mapStore(), 48],
  ['encrypted', () => encryptedStore(mapStore(), secretKeys(KEYS)), 8],
  ['Dexie', openDexie, 8],
  ['SQLite', () => files.open(), 8],
]

function openDexie(): Store {
  const indexedDB = new IDBFactory()
  return dexieStore({ name: 'twins', channel: null, mirror: null, indexedDB, IDBKeyRange })
}

const pairs = (open: () => Store, worlds: number) => {
  const { seed, numRuns } = runs(worlds)
  return { open, seed, worlds: numRuns }
}

describe.each(STORES)('two worlds over the %s store that differ in a secret', (_, open, worlds) => {
  it('are the same once it is forgotten, whatever happened before and happens after', async () => {
    await checkForgotten(pairs(open, worlds))
  })
})

describe.each([
  ['map', () => mapStore(), 32],
  ['SQLite', () => files.open(), 8],
] as const)('two worlds of two devices and their home, over the %s store', (_, open, worlds) => {
  it('are the same once it is forgotten on one of them, and all have synced', async () => {
    await checkSynced(pairs(open, worlds))
  })
})

describe('two worlds that differ in what tools and the web say in a session', () => {
  it('have the same system texts there, and are the same elsewhere', async () => {
    await checkUntrusted(pairs(mapStore, 24))
  })
})

describe('two worlds that differ in what another tenant’s user says', () => {
  it('are the same', async () => {
    await checkBeside(pairs(mapStore, 24))
  })
})
