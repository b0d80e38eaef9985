/** Devices that encrypt: their home orders what it cannot read. */
import { expect, test } from 'vitest'
import { decide } from '../../../src/kernel/log/decide.ts'
import { attach, readAttachment } from '../../../src/operations/attachments.ts'
import { deleteSession } from '../../../src/operations/delete-session.ts'
import { forget } from '../../../src/operations/forget/forget.ts'
import type { Scope } from '../../../src/ports/op.ts'
import type { ScopeStore, Store } from '../../../src/ports/store.ts'
import {
  encryptedStore,
  type Keys,
  passphraseKeys,
  secretKeys,
  type Unreadable,
} from '../../../src/stores/encrypted/index.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { answerPull } from '../../../src/sync/answer-pull.ts'
import { answerPush } from '../../../src/sync/home.ts'
import { refusalsOf } from '../../../src/sync/index.ts'
import { readRegisters, readRows, readScopes } from '../../../src/sync/read.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { append, names, put } from '../../contract/samples.ts'
import { ADA, device as deviceOf, logOf, outboxOf, TestHome, TRIP, write } from '../support/synced.ts'

const KEYS = secretKeys('a secret of this test, of 32 bytes or more')
const OTHER_KEYS = secretKeys('another secret of this test, of 32 bytes')
const CANARY = 'canary'

function device(home: TestHome, keys: Keys = KEYS, base: Store = mapStore()) {
  const { store } = deviceOf(home, { store: base })
  const unreadable: Unreadable[] = []
  const encrypted = encryptedStore(store, keys, { onUnreadable: (row) => unreadable.push(row) })
  const memory = fullMemory({ store: encrypted, budget: 4_000 })
  const session = memory.session({ userId: 'ada', sessionId: 'trip' })
  return { base, store, encrypted, memory, session, unreadable }
}

type Device = ReturnType<typeof device>

/** All of them have sent and fetched all. */
async function meet(home: TestHome, ...devices: readonly Device[]): Promise<void> {
  for (const { store } of [...devices, ...devices]) {
    store.resume()
    home.poke()
    await store.settled()
  }
}

test.each(['mine', { value: CANARY }] as const)(
  'a conflict in what is encrypted is not resolved in the clear: %j',
  async (resolution) => {
    const home = new TestHome()
    const [one, two] = [device(home), device(home)]
    await write(one.encrypted, [put('p', 'mood', null, { body: '"old"' })])
    two.store.follow(TRIP)
    await meet(home, one, two)
    for (const { store } of [one, two]) store.pause()
    await write(one.encrypted, [put('q', 'mood', 'p', { body: '"one"' })])
    await write(two.encrypted, [put('r', 'mood', 'p', { body: '"two"' })])
    await meet(home, one, two)
    const refusals = refusalsOf(two.store)
    const [refused] = await refusals.of(TRIP)
    await expect(refusals.resolve(refused as never, resolution)).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
    })
    await refusals.resolve(refused as never, 'theirs')
    await meet(home, one, two)
    expect(await textOf(home.store)).not.toContain(CANARY)
    for (const { encrypted } of [one, two])
      expect(await encrypted.open(TRIP).register('mood')).toMatchObject({ body: '"one"' })
  },
)

/** All that a store holds. */
async function textOf(store: Store): Promise<string> {
  const all: unknown[] = []
  for (const scope of await readScopes(store)) {
    const opened = store.open(scope)
    all.push(scope, await readRows(opened, 0), [...(await readRegisters(opened)).values()])
    await opened.close()
  }
  return JSON.stringify(all)
}

async function opened<Result>(store: Store, scope: Scope, work: (store: ScopeStore) => Promise<Result>) {
  const one = store.open(scope)
  try {
    return await work(one)
  } finally {
    await one.close()
  }
}

test('an attachment that was encrypted here is read there, and at home by nobody', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  one.store.pause()
  const bytes = Uint8Array.from({ length: 9_000 }, (_, at) => at % 199)
  const part = await attach(one.session, { mediaType: 'image/png', bytes })
  await one.session.append({ role: 'user', content: [part] })
  await meet(home, one, two)
  await two.session.history()
  await two.store.settled()
  expect((await readAttachment(two.session, part.ref as string)).bytes).toEqual(bytes)
  const kept = await opened(home.store, TRIP, (store) => store.attachment(part.ref as string))
  expect(kept?.bytes.length).toBeGreaterThan(bytes.length)
  await forget(two.session, (await two.session.history())[0]?.id as string)
  await meet(home, one, two)
  for (const { base } of [one, two, { base: home.store }])
    expect(await opened(base, TRIP, (store) => store.attachment(part.ref as string))).toBeUndefined()
})

test('two devices show the same, and their home holds and hears none of their texts', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  // Neither has a key yet that the other one knows.
  for (const { store, session, memory } of [one, two]) {
    store.pause()
    const name = session === one.session ? 'one' : 'two'
    await session.append([
      { role: 'user', content: `${CANARY} asks ${name}` },
      { role: 'assistant', content: `${CANARY} answers ${name}` },
    ])
    await session.facts.remember({ kind: 'finding', text: `${CANARY} in a session, by ${name}` })
    await memory.user(ADA).profile.set(`about-${name}`, `${CANARY} of a user, by ${name}`)
  }
  await meet(home, one, two)
  await one.session.append({ role: 'user', content: `${CANARY} again` })
  await meet(home, one, two)
  const [here, there] = [await one.session.context(), await two.session.context()]
  expect(there).toEqual(here)
  expect(JSON.stringify(here)).toContain(`${CANARY} asks one`)
  expect(JSON.stringify(here)).toContain(`${CANARY} answers two`)
  for (const { memory, session, unreadable } of [one, two]) {
    expect(unreadable).toEqual([])
    const facts = JSON.stringify(await session.facts.list())
    for (const name of ['one', 'two']) {
      expect(facts).toContain(`${CANARY} in a session, by ${name}`)
      expect(JSON.stringify(await memory.user(ADA).profile.get(`about-${name}`))).toContain(`by ${name}`)
    }
  }
  expect(await textOf(home.store)).not.toContain(CANARY)
  expect(JSON.stringify(home.calls)).not.toContain(CANARY)
  for (const { base } of [one, two]) expect(await textOf(base)).not.toContain(CANARY)
})

test('one passphrase opens what two devices began offline, each with a salt of its own', {
  timeout: 60_000,
}, async () => {
  const home = new TestHome()
  const devices = [device(home, passphraseKeys('tea')), device(home, passphraseKeys('tea'))] as const
  for (const [at, { store, encrypted }] of devices.entries()) {
    store.pause()
    await write(encrypted, [append(`o${at}`, [`m${at}`])])
  }
  await meet(home, ...devices)
  for (const { encrypted, unreadable } of devices) {
    const log = (await logOf(encrypted)).filter(({ kind }) => kind === 'message')
    expect(log.map(({ body }) => body)).toEqual(['body of m0', 'body of m1'])
    expect(unreadable).toEqual([])
  }
})

test('rows that change their places when others come first stay readable', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  await write(one.encrypted, [append('first', ['first'])])
  await meet(home, one, two)
  for (let round = 0; round < 3; round++) {
    for (const { store } of [one, two]) store.pause()
    for (const id of names(`a${round}`, 3)) {
      await opened(one.encrypted, TRIP, (store) => store.entries())
      await write(one.encrypted, [append(id, [id])])
    }
    for (const id of names(`b${round}`, 2)) {
      await write(two.encrypted, [append(id, [id]), put(`p${id}`, id, null)])
      await opened(two.encrypted, TRIP, (store) => store.entries())
    }
    await meet(home, one, two)
  }
  const log = await logOf(one.encrypted)
  expect(await logOf(two.encrypted)).toEqual(log)
  expect(log.flatMap(({ kind, id, body }) => (kind === 'message' ? [[id, body]] : []))).toHaveLength(16)
  for (const { id, kind, body } of log) if (kind === 'message') expect(body).toBe(`body of ${id}`)
  // Nor are they taken for moved where they are read without a home.
  for (const { base, unreadable } of [one, two]) {
    const alone = encryptedStore(base, KEYS, { onUnreadable: (row) => unreadable.push(row) })
    expect(await logOf(alone)).toEqual(log)
  }
  expect([...one.unreadable, ...two.unreadable]).toEqual([])
})

test('another key is refused, and writes nothing', async () => {
  const home = new TestHome()
  const one = device(home)
  await one.session.append({ role: 'user', content: CANARY })
  await meet(home, one)
  const other = device(home, OTHER_KEYS)
  other.store.pause()
  expect(await other.session.history()).toEqual([])
  for (const scope of [ADA, TRIP]) other.store.follow(scope)
  await meet(home, other)
  const before = await textOf(home.store)
  await expect(other.encrypted.unlock(ADA)).rejects.toMatchObject({ code: 'ERR_DECRYPT' })
  await expect(other.session.history()).rejects.toMatchObject({ code: 'ERR_DECRYPT' })
  const content = 'under another key'
  await expect(other.session.append({ role: 'user', content })).rejects.toMatchObject({ code: 'ERR_DECRYPT' })
  await meet(home, other)
  expect(await outboxOf(other.base)).toBe(0)
  expect(await textOf(home.store)).toBe(before)
})

test('another key is refused of what came after the scope was read', async () => {
  const home = new TestHome()
  const [one, reader, writer] = [device(home), device(home, OTHER_KEYS), device(home, OTHER_KEYS)]
  for (const { store } of [reader, writer]) store.pause()
  await write(one.encrypted, [append('m', ['m'])])
  await meet(home, one)
  for (const { store, encrypted } of [reader, writer]) {
    await opened(encrypted, TRIP, (scope) => scope.entries())
    store.follow(TRIP)
  }
  await meet(home, reader, writer)
  const refusal = { code: 'ERR_DECRYPT' }
  await expect(opened(reader.encrypted, TRIP, (scope) => scope.entries())).rejects.toMatchObject(refusal)
  await expect(write(writer.encrypted, [append('n', ['n'])])).rejects.toMatchObject(refusal)
  expect(await outboxOf(writer.base)).toBe(0)
})

test('one who wrote under another key before anything came spoils no text of the others', async () => {
  const home = new TestHome()
  const [one, other] = [device(home), device(home, OTHER_KEYS)]
  other.store.pause()
  await write(other.encrypted, [append('x', ['x'])])
  await write(one.encrypted, [append('m', ['m'])])
  await meet(home, one, other)
  await write(one.encrypted, [append('n', ['n'])])
  const bodies = (await logOf(one.encrypted)).flatMap(({ id, kind, body }) =>
    kind === 'message' ? [[id, body]] : [],
  )
  expect(bodies).toContainEqual(['m', 'body of m'])
  expect(bodies).toContainEqual(['n', 'body of n'])
  expect(bodies).toContainEqual(['x', null])
  expect(one.unreadable).toMatchObject([{ id: 'x' }])
})

test('what is forgotten is gone everywhere, and an erase takes the keys along', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  const { messages } = await one.session.append([
    { role: 'user', content: 'to be forgotten' },
    { role: 'assistant', content: 'to stay' },
  ])
  await meet(home, one, two)
  const id = messages[0]?.id as string
  const sealed = (await logOf(home.store)).find((row) => row.id === id)?.body as string
  expect(sealed).toMatch(/^p1\./)
  await forget(one.session, id)
  await meet(home, one, two)
  for (const store of [home.store, one.base, two.base]) expect(await textOf(store)).not.toContain(sealed)
  // Who knows the keys from before must not go on with them.
  await write(two.encrypted, [append('x', ['x'])])
  await meet(home, one, two)
  await deleteSession(one.memory, ADA, 'trip')
  await meet(home, one, two)
  for (const store of [home.store, one.base, two.base]) {
    const registers = await opened(store, TRIP, readRegisters)
    expect([...registers.keys()]).toEqual([])
    expect((await logOf(store)).every(({ body }) => body === null)).toBe(true)
  }
  // Under a new key of its own.
  await write(two.encrypted, [
    append('y', ['y'], { bodies: [JSON.stringify({ role: 'user', content: 'after it' })] }),
  ])
  await meet(home, one, two)
  const three = device(home)
  three.store.follow(TRIP)
  await meet(home, three)
  for (const { session } of [one, three])
    expect(JSON.stringify(await session.history())).toContain('after it')
  expect([...one.unreadable, ...two.unreadable]).toEqual([])
})

test('a log that was encrypted before it had a home brings its keys along', async () => {
  const home = new TestHome()
  const base = mapStore()
  const alone = encryptedStore(base, KEYS)
  for (const id of names('m', 3)) {
    await write(alone, [append(id, [id])])
    await opened(alone, TRIP, (store) => store.entries())
  }
  // Others are first at home, so that all get other numbers.
  const two = device(home)
  await write(two.encrypted, [append('t', ['t'])])
  await meet(home, two)
  const one = device(home, KEYS, base)
  await write(one.encrypted, [append('n', ['n'])])
  await meet(home, one, two)
  for (const { encrypted } of [one, two]) {
    const log = (await logOf(encrypted)).filter(({ kind }) => kind === 'message')
    expect(log.map(({ body }) => body)).toEqual(['t', ...names('m', 3), 'n'].map((id) => `body of ${id}`))
  }
  expect([...one.unreadable, ...two.unreadable]).toEqual([])
})

test('a home that puts a text before what its writer saw, or elsewhere, is noticed', async () => {
  const home = new TestHome()
  const one = device(home)
  for (const id of names('m', 3)) {
    await write(one.encrypted, [append(id, [id])])
    await opened(one.encrypted, TRIP, (store) => store.entries())
  }
  await meet(home, one)
  const { newTok } = home
  const answer = await answerPull(home.store.open(TRIP), { cursor: 0, anchor: '' }, { newTok })
  const ops = 'ops' in answer ? answer.ops.flatMap((op) => ('envelope' in op ? op : [])) : []
  const [key, ...texts] = ops
  if (!key) throw new Error('no key')
  const rearranged = async (scope: Scope, all: typeof ops) => {
    const other = new TestHome()
    await answerPush(other.store.open(scope), { generation: '', ops: all }, { newTok })
    const two = device(other)
    two.store.follow(scope)
    await two.store.settled()
    await opened(two.encrypted, scope, (store) => store.entries())
    return two.unreadable.map(({ id }) => id)
  }
  expect(await rearranged(TRIP, [key, ...texts])).toEqual([])
  expect(await rearranged(TRIP, [key, ...texts.toReversed()])).not.toEqual([])
})

test('keys are wrapped again, and others are made, for all devices', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  await write(one.encrypted, [append('m1', ['m1'])])
  await one.encrypted.rotate(TRIP)
  await write(one.encrypted, [append('m2', ['m2'])])
  two.store.follow(TRIP)
  await meet(home, one, two)
  // On both at the same time: the first one holds.
  for (const { store, encrypted } of [one, two]) {
    store.pause()
    await encrypted.rewrap([ADA, TRIP])
  }
  await meet(home, one, two)
  const log = (await logOf(two.encrypted)).filter(({ kind }) => kind === 'message')
  expect(log.map(({ body }) => body)).toEqual(['body of m1', 'body of m2'])
  expect((await opened(home.store, TRIP, readRegisters)).size).toBe(2)
  for (const { store } of [one, two])
    expect(await store.settled()).toEqual({ state: 'current', waiting: 0, refused: 0 })
})

test('a scope that is erased and written in one commit gets a new key with it', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  await write(one.encrypted, [append('m1', ['m1'])])
  await meet(home, one, two)
  const [before] = (await opened(home.store, TRIP, readRegisters)).keys()
  const erase = { envelope: { opId: 'e', kind: 'erase', ids: [] } as const, bodies: [] }
  await opened(one.encrypted, TRIP, (store) => store.commit([erase, append('m2', ['m2'])], decide))
  two.store.follow(TRIP)
  await meet(home, one, two)
  const [after] = (await opened(home.store, TRIP, readRegisters)).keys()
  expect(after).not.toBe(before)
  const log = (await logOf(two.encrypted)).filter(({ kind }) => kind === 'message')
  expect(log.map(({ body }) => body)).toEqual(['body of m2'])
})
