import { copyFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { checkPushed, createMemory, mapStore, type Scope, type Store } from '../../../src/index.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import { PlimsollError } from '../../../src/ports/errors.ts'
import { homeStore, type SyncServerOptions, syncServer } from '../../../src/sync/index.ts'
import { decodePullAnswers, decodePushAnswers, encodePull, encodePush } from '../../../src/sync/wire.ts'
import { describeSync } from '../../contract/index.ts'
import { SqliteFiles } from '../support/sqlite-files.ts'

const authenticate: SyncServerOptions['authenticate'] = async ({ headers }) => {
  const userId = headers.get('User')
  return userId === null ? undefined : { userId }
}
const authorize = (user: string) => ({ User: user })

describeSync('over a map', () => ({ fetch: syncServer({ store: mapStore(), authenticate }), authorize }))

describeSync('that checks what it is pushed', () => {
  const store = mapStore()
  const memory = createMemory({ store: homeStore(store), budget: 1_000 })
  const check: SyncServerOptions['check'] = (scope, ops) => checkPushed(memory, scope, ops)
  return { fetch: syncServer({ store, authenticate, check }), authorize }
})

const files = new SqliteFiles()
afterAll(() => files.remove())

describeSync('over SQLite', () => {
  const path = files.newPath()
  let store = files.open(path)
  const serve = (store: Store) => syncServer({ store, authenticate })
  let answer = serve(store)
  const replace = async (from: string, to: string) => {
    await store.close()
    copyFileSync(from, to)
    store = files.open(path)
    answer = serve(store)
  }
  return {
    fetch: (request) => answer(request),
    authorize,
    save: async () => {
      const backup = files.newPath()
      await replace(path, backup)
      return () => replace(backup, path)
    },
  }
})

function send(
  answer: (request: Request) => Promise<Response>,
  call: string,
  body: string,
  init: RequestInit = {},
) {
  const headers = { User: 'ada', 'Content-Type': 'application/json', ...(init.headers as object) }
  return answer(
    new Request(`https://home.example/v1/sync/${call}`, { method: 'POST', body, ...init, headers }),
  )
}

const say = (id: string) => {
  const message = { id, role: 'user', content: 'Hello', createdAt: 1, trust: 'user' } as const
  return sealOp({ kind: 'append', opId: `entry:${id}`, round: id, messages: [message] })
}
const push = (...sessions: readonly string[]) =>
  encodePush(sessions.map((sessionId) => ({ sessionId, generation: '', ops: [say('m1')] })))

describe('a sync server', () => {
  it('answers the other scopes where one fails, and hides why', async () => {
    const store = mapStore()
    const errors: unknown[] = []
    const failing: Store = {
      open: (scope) => {
        if (scope.sessionId === 'b') throw new Error('the disk /dev/sda is on fire')
        if (scope.sessionId === 'c')
          throw new PlimsollError('ERR_RATE_LIMIT', 'push: too often', { retryAfter: 7 })
        return store.open(scope)
      },
      oldestUnused: () => store.oldestUnused(),
      removeUnused: (until) => store.removeUnused(until),
      scopes: (after) => store.scopes(after),
    }
    const answer = syncServer({ store: failing, authenticate, onError: (error) => errors.push(error) })
    const text = await (await send(answer, 'push', push('a', 'b', 'c', 'd'))).text()
    expect(text).not.toContain('/dev/sda')
    expect([...decodePushAnswers(text)]).toMatchObject([
      { results: [{ seq: 1 }] },
      { error: { code: 'ERR_INTERNAL' } },
      { error: { code: 'ERR_RATE_LIMIT', retryAfter: 7 } },
      { results: [{ seq: 1 }] },
    ])
    expect(errors).toEqual([expect.objectContaining({ message: 'the disk /dev/sda is on fire' })])
    const pull = encodePull(['a', 'b'].map((sessionId) => ({ sessionId, cursor: 0, anchor: '' })))
    expect([...decodePullAnswers(await (await send(answer, 'pull', pull)).text())]).toMatchObject([
      { head: 1 },
      { error: { code: 'ERR_INTERNAL' } },
    ])
  })

  it('tells in all no more than it may of where logs begin', async () => {
    const store = mapStore()
    const answer = syncServer({ store, authenticate })
    const sessions = ['a', 'b', 'c']
    for (const sessionId of sessions) {
      const value = 'x'.repeat(500_000)
      const op = sealOp({ kind: 'put', opId: 'o', key: 'fact/1', base: null, value })
      await send(answer, 'push', encodePush([{ sessionId, generation: '', ops: [say('m1'), op] }]))
    }
    const asked = sessions.map((sessionId) => ({ sessionId, cursor: 0, anchor: '', start: 2 }))
    const text = await (await send(answer, 'pull', encodePull(asked))).text()
    expect(text.length).toBeLessThan(900_000)
    expect([...decodePullAnswers(text)]).toMatchObject([
      { from: 2, cursor: 2, start: { registers: [{ key: 'fact/1' }] } },
      { from: 0, cursor: 1, head: 2 },
      { from: 0, cursor: 1, head: 2 },
    ])
  })

  it('tells its time with each answer', async () => {
    let now = 1_790_000_000_000
    const answer = syncServer({ store: mapStore(), authenticate, now: () => now++ })
    const pull = encodePull([{ sessionId: 'a', cursor: 0, anchor: '' }])
    expect(decodePushAnswers(await (await send(answer, 'push', push('a'))).text()).time).toBe(now - 1)
    expect(decodePullAnswers(await (await send(answer, 'pull', pull)).text()).time).toBe(now - 1)
    expect(now).toBe(1_790_000_000_002)
  })

  it('tells of scopes that were written, and of no others', async () => {
    const changed: Scope[] = []
    const answer = syncServer({
      store: mapStore(),
      authenticate: async () => ({ tenant: 'acme', userId: 'ada' }),
      onChange: (scope) => changed.push(scope),
    })
    await send(answer, 'push', push('a', 'b'))
    await send(answer, 'push', push('a'))
    await send(answer, 'pull', encodePull([{ sessionId: 'a', cursor: 0, anchor: '' }]))
    expect(changed).toEqual([
      { tenant: 'acme', userId: 'ada', sessionId: 'a' },
      { tenant: 'acme', userId: 'ada', sessionId: 'b' },
    ])
  })

  it.each([
    ['another route', 404, () => new Request('https://home.example/v1/other')],
    ['another method', 405, () => new Request('https://home.example/v1/sync/push')],
  ])('refuses %s', async (_, status, request) => {
    const response = await syncServer({ store: mapStore(), authenticate })(request())
    expect(response.status).toBe(status)
  })

  it.each<[string, number, RequestInit]>([
    ['another type', 415, { headers: { 'Content-Type': 'text/plain' } }],
    ['an encoding', 415, { headers: { 'Content-Encoding': 'gzip' } }],
    ['what is not UTF-8', 400, { body: Uint8Array.from(push('é'), (unit) => unit.charCodeAt(0)) }],
    ['what is too long', 413, { body: 'x'.repeat(2_000) }],
  ])('refuses a body: %s', async (_, status, init) => {
    const answer = syncServer({ store: mapStore(), authenticate, maxBytes: 1_000 })
    expect((await send(answer, 'push', '', init)).status).toBe(status)
  })

  it('is asked under any path that ends with a call', async () => {
    const answer = syncServer({ store: mapStore(), authenticate })
    const request = new Request('https://home.example/memory/v1/sync/push', {
      method: 'POST',
      headers: { User: 'ada', 'Content-Type': 'application/json' },
      body: push('a'),
    })
    expect((await answer(request)).status).toBe(200)
  })

  it('answers what authentication throws with its code', async () => {
    const refusal = new PlimsollError('ERR_FORBIDDEN', 'the request: not from here')
    const answer = syncServer({ store: mapStore(), authenticate: () => Promise.reject(refusal) })
    expect((await send(answer, 'push', push('a'))).status).toBe(403)
  })

  it('does not take options that it does not know', () => {
    expect(() => syncServer({ store: mapStore(), authenticate, onchange: () => {} } as never)).toThrow(
      'onchange',
    )
  })

  it('is pulled from what the app writes beside it', async () => {
    const store = mapStore()
    const memory = createMemory({ store: homeStore(store), budget: 1_000 })
    await memory.session({ userId: 'ada', sessionId: 'a' }).append({ role: 'user', content: 'From the app' })
    const answer = syncServer({ store, authenticate })
    const text = await (
      await send(answer, 'pull', encodePull([{ sessionId: 'a', cursor: 0, anchor: '' }]))
    ).text()
    expect(text).toContain('From the app')
  })
})
