import { afterEach, expect, it } from 'vitest'
import { encrypt, importKey, newKey } from '../../src/encrypted/cipher.ts'
import { destroyKeptKeys, encryptedStore, keptKeys } from '../../src/encrypted/index.ts'
import { createMemory } from '../../src/index.ts'
import type { Store } from '../../src/ports/store.ts'
import { type DexieStore, dexieStore } from '../../src/stores/dexie.ts'
import { describeStore } from '../contract/index.ts'
import { describeDifferential } from '../everywhere/differential.ts'
import { describeEncrypted, KEPT, KEYS } from '../everywhere/encrypted.ts'

const below = new WeakMap<Store, DexieStore>()
const names = new WeakMap<DexieStore, string>()
const opened: DexieStore[] = []

function open(name: string = crypto.randomUUID()): DexieStore {
  const store = dexieStore({ name })
  names.set(store, name)
  opened.push(store)
  return store
}

function encrypted(name?: string): Store {
  const inner = open(name)
  const store = encryptedStore(inner, KEYS)
  below.set(store, inner)
  return store
}

function again(store: Store): Store {
  return encrypted(names.get(below.get(store) as DexieStore))
}

// A store that went on in memory would answer as well, and tell nothing of this browser's database.
afterEach(() => expect(opened.splice(0).map((store) => store.status().state)).not.toContain('memory'))

describeStore('encrypted Dexie', () => encrypted(), {
  kept: KEPT,
  reopen: async (store) => {
    await below.get(store)?.close()
    return again(store)
  },
})
describeDifferential('encrypted Dexie', () => encrypted(), { again, runs: 5 })
describeEncrypted('Dexie', () => open())

it('an encrypted Dexie leaves no text in any object store of the database', async () => {
  const name = crypto.randomUUID()
  const store = encryptedStore(open(name), KEYS)
  const session = createMemory({ store, budget: 3_000 }).session({ userId: 'ada', sessionId: 'trip' })
  await session.append({ role: 'user', content: 'CANARY' })
  await session.checkpoint.set({ step: 'CANARY' })
  const rows = await rawRowsOf(name)
  expect(rows.length).toBeGreaterThan(2)
  expect(JSON.stringify(rows)).not.toContain('CANARY')
})

it('a key that the browser keeps is the same in all tabs, shows no bytes, and opens nothing once it is destroyed', async () => {
  const [name, data] = [crypto.randomUUID(), crypto.randomUUID()]
  const scope = { userId: 'ada', sessionId: 'trip' }
  const [one, other] = await Promise.all([keptKeys({ name }), keptKeys({ name })])
  const store = encryptedStore(open(data), one)
  await createMemory({ store, budget: 3_000 }).session(scope).append({ role: 'user', content: 'Hello.' })
  expect(await encryptedStore(open(data), other).unlock({ userId: 'ada' })).toBe('opened')
  const [kept] = (await rawRowsOf(name)) as [{ readonly key: CryptoKey }]
  expect(kept.key.extractable).toBe(false)
  await expect(crypto.subtle.exportKey('raw', kept.key)).rejects.toThrow()
  await destroyKeptKeys({ name })
  const next = encryptedStore(open(data), await keptKeys({ name }))
  await expect(next.unlock({ userId: 'ada' })).rejects.toMatchObject({ code: 'ERR_DECRYPT' })
})

it('a browser that keeps no key says so', async () => {
  const refuse = (): never => {
    throw new DOMException('not in this mode', 'DataCloneError')
  }
  const broken = { open: refuse } as unknown as IDBFactory
  await expect(keptKeys({ name: 'any', indexedDB: broken })).rejects.toMatchObject({ code: 'ERR_STORAGE' })
})

it('2 x 10^5 nonces of two tabs have none twice (T40)', async () => {
  const key = await importKey(newKey())
  const nonces = new Set<string>()
  const tab = async (): Promise<void> => {
    for (let at = 0; at < 1_000; at++) {
      const sealed = await Promise.all(
        Array.from({ length: 100 }, () => encrypt(key, new Uint8Array(), new Uint8Array())),
      )
      for (const bytes of sealed) nonces.add(bytes.subarray(0, 12).join())
    }
  }
  await Promise.all([tab(), tab()])
  expect(nonces.size).toBe(200_000)
}, 60_000)

/** Every row of every object store of the databases whose name has `name` in it. */
async function rawRowsOf(name: string): Promise<unknown[]> {
  const rows: unknown[] = []
  for (const { name: found = '' } of await indexedDB.databases()) {
    if (!found.includes(name)) continue
    const database = await request(indexedDB.open(found))
    for (const table of database.objectStoreNames)
      rows.push(...(await request(database.transaction(table).objectStore(table).getAll())))
    database.close()
  }
  return rows
}

function request<Result>(asked: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result)
    asked.onerror = () => reject(asked.error)
  })
}
