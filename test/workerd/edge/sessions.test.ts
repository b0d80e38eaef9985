import { env, evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { objectName } from '../../../src/edge/objects/object-name.ts'
import type { Context, ContextAt, MessageInput } from '../../../src/index.ts'
import { mapStore } from '../../../src/index.ts'
import { fromWire, toWire } from '../../../src/ports/wire.ts'
import { englishStemmer } from '../../../src/stemmer.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { Caller } from './caller.ts'

const said = (id: string, content: string, role: 'user' | 'assistant' = 'user'): MessageInput => ({
  id,
  role,
  content,
  createdAt: 0,
})

/** A user's new session, and how to call it. */
async function opened() {
  const caller = new Caller()
  const session = await caller.session()
  const object = () => env.SESSIONS.getByName(objectName({ ...caller.user, sessionId: session }))
  const post = (path: string, body: unknown, headers?: Record<string, string>) =>
    caller.call('POST', `/v1/sessions/${session}/${path}`, toWire(body), headers)
  const contextOf = async (body: unknown = {}): Promise<Context> =>
    fromWire((await post('context', body)).body) as Context
  return { caller, session, object, post, contextOf }
}

describe('a session at the edge', () => {
  it('stores messages and builds the context that a memory of the same settings builds anywhere', async () => {
    const { caller, session, post, contextOf } = await opened()
    const messages = [said('m1', 'Hi.'), said('m2', 'Hello.', 'assistant'), said('m3', 'Two seats to Turin.')]
    expect((await post('messages', { messages })).status).toBe(200)
    const context = await contextOf({ tail: 'It is Monday.' })
    // Hashes are keyed by a secret of the session, which an export has.
    const lines = await (await caller.fetch('GET', '/v1/me/export')).text()
    const secret = /"key":"secret".*"value":"([0-9a-f]{64})"/.exec(lines)?.[1] ?? ''
    expect(JSON.stringify(context)).not.toContain(secret)
    const local = fullMemory({
      store: mapStore(),
      newSecret: () => secret,
      budget: 16_000,
      compaction: {},
      extraction: {},
      recall: { stemmer: englishStemmer },
    }).session({ ...caller.user, sessionId: session })
    await local.append(messages)
    const expected = await local.context({ tail: 'It is Monday.' })
    expect(context.hash).toBe(expected.hash)
    expect(context.blocks).toEqual(expected.blocks)
    expect(context.receipt).toEqual(expected.receipt)
  })

  it('rebuilds what a past call was given, byte for byte, with its tools', async () => {
    const { caller, session, post, contextOf } = await opened()
    const tools = [{ name: 'seats', description: 'Finds seats.', inputSchema: { type: 'object' } }]
    const sent = await contextOf({ messages: [said('m1', 'Two seats to Turin.')], tools })
    await post('messages', { messages: [said('m2', 'Which day?', 'assistant'), said('m3', 'Monday.')] })
    await contextOf({ tools })
    const answered = await caller.call('GET', `/v1/sessions/${session}/context/m1`)
    expect(answered.status).toBe(200)
    const { context, verified } = fromWire(answered.body) as ContextAt
    expect(verified).toBe(true)
    expect(context.hash).toBe(sent.hash)
    expect(context.blocks).toEqual(sent.blocks)
    expect(context.tools).toEqual(tools)
    expect((await caller.call('GET', `/v1/sessions/${session}/context/nowhere`)).status).toBe(404)
  })

  it('rebuilds a past tail too, with what was remembered since the epoch began', async () => {
    const { caller, session, post, contextOf } = await opened()
    await contextOf({ messages: [said('m1', 'I prefer window seats.')] })
    await post('messages', { messages: [said('a1', 'Noted.', 'assistant')] })
    await post('facts', { kind: 'preference', text: 'Prefers window seats' })
    const sent = await contextOf({ messages: [said('m2', 'Book one.')] })
    await post('messages', { messages: [said('a2', 'Booked.', 'assistant')] })
    const answered = await caller.call('GET', `/v1/sessions/${session}/context/m2`)
    const { context, verified, tail } = fromWire(answered.body) as ContextAt
    expect({ verified, tail, hash: context.hash }).toEqual({ verified: true, tail: 'whole', hash: sent.hash })
    expect(JSON.stringify(context.blocks.at(-1))).toContain('Prefers window seats')
  })

  it('appends and answers with a context in one call', async () => {
    const { contextOf } = await opened()
    const context = await contextOf({ messages: [said('m1', 'Hi.')] })
    expect(context.blocks.map(({ from }) => from)).toEqual([['m1']])
  })

  it('answers what is sent again under the same key as the first time, and repeats nothing', async () => {
    const { post, contextOf } = await opened()
    const headers = { 'Idempotency-Key': 'op-1' }
    const hi = { messages: [{ role: 'user', content: 'Hi.' }] }
    const once = await post('messages', hi, headers)
    const again = await post('messages', hi, headers)
    expect(again).toMatchObject({ status: 200, body: once.body })
    expect((await contextOf()).blocks.length).toBe(1)
  })

  it('answers the same after its object was evicted between every two calls (T6)', async () => {
    const { caller, session, object } = await opened()
    const other = await opened()
    const calls: [string, string, unknown?][] = [
      ['POST', 'messages', { messages: [{ id: 'm1', role: 'user', content: 'Two seats to Turin.' }] }],
      ['POST', 'context', {}],
      ['POST', 'facts', { kind: 'preference', text: 'Window seats.', id: 'f1', created_at: 0 }],
      ['POST', 'context', { tail: 'It is Monday.' }],
      ['GET', 'facts'],
      ['PUT', 'checkpoint', { value: { step: 1 } }],
      ['GET', 'start?query=Turin'],
      ['GET', 'messages'],
      ['GET', 'explain'],
    ]
    for (const [method, path, body] of calls) {
      const here = await caller.call(method, `/v1/sessions/${session}/${path}`, body)
      const there = await other.caller.call(method, `/v1/sessions/${other.session}/${path}`, body)
      expect(here.status).toBe(200)
      expect(Object.keys(here.body)).toEqual(Object.keys(there.body))
      if (path === 'facts') expect(here.body).toEqual(there.body)
      // Etags are keyed by each session's secret, and counted.
      if (path.startsWith('start')) {
        const keyed = { etag: '', budget: {} }
        expect({ ...here.body, ...keyed }).toEqual({ ...there.body, ...keyed })
        await evictDurableObject(object())
        const again = await caller.call(method, `/v1/sessions/${session}/${path}`)
        expect(again.body).toEqual(here.body)
      }
      await evictDurableObject(object())
    }
    const before = await caller.call('POST', `/v1/sessions/${session}/context`, {})
    await evictDurableObject(object())
    expect((await caller.call('POST', `/v1/sessions/${session}/context`, {})).body).toEqual(before.body)
  })

  it('keeps every message of 64 writers once, each writer’s in its order (T4)', async () => {
    const { caller, session, object } = await opened()
    const [writers, each] = [64, 4]
    await Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        for (let n = 0; n < each; n++) {
          const id = `w${writer}-${n}`
          const { status } = await caller.call('POST', `/v1/sessions/${session}/messages`, {
            messages: [{ id, role: 'user', content: id }],
          })
          expect(status).toBe(200)
        }
      }),
    )
    const rows = await runInDurableObject(object(), (_, { storage }) =>
      storage.sql.exec(`SELECT id, seq FROM plimsoll_log WHERE kind = 'message' ORDER BY n`).toArray(),
    )
    const ids = rows.map(({ id }) => id as string)
    expect(new Set(ids).size).toBe(writers * each)
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1))
    for (let writer = 0; writer < writers; writer++)
      expect(ids.filter((id) => id.startsWith(`w${writer}-`))).toEqual(
        Array.from({ length: each }, (_, n) => `w${writer}-${n}`),
      )
  })

  it('writes one row for an op that is sent 1 000 times at once, and refuses another body (T5)', async () => {
    const { caller, session } = await opened()
    const path = `/v1/sessions/${session}/messages`
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        caller.call(
          'POST',
          path,
          { messages: [{ id: 'm1', role: 'user', content: index % 2 ? 'Yes.' : 'No.' }] },
          { 'Idempotency-Key': 'op-1' },
        ),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]))
    const accepted = answers.filter(({ status }) => status === 200)
    expect(accepted).toHaveLength(500)
    for (const { body } of accepted) expect(body).toEqual(accepted[0]?.body)
    const { body } = await caller.call<{ messages: { content: string }[] }>('GET', path)
    expect(body.messages).toHaveLength(1)
    expect(body.messages).toEqual(accepted[0]?.body.messages)
  })

  it('answers bad input with its code and a status, and writes nothing', async () => {
    const { caller, session, post } = await opened()
    expect(await caller.call('POST', `/v1/sessions/${session}/messages`, 'no JSON')).toMatchObject({
      status: 400,
      body: { code: 'ERR_INVALID_ARGUMENT' },
    })
    expect(await post('messages', { messages: [{ role: 'robot', content: 'Hi.' }] })).toMatchObject({
      status: 400,
      body: { code: 'ERR_INVALID_ARGUMENT', argument: expect.stringContaining('messages') },
    })
    expect(await post('messages', { messages: [said('m1', 'x'.repeat(2 ** 20))] })).toMatchObject({
      status: 413,
    })
    await post('messages', {
      messages: [
        said('m1', 'Look it up.'),
        { id: 'm2', role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'find', input: {} }] },
      ],
    })
    expect(await post('context', {})).toMatchObject({
      status: 409,
      body: { code: 'ERR_TOOL_PENDING', pending: [{ entry: 'm2', call_id: 'c', name: 'find' }] },
    })
  })

  it('does not blame the request where what is stored cannot be read', async () => {
    const { object, post } = await opened()
    await post('messages', { messages: [said('m1', 'Hi.')] })
    await runInDurableObject(object(), (_, { storage }) =>
      storage.sql.exec(`UPDATE plimsoll_log SET body = '{' WHERE kind = 'message'`),
    )
    await evictDurableObject(object())
    const failed = { status: 500, body: { code: 'ERR_STORAGE' } }
    expect(await post('context', {})).toMatchObject(failed)
    await runInDurableObject(object(), (_, { storage }) => storage.sql.exec(`DROP TABLE plimsoll_log`))
    expect(await post('context', {})).toMatchObject(failed)
  })

  it('is listed, titled, deleted, and made again under the same name with nothing of what it was', async () => {
    const { caller, session, post } = await opened()
    await post('messages', { messages: [said('m1', 'Hi.')] })
    const titled = await caller.call('PATCH', `/v1/sessions/${session}`, { title: 'Turin' })
    expect(titled.body).toMatchObject({ session_id: session, title: 'Turin' })
    expect((await caller.call('GET', '/v1/sessions')).body).toEqual({ sessions: [titled.body] })
    expect((await caller.call('DELETE', `/v1/sessions/${session}`)).status).toBe(200)
    expect((await caller.call('GET', '/v1/sessions')).body).toEqual({ sessions: [] })
    expect((await caller.call('GET', `/v1/sessions/${session}/messages`)).status).toBe(404)
    await caller.call('POST', '/v1/sessions', { session_id: session })
    expect((await caller.call('GET', `/v1/sessions/${session}/messages`)).body).toEqual({ messages: [] })
  })
})
