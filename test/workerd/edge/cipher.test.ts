/** An edge that keeps what devices encrypted, and reads nothing. */

import { env, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { expect, onTestFinished, test, vi } from 'vitest'
import { GUEST_LIFETIME_MS } from '../../../src/edge/guest.ts'
import { createApp } from '../../../src/edge/hono.ts'
import { createMemory, forget, standard } from '../../../src/index.ts'
import { attach, readAttachment } from '../../../src/operations/attachments.ts'
import { encryptedStore, secretKeys } from '../../../src/stores/encrypted/index.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { httpTransport } from '../../../src/sync/http.ts'
import { certify, refusalsOf } from '../../../src/sync/index.ts'
import { sync } from '../../../src/sync/sync.ts'
import { newUser, type User } from './caller.ts'
import { rowsOf, sessionObject, userObject } from './rows.ts'

const KEYS = secretKeys('a secret of this test, of 32 bytes or more')
const CANARY = 'the code of the door is xylomarquen'
const URL = 'https://cipher.test'

function edge(user: User) {
  const app = createApp(() => ({
    objects: env,
    authenticate: async () => user,
    operator: async () => {},
    ciphertext: true,
  }))
  const fetch = async (url: string, init?: RequestInit) => app.fetch(new Request(url, init), env)
  return {
    user,
    fetch,
    ask: (method: string, path: string, init = {}) => fetch(URL + path, { method, ...init }),
  }
}

/** A device of a user's; one that encrypts, unless that is left out. */
function device({ fetch }: ReturnType<typeof edge>, user: User, isPlain = false) {
  const transport = httpTransport({ url: URL, token: 'any', fetch })
  const base = mapStore()
  const store = sync({ store: base, transport, lock: false, channel: false, baseMs: 5 })
  const memory = createMemory({
    store: isPlain ? store : encryptedStore(store, KEYS),
    budget: 4_000,
    use: standard(),
  })
  const trip = { ...user, sessionId: 'trip' }
  for (const scope of [user, trip]) store.follow(scope)
  return { base, store, memory, trip, session: memory.session(trip) }
}

type Device = ReturnType<typeof device>

/** All that an object holds. */
async function textOf(stub: DurableObjectStub): Promise<string> {
  return Object.values(await rowsOf(stub)).join('\n')
}

async function meet(...devices: readonly Device[]): Promise<void> {
  for (let round = 0; round < 2; round++)
    for (const { store, session } of devices) {
      store.resume()
      await store.settled()
      await session.history()
      await store.settled()
    }
}

async function close(...devices: readonly Device[]): Promise<void> {
  for (const { store } of devices) await store.close()
}

test('two devices show the same over it, and it holds none of their texts', async () => {
  const user = newUser()
  const home = edge(user)
  const [one, two] = [device(home, user), device(home, user)]
  const bytes = new TextEncoder().encode(CANARY)
  const picture = await attach(one.session, { mediaType: 'image/png', bytes })
  await one.session.append([
    { id: 'm1', role: 'user', content: [{ type: 'text', text: CANARY }, picture] },
    { id: 'm2', role: 'assistant', content: `Noted: ${CANARY}` },
  ])
  await one.memory.user(user).profile.set('SOUL.md', CANARY)
  await one.session.facts.remember({ kind: 'finding', text: CANARY })
  await meet(one, two)
  await two.session.append({ id: 'm3', role: 'user', content: `Again: ${CANARY}` })
  await meet(two, one)
  const context = await one.session.context()
  expect(JSON.stringify(context)).toContain(CANARY)
  await meet(one, two)
  expect(await two.session.context()).toEqual(context)
  expect((await two.memory.user(user).profile.get('SOUL.md'))?.text).toBe(CANARY)
  await two.store.settled()
  expect((await readAttachment(two.session, picture.ref as string)).bytes).toEqual(bytes)
  const held = await textOf(userObject(user))
  expect(held.includes('"m3"')).toBe(true)
  expect(held.includes('xylomarquen')).toBe(false)
  // No object was made for the session: nothing reads it.
  expect((await textOf(sessionObject(user, 'trip'))).includes('"m3"')).toBe(false)
  // What is forgotten is forgotten there, too; and who has done so is told.
  const certificate = await forget(one.session, 'm1')
  await meet(one, two, one)
  expect((await two.session.history()).map(({ id }) => id)).toEqual(['m2', 'm3'])
  const { replicas } = await certify(one.store, one.trip, certificate)
  expect([replicas?.confirmed.length, replicas?.pending]).toEqual([2, []])
  await close(one, two)
})

test('what is not encrypted is refused and told, and its bytes are not kept', async () => {
  const user = newUser()
  const home = edge(user)
  const plain = device(home, user, true)
  const told = vi.fn()
  refusalsOf(plain.store).on('rejected', told)
  await plain.session.append({ id: 'm1', role: 'user', content: CANARY })
  await plain.store.settled()
  expect(told).toHaveBeenCalled()
  expect(await refusalsOf(plain.store).of(plain.trip)).toMatchObject([
    { op: { ids: ['m1'] }, refusal: { rejected: 'forbidden' } },
  ])
  const refused = await home.ask('PUT', '/v1/sync/attachment?session=trip&generation=g&id=p', {
    headers: { 'Content-Type': 'image/png' },
    body: new TextEncoder().encode(CANARY),
  })
  expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'ERR_INVALID_ARGUMENT' }])
  expect((await textOf(userObject(user))).includes('xylomarquen')).toBe(false)
  await close(plain)
})

test('what would have to read is not there', async () => {
  const home = edge(newUser())
  for (const [method, path] of [
    ['GET', '/v1/sessions'],
    ['POST', '/v1/sessions'],
    ['POST', '/v1/sessions/trip/messages'],
    ['POST', '/v1/sessions/trip/context'],
    ['DELETE', '/v1/sessions/trip'],
    ['GET', '/v1/me/facts'],
    ['GET', '/v1/me/export'],
    ['POST', '/v1/chat/completions'],
    ['POST', '/mcp'],
    ['GET', '/v1/operator/users/ada'],
    ['GET', '/v1/operator/users/ada/export'],
  ] as const) {
    const response = await home.ask(method, path)
    expect([path, response.status]).toEqual([path, 404])
  }
  expect((await home.ask('GET', '/health')).status).toBe(200)
})

test.each([
  ['the user', (_: User) => '/v1/me'],
  ['an operator', ({ tenant, userId }: User) => `/v1/operator/users/${userId}?tenant=${tenant}`],
])('%s erases all that it keeps, and devices that come back are emptied', async (_, pathOf) => {
  const user = newUser()
  const home = edge(user)
  const [one, two] = [device(home, user), device(home, user)]
  await one.session.append({ id: 'm1', role: 'user', content: CANARY })
  await meet(one, two)
  expect((await textOf(userObject(user))).includes('"m1"')).toBe(true)
  const response = await home.ask('DELETE', pathOf(user))
  expect([response.status, await response.json()]).toMatchObject([
    200,
    { action: 'erase', already: false, removed: { sessions: { count: 1, first: ['trip'] } } },
  ])
  expect((await textOf(userObject(user))).includes('"m1"')).toBe(false)
  await meet(one, two)
  for (const { session } of [one, two]) expect(await session.history()).toEqual([])
  // They go on with keys of their own.
  await one.session.append({ id: 'm2', role: 'user', content: 'A new beginning.' })
  await meet(one, two)
  expect((await two.session.history()).map(({ id }) => id)).toEqual(['m2'])
  expect(await (await home.ask('DELETE', pathOf(newUser()))).json()).toMatchObject({
    already: pathOf(user) !== '/v1/me',
  })
  await close(one, two)
})

test('an attachment that nothing names goes with the rest', async () => {
  const user = newUser()
  const home = edge(user)
  const keep = device(home, user)
  const { ref } = await attach(keep.session, {
    mediaType: 'image/png',
    bytes: new TextEncoder().encode(CANARY),
  })
  const sealed = (await keep.base.open(keep.trip).attachment(ref as string))?.bytes
  const put = await home.ask('PUT', `/v1/sync/attachment?session=trip&generation=&id=${ref}`, {
    headers: { 'Content-Type': 'image/png' },
    body: sealed,
  })
  expect(put.status).toBe(200)
  expect((await rowsOf(userObject(user))).plimsoll_attachment).not.toBe('')
  expect((await home.ask('DELETE', '/v1/me')).status).toBe(200)
  expect((await rowsOf(userObject(user))).plimsoll_attachment).toBe('')
  await close(keep)
})

/** Counts how often the database of an object is written again. */
async function rewritten(stub: DurableObjectStub): Promise<() => number> {
  let count = 0
  await runInDurableObject(stub, (_, { storage }) => {
    const { deleteAll } = storage
    vi.spyOn(storage, 'deleteAll').mockImplementation(() => {
      count++
      return deleteAll.call(storage)
    })
  })
  return () => count
}

async function listening(home: ReturnType<typeof edge>): Promise<number[]> {
  const { webSocket } = await home.ask('GET', '/v1/sessions/trip/live', {
    headers: { Upgrade: 'websocket' },
  })
  const closed: number[] = []
  webSocket?.addEventListener('close', ({ code }) => void closed.push(code))
  webSocket?.accept()
  return closed
}

test('an erase writes the database again, and ends the sockets of that user', async () => {
  const [home, another] = [newUser(), newUser()].map(edge) as [
    ReturnType<typeof edge>,
    ReturnType<typeof edge>,
  ]
  const one = device(home, home.user)
  await one.session.append({ id: 'm1', role: 'user', content: CANARY })
  await one.store.settled()
  const [closed, others] = [await listening(home), await listening(another)]
  const count = await rewritten(userObject(home.user))
  expect((await home.ask('DELETE', '/v1/me')).status).toBe(200)
  expect(count()).toBe(1)
  await vi.waitFor(() => expect(closed).toEqual([4404]))
  expect(others).toEqual([])
  await close(one)
})

test('what a guest keeps goes once the token has ended, and not before', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  onTestFinished(() => void vi.useRealTimers())
  const user = { userId: `guest_${crypto.randomUUID()}` }
  const home = edge(user)
  const one = device(home, user)
  await one.session.append({ id: 'm1', role: 'user', content: CANARY })
  await one.memory.user(user).profile.set('SOUL.md', CANARY)
  await one.store.settled()
  await close(one)
  const stub = userObject(user)
  const closed = await listening(home)
  const ring = async (ms: number): Promise<string> => {
    vi.setSystemTime(Date.now() + ms)
    // Real time has not come that far.
    await runInDurableObject(stub, (_, { storage }) => storage.setAlarm(Date.now() + GUEST_LIFETIME_MS))
    await runDurableObjectAlarm(stub)
    return textOf(stub)
  }
  expect(await ring(GUEST_LIFETIME_MS - 60_000)).toContain('"m1"')
  const count = await rewritten(stub)
  expect(await ring(180_000)).not.toMatch(/"m1"|SOUL/)
  expect(count()).toBe(1)
  await vi.waitFor(() => expect(closed).toEqual([4404]))
})

test('a device is poked when another one has written', async () => {
  const user = newUser()
  const home = edge(user)
  const upgraded = await home.ask('GET', '/v1/sessions/trip/live', {
    headers: { Upgrade: 'websocket' },
  })
  expect(upgraded.status).toBe(101)
  const socket = upgraded.webSocket as WebSocket
  const heard = new Promise((resolve) => socket.addEventListener('message', ({ data }) => resolve(data)))
  socket.accept()
  const one = device(home, user)
  await one.session.append({ id: 'm1', role: 'user', content: CANARY })
  await one.store.settled()
  expect(JSON.parse(String(await heard))).toMatchObject({ type: 'change' })
  socket.close()
  await close(one)
})
