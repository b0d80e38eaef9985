import { Dexie } from 'dexie'
import { forceCloseDatabase, IDBFactory, IDBKeyRange } from 'fake-indexeddb'
import { expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import { type DexieStore, dexieStore } from '../../src/stores/dexie.ts'
import { openDatabase } from '../../src/stores/idb-open.ts'
import { TABLES } from '../../src/stores/idb-schema.ts'
import { indexedDbStore } from '../../src/stores/indexed-db.ts'
import { accepted, append, SCOPE } from '../contract/samples.ts'

const NAME = 'opened'
type Factory = InstanceType<typeof IDBFactory>

/** As the widget opens it: without Dexie. */
const openPlainly = (indexedDB: Factory): DexieStore =>
  indexedDbStore({ name: NAME, channel: null, mirror: null, indexedDB, IDBKeyRange })

const openByDexie = (indexedDB: Factory): DexieStore =>
  dexieStore({ name: NAME, channel: null, mirror: null, indexedDB, IDBKeyRange })

const write = (store: DexieStore, id: string) => store.open(SCOPE).commit([append(id, [`m-${id}`])], decide)

const idsOf = async (store: DexieStore): Promise<string[]> =>
  (await store.open(SCOPE).entries()).rows.map(({ id }) => id)

/** The tables of a database, as the engine has them. */
async function tablesOf(indexedDB: Factory): Promise<object> {
  const database = await openDatabase({ name: NAME, indexedDB }, () => {})
  const names = Object.keys(TABLES)
  const transaction = database.transaction(names, 'readonly')
  const tables = names.map((name) => {
    const { keyPath, autoIncrement, indexNames } = transaction.objectStore(name)
    const indexes = Array.from(indexNames, (index) => {
      const { keyPath, unique, multiEntry } = transaction.objectStore(name).index(index)
      return { index, keyPath, unique, multiEntry }
    })
    return { name, keyPath, autoIncrement, indexes }
  })
  const { version } = transaction.db
  database.close()
  return { version, tables }
}

it('the tables of a database are the same, with Dexie and without', async () => {
  const [plain, byDexie] = [new IDBFactory(), new IDBFactory()]
  await write(openPlainly(plain), 'op-1')
  await write(openByDexie(byDexie), 'op-1')
  expect(await tablesOf(plain)).toEqual(await tablesOf(byDexie))
})

it.each([
  ['Dexie made is opened without it', openByDexie, openPlainly],
  ['was made without Dexie is opened by it', openPlainly, openByDexie],
])('a database that %s, at the same time too', async (_, first, second) => {
  const indexedDB = new IDBFactory()
  const [one, other] = [first(indexedDB), second(indexedDB)]
  await write(one, 'op-1')
  expect(await write(other, 'op-2')).toEqual([accepted(2)])
  await write(one, 'op-3')
  for (const store of [one, other]) expect(await idsOf(store)).toEqual(['m-op-1', 'm-op-2', 'm-op-3'])
})

it('is not made again where it was deleted, until somebody accepts that', async () => {
  const indexedDB = new IDBFactory()
  const store = openPlainly(indexedDB)
  await write(store, 'op-1')
  await new Promise((resolve) => {
    indexedDB.deleteDatabase(NAME).onsuccess = resolve
  })
  await expect(idsOf(store)).rejects.toMatchObject({ code: 'ERR_STORAGE_LOST' })
  expect([store.status().state, await indexedDB.databases()]).toEqual(['lost', []])
  await store.acceptLoss()
  expect(await write(store, 'op-2')).toEqual([accepted(1)])
  await store.close()
})

it('is closed for who upgrades it, and opened again as it is then', async () => {
  const indexedDB = new IDBFactory()
  const store = openPlainly(indexedDB)
  await write(store, 'op-1')
  const next = new Dexie(NAME, { indexedDB, IDBKeyRange })
  next
    .version(3)
    .stores({ ...TABLES, extra: 'id' })
    .upgrade((transaction) => transaction.table('meta').update('database', { writer: 3 }))
  await next.open()
  next.close()
  await expect(write(store, 'op-2')).rejects.toMatchObject({ code: 'ERR_UPGRADE_REQUIRED' })
  expect(store.status()).toMatchObject({ state: 'read-only' })
  expect(await idsOf(store)).toEqual(['m-op-1'])
})

it('is closed for who deletes it, and is lost then', async () => {
  const indexedDB = new IDBFactory()
  const store = openPlainly(indexedDB)
  await write(store, 'op-1')
  await new Promise<void>((resolve, reject) => {
    const request = indexedDB.deleteDatabase(NAME)
    request.onsuccess = () => resolve()
    request.onblocked = () => reject(new Error('the handle was not closed'))
  })
  await expect(write(store, 'op-2')).rejects.toMatchObject({ code: 'ERR_STORAGE_LOST' })
})

it('is opened again where the browser closed it, which is no failure of its own', async () => {
  const indexedDB = new IDBFactory()
  let handle: Parameters<typeof forceCloseDatabase>[0] | undefined
  let isFailing = false
  const open = indexedDB.open.bind(indexedDB)
  indexedDB.open = (...given: Parameters<Factory['open']>) => {
    if (isFailing) {
      isFailing = false
      throw new DOMException('not now', 'UnknownError')
    }
    const request = open(...given)
    request.addEventListener('success', () => {
      handle = request.result as typeof handle
    })
    return request
  }
  const store = openPlainly(indexedDB)
  await write(store, 'op-1')
  if (handle) forceCloseDatabase(handle)
  await new Promise((resolve) => setTimeout(resolve, 0))
  // A call is tried twice: it may fail once more.
  isFailing = true
  expect(await write(store, 'op-2')).toEqual([accepted(2)])
  expect(store.status()).toEqual({ state: 'ready', durable: true })
})

it('of 0.1.0 is refused with what to do, and left as it is', async () => {
  const indexedDB = new IDBFactory()
  const old = new Dexie(NAME, { indexedDB, IDBKeyRange })
  old.version(1).stores({ meta: 'key' })
  await old.open()
  old.close()
  await expect(write(openPlainly(indexedDB), 'op-1')).rejects.toMatchObject({
    code: 'ERR_UPGRADE_REQUIRED',
    message: expect.stringMatching(/opened has storage format 1, of version 0\.1\.0, not 2; export it/),
  })
  expect(await indexedDB.databases()).toEqual([{ name: NAME, version: 10 }])
})
