import { env, evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { exports } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import type { Context, MessageInput } from '../../src/index.ts'
import { createMemory, mapStore } from '../../src/index.ts'

let sessions = 0
const newSession = (): string => `session-${++sessions}-${crypto.randomUUID()}`

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await exports.default.fetch(
    new Request(`https://plimsoll.test/v1/sessions/${path}`, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  )
  return { status: response.status, body: (await response.json()) as never }
}

const said = (id: string, content: string, role: 'user' | 'assistant' = 'user'): MessageInput => ({
  id,
  role,
  content,
  createdAt: 0,
})

describe('a session at the edge', () => {
  it('stores messages and builds the context that a memory of the same settings builds anywhere', async () => {
    const session = newSession()
    const messages = [said('m1', 'Hi.'), said('m2', 'Hello.', 'assistant'), said('m3', 'Two seats to Turin.')]
    expect((await post(`${session}/messages`, messages)).status).toBe(200)
    const { body } = await post(`${session}/context`, { tail: 'It is Monday.' })
    const context: Context = body
    const local = createMemory({ store: mapStore(), budget: 16_000 }).session({
      userId: 'local',
      sessionId: session,
    })
    await local.append(messages)
    const expected = await local.context({ tail: 'It is Monday.' })
    expect(context.hash).toBe(expected.hash)
    expect(context.blocks).toEqual(expected.blocks)
    expect(context.receipt).toEqual(expected.receipt)
  })

  it('appends and answers with a context in one call', async () => {
    const session = newSession()
    const first = await post(`${session}/context`, { messages: [said('m1', 'Hi.')] })
    const context: Context = first.body
    expect(context.blocks.map(({ from }) => from)).toEqual([['m1']])
  })

  it('repeats nothing that is sent again under the same key', async () => {
    const session = newSession()
    const headers = { 'Idempotency-Key': 'op-1' }
    const once = await post(`${session}/messages`, { role: 'user', content: 'Hi.' }, headers)
    const again = await post(`${session}/messages`, { role: 'user', content: 'Hi.' }, headers)
    expect(again.body).toMatchObject({ repeated: true, messages: (once.body as { messages: [] }).messages })
    const { body } = await post(`${session}/context`, {})
    expect((body as Context).blocks.length).toBe(1)
  })

  it('has everything after its object was evicted', async () => {
    const session = newSession()
    await post(`${session}/messages`, said('m1', 'Hi.'))
    const before = await post(`${session}/context`, {})
    await evictDurableObject(env.SESSIONS.getByName(session))
    expect((await post(`${session}/context`, {})).body).toEqual(before.body)
  })

  it('shares nothing with another', async () => {
    const [one, other] = [newSession(), newSession()]
    await post(`${one}/messages`, said('m1', 'Hi.'))
    const { body } = await post(`${other}/context`, {})
    expect((body as Context).blocks.map(({ rule }) => rule)).toEqual(['continue'])
  })

  it('answers bad input with its code and a status, and writes nothing', async () => {
    const session = newSession()
    expect(await post(`${session}/messages`, 'no JSON')).toMatchObject({
      status: 400,
      body: { code: 'ERR_INVALID_ARGUMENT' },
    })
    expect(await post(`${session}/messages`, { role: 'robot', content: 'Hi.' })).toMatchObject({
      status: 400,
      body: { code: 'ERR_INVALID_ARGUMENT', message: expect.stringContaining('role') },
    })
    expect(await post(`${session}/messages`, said('m1', 'x'.repeat(2 ** 20)))).toMatchObject({ status: 413 })
    await post(`${session}/messages`, [
      said('m1', 'Look it up.'),
      { id: 'm2', role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'find', input: {} }] },
    ])
    expect(await post(`${session}/context`, {})).toMatchObject({
      status: 409,
      body: { code: 'ERR_TOOL_PENDING' },
    })
  })

  it('does not blame the request where what is stored cannot be read', async () => {
    const session = newSession()
    await post(`${session}/messages`, said('m1', 'Hi.'))
    const object = env.SESSIONS.getByName(session)
    await runInDurableObject(object, (_, { storage }) =>
      storage.sql.exec(`UPDATE plimsoll_log SET body = '{' WHERE kind = 'message'`),
    )
    await evictDurableObject(object)
    const failed = { status: 500, body: { code: 'ERR_STORAGE' } }
    expect(await post(`${session}/context`, {})).toMatchObject(failed)
    await runInDurableObject(object, (_, { storage }) => storage.sql.exec(`DROP TABLE plimsoll_log`))
    expect(await post(`${session}/context`, {})).toMatchObject(failed)
  })
})
