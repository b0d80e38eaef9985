import { describe, expect, it } from 'vitest'
import type { PlimsollError, ScopeStore, Session } from '../../src/index.ts'
import { createMemory, mapStore } from '../../src/index.ts'
import { addSession } from '../../src/kernel/log/add-session.ts'
import { decide } from '../../src/kernel/log/decide.ts'
import { sealOp } from '../../src/kernel/log/seal.ts'
import { deleteSession } from '../../src/operations/delete-session.ts'
import { listSessions } from '../../src/operations/sessions.ts'
import type { Host } from '../../src/ports/host.ts'
import type { OpResult, SealedOp } from '../../src/ports/op.ts'

let ids = 0
const host = { newId: () => `id-${++ids}`, now: () => 17 } as Host
const KEY = 'session/one'

const listed = async (store: ScopeStore): Promise<unknown> =>
  JSON.parse((await store.register(KEY))?.body ?? 'null')

async function put(store: ScopeStore, value: object | null): Promise<void> {
  const base = (await store.register(KEY))?.version ?? null
  await store.commit(
    [sealOp({ kind: 'put', opId: host.newId(), key: KEY, base, value: value as never })],
    decide,
  )
}

/** A list in which each write ends as scripted, the last way again and again. */
function ending(...ends: readonly OpResult[]): { readonly store: ScopeStore; readonly written: SealedOp[] } {
  const written: SealedOp[] = []
  const store = {
    register: async () => ({ key: KEY, version: `version-${written.length}`, seq: 1, body: null }),
    commit: async (ops: readonly SealedOp[]) => {
      written.push(...ops)
      return [ends[Math.min(written.length, ends.length) - 1]]
    },
  }
  return { store: store as unknown as ScopeStore, written }
}

const failureOf = (store: ScopeStore): Promise<PlimsollError> =>
  addSession(store, host, 'one').then(
    () => expect.unreachable(),
    (error) => error as PlimsollError,
  )

describe('the list of sessions', () => {
  it('has a session without a title, from now on, where nothing else is said of it', async () => {
    const store = mapStore().open({ userId: 'ada' })
    await addSession(store, host, 'one')
    expect(await listed(store)).toEqual({ sessionId: 'one', title: '', createdAt: 17 })
  })

  it('has what was said of a session elsewhere', async () => {
    const store = mapStore().open({ userId: 'ada' })
    await addSession(store, host, 'one', { title: 'A trip', createdAt: 3 })
    expect(await listed(store)).toEqual({ sessionId: 'one', title: 'A trip', createdAt: 3 })
  })

  it('keeps what it says of a session that is listed, and nothing is written', async () => {
    const store = mapStore().open({ userId: 'ada' })
    await addSession(store, host, 'one', { title: 'A trip' })
    const before = await store.head()
    await addSession(store, host, 'one', { title: 'Another' })
    expect(await listed(store)).toMatchObject({ title: 'A trip' })
    expect(await store.head()).toEqual(before)
  })

  it('takes a session up again that was taken off', async () => {
    const store = mapStore().open({ userId: 'ada' })
    await addSession(store, host, 'one', { title: 'A trip' })
    await put(store, null)
    await addSession(store, host, 'one', { title: 'Another' })
    expect(await listed(store)).toMatchObject({ title: 'Another' })
  })

  it('is written to by one op, over what was read last, until others let it be', async () => {
    const { store, written } = ending(
      { status: 'conflict', version: 'a' },
      { status: 'conflict', version: 'b' },
      { status: 'accepted', seq: 3, applied: true },
    )
    await addSession(store, host, 'one')
    expect(written.map(({ envelope }) => envelope.base)).toEqual(['version-0', 'version-1', 'version-2'])
    expect(new Set(written.map(({ envelope }) => envelope.opId)).size).toBe(1)
  })

  it('is given up after eight writes that lost to others', async () => {
    const { store, written } = ending({ status: 'conflict', version: 'a' })
    expect(await failureOf(store)).toMatchObject({
      code: 'ERR_CONFLICT',
      message: 'sessions: session/one was changed by others again and again',
      id: KEY,
      version: 'a',
    })
    expect(written).toHaveLength(8)
  })

  it('refuses a session that was deleted for ever', async () => {
    const { store, written } = ending({ status: 'rejected', reason: 'deleted' })
    expect(await failureOf(store)).toMatchObject({
      code: 'ERR_NOT_FOUND',
      message: 'sessions: session/one was deleted',
      id: KEY,
    })
    expect(written).toHaveLength(1)
  })

  it('does not write over a session that nobody can read', async () => {
    const { store, written } = ending({ status: 'accepted', seq: 1, applied: true })
    const register = async () => ({ key: KEY, version: 'a', seq: 1, body: null, unreadable: true as const })
    expect(await failureOf({ ...store, register })).toMatchObject({
      code: 'ERR_DECRYPT',
      message: 'register: session/one cannot be decrypted',
      id: KEY,
    })
    expect(written).toHaveLength(0)
  })
})

describe('a session that is deleted while it is open', () => {
  it('is listed again by what is said next, whatever was read in between', async () => {
    const ada = { userId: 'ada' }
    for (const reads of [async () => {}, (session: Session) => session.context(), readHistory]) {
      const memory = createMemory({ store: mapStore(), budget: 1_000 })
      const session = memory.session({ ...ada, sessionId: 'home' })
      await session.append({ role: 'user', content: 'Hi.' })
      await session.context()
      await deleteSession(memory, ada, 'home')
      await reads(session)
      await session.append({ role: 'user', content: 'Hi again.' })
      expect(await listSessions(memory, ada)).toMatchObject([{ sessionId: 'home' }])
    }
  })
})

function readHistory(session: Session): Promise<unknown> {
  return session.history()
}
