/** A Durable Object that orders what it cannot read: a home by `syncServer`, of devices that encrypt. */
import { env, runInDurableObject } from 'cloudflare:test'
import { expect, it } from 'vitest'
import { createMemory } from '../../src/create-memory.ts'
import { deleteSession } from '../../src/operations/delete-session.ts'
import { encryptedStore, secretKeys } from '../../src/stores/encrypted/index.ts'
import { mapStore } from '../../src/stores/map.ts'
import { httpTransport } from '../../src/sync/http.ts'
import { syncServer } from '../../src/sync/server.ts'
import { sync } from '../../src/sync/sync.ts'
import { ObjectStore } from './object-store.ts'

const ADA = { userId: 'ada' }
const CANARY = 'canary'
const KEYS = secretKeys('a secret of this test, of 32 bytes or more')

it('holds no text of two devices, which show the same', async () => {
  const stub = env.SESSIONS.get(env.SESSIONS.newUniqueId())
  const heard: string[] = []
  const home = new ObjectStore(stub)
  const answer = syncServer({ store: home, authenticate: async () => ADA })
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const response = await answer(new Request(url, init as never) as never)
    heard.push(`${init.body}`, await response.clone().text())
    return response
  }
  const device = () => {
    const transport = httpTransport({ url: 'https://home.example', token: 'token', fetch })
    const store = sync({ store: mapStore(), transport, lock: false, channel: false })
    const memory = createMemory({ store: encryptedStore(store, KEYS), budget: 4_000 })
    return { store, memory, session: memory.session({ ...ADA, sessionId: 'trip' }) }
  }
  const held = async (): Promise<string> =>
    runInDurableObject(stub, (_, { storage: { sql } }) => {
      const tables = [
        ...sql.exec(`SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'plimsoll%'`),
      ]
      return JSON.stringify(tables.map(({ name }) => [...sql.exec(`SELECT * FROM "${name}"`)]))
    })
  const [one, two] = [device(), device()]
  for (const [name, { store, session }] of Object.entries({ one, two })) {
    store.pause()
    await session.append({ role: 'user', content: `${CANARY} of ${name}` })
  }
  const meet = async (): Promise<void> => {
    for (const { store } of [one, two, one]) {
      store.resume()
      await store.settled()
    }
  }
  await meet()
  // The first one makes the secret by which the session's hashes are keyed.
  const contexts = [await one.session.context()]
  await meet()
  await meet()
  contexts.push(await two.session.context())
  expect(contexts[1]).toEqual(contexts[0])
  for (const name of ['one', 'two']) expect(JSON.stringify(contexts)).toContain(`${CANARY} of ${name}`)
  expect(await held()).toContain('p1.')
  for (const text of [await held(), ...heard]) expect(text).not.toContain(CANARY)
  await deleteSession(one.memory, ADA, 'trip')
  await one.store.settled()
  expect(await home.open({ ...ADA, sessionId: 'trip' }).registers('')).toEqual([])
  for (const { store } of [one, two]) await store.close()
})
