import { afterEach, expect, it } from 'vitest'
import type { Store } from '../../src/ports/store.ts'
import { type DexieStore, dexieStore } from '../../src/stores/dexie.ts'
import { destroyKeptKeys, encryptedStore, keptKeys } from '../../src/stores/encrypted/index.ts'
import { fullMemory } from '../contract/full-memory.ts'
import { describeStore } from '../contract/index.ts'
import { readLog, SCOPE } from '../contract/samples.ts'
import { describeDifferential } from '../everywhere/differential.ts'
import { describeEncrypted, KEPT, KEYS } from '../everywhere/encrypted.ts'
import { isWhole, size } from '../everywhere/runs.ts'
import type { NonceTask } from './nonces.ts'

/** As many as T40 asks for: `VITE_NONCES=200000 npm run test:browser -- encrypted`. */
const TEXTS = Number(import.meta.env.VITE_NONCES ?? size(20_000))

const below = new WeakMap<Store, DexieStore>()
const names = new WeakMap<DexieStore, string>()
const opened: DexieStore[] = []

function open(name: string = crypto.randomUUID()): DexieStore {
  // What a disk keeps is for `dexie-store.test.ts` to say: here nothing waits for one.
  const store = dexieStore({ name, durability: 'relaxed' })
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

// A push has the contract over an encrypted map, and over Dexie in the clear.
if (isWhole)
  describeStore('encrypted Dexie', () => encrypted(), {
    kept: KEPT,
    reopen: async (store) => {
      await below.get(store)?.close()
      return again(store)
    },
  })
describeDifferential('encrypted Dexie', () => encrypted(), { again, runs: 20 })
describeEncrypted('Dexie', () => open())

it('an encrypted Dexie leaves no text in any object store of the database', async () => {
  const name = crypto.randomUUID()
  const store = encryptedStore(open(name), KEYS)
  const session = fullMemory({ store, budget: 3_000 }).session({ userId: 'ada', sessionId: 'trip' })
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
  await fullMemory({ store, budget: 3_000 }).session(scope).append({ role: 'user', content: 'Hello.' })
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

it(`${TEXTS} texts that two realms encrypt at once under one key have no nonce twice (T40)`, async () => {
  const name = crypto.randomUUID()
  // A realm and a thread each, as two tabs have; what they share is the database alone.
  const states = await Promise.all(
    ['one-', 'other-'].map((prefix) => writeElsewhere({ name, prefix, count: TEXTS / 2 })),
  )
  expect(states).toEqual(['ready', 'ready'])
  const keys = new Set<string>()
  const nonces = new Set<string>()
  const writers = new Map<string, number>()
  for (const { id, body } of await readLog(open(name).open(SCOPE))) {
    const [, key = '', sealed = ''] = `${body}`.split('.')
    const [writer = ''] = id.split('-')
    keys.add(key)
    // 12 bytes are 16 characters.
    nonces.add(sealed.slice(0, 16))
    writers.set(writer, (writers.get(writer) ?? 0) + 1)
  }
  expect(keys.size).toBe(1)
  expect([...writers.values()]).toEqual([TEXTS / 2, TEXTS / 2])
  expect(nonces.size).toBe(TEXTS)
}, 300_000)

/** Has a worker write. @returns the state of its store */
async function writeElsewhere(task: NonceTask): Promise<string> {
  const worker = new Worker(new URL('./nonces.ts', import.meta.url), { type: 'module' })
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = ({ message }) => reject(new Error(message))
      worker.postMessage(task)
    })
  } finally {
    worker.terminate()
  }
}

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
