import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import { objectName } from '../../../src/edge/objects/object-name.ts'
import { SessionLife } from '../../../src/edge/objects/session-life.ts'
import { KEEP_ANSWER_MS } from '../../../src/edge/rows/answers.ts'
import { webHost } from '../../../src/platform/web.ts'
import { PlimsollError } from '../../../src/ports/errors.ts'
import { Caller } from './caller.ts'
import { useDemoModel } from './changed-settings.ts'
import { encryption } from './opened.ts'
import { sessionObject, userObject } from './rows.ts'

type Body = Record<string, unknown>

/** Calls of one user over one session, each under a key. */
async function opened() {
  const caller = new Caller()
  const session = await caller.session()
  const at = `/v1/sessions/${session}`
  const keyed = (
    method: string,
    path: string,
    body: unknown,
    key: string,
    more: Record<string, string> = {},
  ) => caller.call<Body>(method, path, body, { 'Idempotency-Key': key, ...more })
  const text = async (method: string, path: string, body: unknown, key: string) => {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key }
    const response = await caller.fetch(method, path, { headers, body: JSON.stringify(body) })
    return [response.status, response.headers.get('ETag'), await response.text()] as const
  }
  const messages = async () =>
    (await caller.call<{ messages: { content: unknown }[] }>('GET', `${at}/messages`)).body.messages
  return { caller, session, at, keyed, text, messages }
}

const CONFLICT = { status: 409, body: { code: 'ERR_CONFLICT' } }

/** Routes that take a key, with a body and another one. */
const WRITES: readonly (readonly [
  name: string,
  method: string,
  path: string,
  first: unknown,
  second: unknown,
])[] = [
  [
    'an append',
    'POST',
    '{at}/messages',
    { messages: [{ role: 'user', content: 'A' }] },
    { messages: [{ role: 'user', content: 'B' }] },
  ],
  [
    'a context',
    'POST',
    '{at}/context',
    { messages: [{ role: 'user', content: 'A' }] },
    { messages: [{ role: 'user', content: 'B' }] },
  ],
  [
    'a commit',
    'POST',
    '{at}/commit',
    { messages: [{ role: 'user', content: 'A' }], checkpoint: 'A' },
    { messages: [{ role: 'user', content: 'A' }], checkpoint: 'B' },
  ],
  ['a checkpoint', 'PUT', '{at}/checkpoint', { value: 'A' }, { value: 'B' }],
  [
    'a fact of a session',
    'POST',
    '{at}/facts',
    { kind: 'finding', text: 'A' },
    { kind: 'finding', text: 'B' },
  ],
  [
    'a fact of a user',
    'POST',
    '/v1/me/facts',
    { kind: 'preference', text: 'A' },
    { kind: 'preference', text: 'B' },
  ],
  ['a document', 'PUT', '/v1/me/profile/about', { text: 'A' }, { text: 'B' }],
  [
    'a skill',
    'PUT',
    '/v1/me/skills/booking',
    { description: 'A', text: 'A' },
    { description: 'A', text: 'B' },
  ],
  ['a title', 'PATCH', '{at}', { title: 'A' }, { title: 'B' }],
  ['a compaction', 'POST', '{at}/compact', {}, { new_epoch: true }],
  [
    'a new session',
    'POST',
    '/v1/sessions',
    { session_id: 'named', title: 'A' },
    { session_id: 'named', title: 'B' },
  ],
]

describe('an Idempotency-Key', () => {
  it.each(WRITES)(
    'of %s gives the first answer again, byte by byte, and another body is a conflict',
    async (_, method, path, first, second) => {
      const { at, text, keyed } = await opened()
      const to = path.replace('{at}', at)
      const answered = await text(method, to, first, 'k')
      expect(answered[0]).toBeLessThan(300)
      expect(await text(method, to, first, 'k')).toEqual(answered)
      expect(await keyed(method, to, second, 'k')).toMatchObject(CONFLICT)
      // The first one stands, and another key is another request.
      expect(await text(method, to, first, 'k')).toEqual(answered)
      expect((await keyed(method, to, second, 'another')).status).toBeLessThan(300)
    },
  )

  it('of a session without an id is no part of its id, which a repeat finds', async () => {
    const { caller, keyed, text } = await opened()
    const made = await text('POST', '/v1/sessions', { title: 'A' }, 'mail of ada@example.org')
    const { session_id: id } = JSON.parse(made[2]) as { session_id: string }
    expect(made[0]).toBe(201)
    expect(id).toMatch(/^[\w-]{32,64}$/)
    expect(await text('POST', '/v1/sessions', { title: 'A' }, 'mail of ada@example.org')).toEqual(made)
    expect(await keyed('POST', '/v1/sessions', { title: 'B' }, 'mail of ada@example.org')).toMatchObject(
      CONFLICT,
    )
    const sessions = async () =>
      (await caller.call<{ sessions: Body[] }>('GET', '/v1/sessions')).body.sessions.map(
        ({ session_id }) => session_id,
      )
    expect(await sessions()).toContain(id)
    expect(await sessions()).toHaveLength(2)
    // Nobody else's key of that name makes one of that id.
    const other = await new Caller().call<Body>(
      'POST',
      '/v1/sessions',
      { title: 'A' },
      {
        'Idempotency-Key': 'mail of ada@example.org',
      },
    )
    expect(other.body.session_id).not.toBe(id)
    // Whose answer is forgotten finds it too.
    await caller.call('POST', '/v1/me/facts', { kind: 'preference', text: 'A', id: 'f' })
    await caller.call('DELETE', `/v1/sessions/${id}/facts/f`)
    const again = await keyed('POST', '/v1/sessions', { title: 'A' }, 'mail of ada@example.org')
    expect([again.status, again.body.session_id]).toEqual([200, id])
    expect(await sessions()).toHaveLength(2)
  })

  it('of a session that was refused is free', async () => {
    const { keyed } = await opened()
    const create = vi.spyOn(SessionLife.prototype, 'make').mockImplementationOnce(async () => {
      throw new PlimsollError('ERR_RATE_LIMIT', 'no more sessions')
    })
    expect((await keyed('POST', '/v1/sessions', { title: 'A' }, 'k')).status).toBe(429)
    create.mockRestore()
    expect((await keyed('POST', '/v1/sessions', { title: 'B' }, 'k')).status).toBe(201)
  })

  it('stands for a method and a route too', async () => {
    const { at, keyed, messages } = await opened()
    const hi = { messages: [{ role: 'user', content: 'Hi.' }] }
    expect((await keyed('POST', `${at}/messages`, hi, 'k')).status).toBe(200)
    expect(await keyed('POST', `${at}/context`, hi, 'k')).toMatchObject(CONFLICT)
    expect(await keyed('PUT', `${at}/checkpoint`, { value: 1 }, 'k')).toMatchObject(CONFLICT)
    expect(await keyed('DELETE', at, undefined, 'k')).toMatchObject(CONFLICT)
    expect(await messages()).toHaveLength(1)
    expect((await keyed('PUT', '/v1/me/profile/a', { text: 'A' }, 'k')).status).toBe(200)
    expect(await keyed('PUT', '/v1/me/profile/b', { text: 'A' }, 'k')).toMatchObject(CONFLICT)
    expect(await keyed('DELETE', '/v1/me/profile/a', undefined, 'k')).toMatchObject(CONFLICT)
    expect(await keyed('DELETE', '/v1/me', undefined, 'k')).toMatchObject(CONFLICT)
  })

  it('of a delete is for what it deleted: a document that came back is not taken away by a repeat', async () => {
    const { caller, keyed } = await opened()
    const at = '/v1/me/profile/about'
    await caller.call('PUT', at, { text: 'A' })
    expect((await keyed('DELETE', at, undefined, 'k')).status).toBe(204)
    await caller.call('PUT', at, { text: 'B' })
    expect((await keyed('DELETE', at, undefined, 'k')).status).toBe(204)
    expect((await caller.call('GET', at)).body).toMatchObject({ text: 'B' })
    expect((await keyed('DELETE', at, undefined, 'k2')).status).toBe(204)
    expect((await caller.call('GET', at)).status).toBe(404)
  })

  it('of a context without messages is for one that is read again, and keeps nothing', async () => {
    const { caller, session, at, keyed } = await opened()
    const shown = async () => JSON.stringify((await keyed('POST', `${at}/context`, {}, 'k')).body.blocks)
    await shown()
    await caller.call('POST', `${at}/messages`, { messages: [{ role: 'user', content: 'Said since.' }] })
    expect(await shown()).toContain('Said since.')
    const tables = await runInDurableObject(sessionObject(caller.user, session), (_, { storage: { sql } }) =>
      sql.exec(`SELECT name FROM sqlite_master WHERE name LIKE 'plimsoll_edge_answer%'`).toArray(),
    )
    expect(tables).toEqual([])
    await keyed('POST', `${at}/messages`, { messages: [{ role: 'user', content: 'Bye.' }] }, 'used')
    expect(await keyed('POST', `${at}/context`, {}, 'used')).toMatchObject(CONFLICT)
  })

  it('does a change of a fact once, which has no op of its own', async () => {
    const { caller, at, keyed } = await opened()
    const { body } = await caller.call<{ fact: { id: string } }>('POST', `${at}/facts`, {
      kind: 'finding',
      text: 'A',
    })
    const path = `${at}/facts/${body.fact.id}`
    const once = await keyed('PATCH', path, { review: 'good' }, 'k')
    expect(once.status).toBe(200)
    expect((await keyed('PATCH', path, { review: 'good' }, 'k')).body).toEqual(once.body)
    expect((await keyed('PATCH', path, { review: 'good' }, 'k2')).body).not.toEqual(once.body)
    expect(await keyed('PATCH', path, { review: 'easy' }, 'k')).toMatchObject(CONFLICT)
  })

  it('runs one of two that come at once', async () => {
    const { at, text, keyed, messages } = await opened()
    const hi = { messages: [{ role: 'user', content: 'Hi.' }] }
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => text('POST', `${at}/messages`, hi, 'k')),
    )
    expect(new Set(answers.map(String)).size).toBe(1)
    expect(await messages()).toHaveLength(1)
    const both = await Promise.all([
      keyed('PUT', '/v1/me/profile/about', { text: 'A' }, 'k'),
      keyed('PUT', '/v1/me/profile/about', { text: 'B' }, 'k'),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  it('of what was refused is free: nothing was written', async () => {
    const { at, keyed, messages } = await opened()
    expect(
      (await keyed('POST', `${at}/messages`, { messages: [{ role: 'user', content: 'x', id: '' }] }, 'k'))
        .status,
    ).toBe(400)
    expect((await keyed('POST', `${at}/rewind`, { message: 'nowhere' }, 'k')).status).toBe(404)
    expect(
      (await keyed('POST', `${at}/messages`, { messages: [{ role: 'user', content: 'x' }] }, 'k')).status,
    ).toBe(200)
    expect(await messages()).toHaveLength(1)
  })

  it('of a context that is refused after its messages were written stands for them', async () => {
    const { at, keyed, messages } = await opened()
    const asked = {
      messages: [
        { role: 'user', content: 'Look it up.' },
        { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'find', input: {} }] },
      ],
    }
    const pending = { status: 409, body: { code: 'ERR_TOOL_PENDING' } }
    expect(await keyed('POST', `${at}/context`, asked, 'k')).toMatchObject(pending)
    expect(await keyed('POST', `${at}/context`, { messages: asked.messages.slice(0, 1) }, 'k')).toMatchObject(
      CONFLICT,
    )
    expect(await keyed('POST', `${at}/context`, asked, 'k')).toMatchObject(pending)
    expect(await messages()).toHaveLength(2)
  })

  it('holds after the object was evicted, and where its answer is too long to keep', async () => {
    const { caller, session, at, text, keyed, messages } = await opened()
    const long = { messages: [{ role: 'user', content: 'x'.repeat(70_000) }] }
    expect((await text('POST', `${at}/messages`, long, 'k'))[0]).toBe(200)
    await evictDurableObject(sessionObject(caller.user, session))
    const again = await text('POST', `${at}/messages`, long, 'k')
    expect([again[0], JSON.parse(again[2]).repeated]).toEqual([200, true])
    expect(
      await keyed('POST', `${at}/messages`, { messages: [{ role: 'user', content: 'y' }] }, 'k'),
    ).toMatchObject(CONFLICT)
    expect(await messages()).toHaveLength(1)
  })

  it('is kept for a day; after that the same is the same op, and another body is written', async () => {
    const { caller, session, at, keyed, messages } = await opened()
    const one = { messages: [{ role: 'user', content: 'One.' }] }
    await keyed('POST', `${at}/messages`, one, 'k')
    const stub = sessionObject(caller.user, session)
    const aDayLater = () =>
      runInDurableObject(stub, (_, { storage: { sql } }) => {
        sql.exec('UPDATE plimsoll_edge_answer SET at = at - ?', KEEP_ANSWER_MS)
        sql.exec(`UPDATE plimsoll_edge_work SET due = 1 WHERE kind = 'answers'`)
      })
    await aDayLater()
    expect((await keyed('POST', `${at}/messages`, one, 'k')).body).toMatchObject({ repeated: true })
    await aDayLater()
    await runDurableObjectAlarm(stub)
    const left = await runInDurableObject(stub, (_, { storage: { sql } }) =>
      sql.exec('SELECT * FROM plimsoll_edge_answer').toArray(),
    )
    expect(left).toEqual([])
    const two = { messages: [{ role: 'user', content: 'Two.' }] }
    expect((await keyed('POST', `${at}/messages`, two, 'k')).body).toMatchObject({ repeated: false })
    expect((await messages()).map(({ content }) => content)).toEqual(['One.', 'Two.'])
  })

  it('is stored as a hash, its request too, and its answer is sealed where there is a key', async () => {
    const { caller, session, at, keyed } = await opened()
    await keyed(
      'POST',
      `${at}/messages`,
      { messages: [{ role: 'user', content: 'a secret of Ada' }] },
      'the-key',
    )
    await keyed('PUT', '/v1/me/profile/about', { text: 'a secret of Ada' }, 'the-key')
    await keyed('POST', '/v1/me/facts', { kind: 'preference', text: 'a secret of Ada' }, 'another-key')
    for (const stub of [sessionObject(caller.user, session), userObject(caller.user)]) {
      const rows = await runInDurableObject(stub, (_, { storage: { sql } }) => ({
        answers: sql.exec('SELECT * FROM plimsoll_edge_answer').toArray(),
        keys: sql.exec('SELECT * FROM plimsoll_edge_answer_key').toArray(),
      }))
      expect(rows.answers.length).toBeGreaterThan(0)
      const text = JSON.stringify(rows)
      expect(text).not.toContain('the-key')
      expect(text.includes('a secret of Ada')).toBe(encryption === undefined)
      for (const { answer } of rows.answers)
        expect(String(answer).startsWith('{')).toBe(encryption === undefined)
    }
  })

  it('is answered from nothing once something was forgotten, there and with the user', async () => {
    const { caller, session, at, keyed } = await opened()
    await keyed(
      'POST',
      `${at}/messages`,
      { messages: [{ id: 'm1', role: 'user', content: 'Forget me.' }] },
      'k',
    )
    await keyed('POST', '/v1/me/facts', { kind: 'preference', text: 'Forget me.', id: 'f1' }, 'k')
    await caller.call('GET', `${at}/facts`)
    const certificate = await keyed('DELETE', `${at}/messages/m1`, undefined, 'f')
    expect(certificate.status).toBe(200)
    const kept = await runInDurableObject(sessionObject(caller.user, session), (_, { storage: { sql } }) =>
      sql.exec('SELECT answer FROM plimsoll_edge_answer').toArray(),
    )
    expect(kept).toHaveLength(1)
    await caller.call('DELETE', `${at}/facts/f1`)
    for (const stub of [sessionObject(caller.user, session), userObject(caller.user)]) {
      const answers = await runInDurableObject(stub, (_, { storage: { sql } }) =>
        JSON.stringify(sql.exec('SELECT * FROM plimsoll_edge_answer').toArray()),
      )
      expect(answers).not.toContain('Forget me.')
      expect(
        JSON.parse(answers).filter(({ answer }: { answer: unknown }) => answer !== null).length,
      ).toBeLessThan(2)
    }
  })

  it('is answered from nothing in a session that learns of what another one forgot', async () => {
    const { caller, session, at, keyed } = await opened()
    const other = `/v1/sessions/${await caller.session()}`
    const fact = { kind: 'preference', text: 'Forget me.', id: 'f1' }
    await keyed('POST', `${at}/facts`, fact, 'k')
    await caller.call('GET', `${other}/facts`)
    expect((await caller.call('DELETE', `${other}/facts/f1`)).status).toBeLessThan(300)
    await vi.waitFor(async () => {
      expect((await caller.call('GET', `${at}/facts`)).body).toEqual({ facts: [] })
    })
    const left = await runInDurableObject(sessionObject(caller.user, session), (_, { storage: { sql } }) =>
      sql.exec('SELECT * FROM plimsoll_edge_answer').toArray(),
    )
    expect(left).toEqual([])
  })

  it('of a new session is answered from nothing once that session was removed', async () => {
    const { caller, keyed } = await opened()
    const asked = { title: 'A secret of Ada', project: 'A secret of Ada' }
    const { body } = await keyed('POST', '/v1/sessions', asked, 'k')
    const kept = () =>
      runInDurableObject(userObject(caller.user), (_, { storage: { sql } }) =>
        sql.exec('SELECT * FROM plimsoll_edge_answer').toArray(),
      )
    expect(await kept()).toHaveLength(1)
    expect((await caller.call('DELETE', `/v1/sessions/${body.session_id}`)).status).toBe(200)
    expect(await kept()).toEqual([])
  })

  it('of a chat gives its stream again by the run, and another message is a conflict', async () => {
    await useDemoModel()
    const { caller, session, at, text, keyed, messages } = await opened()
    await evictDurableObject(sessionObject(caller.user, session))
    const said = { message: 'When does the train leave?' }
    const first = await text('POST', `${at}/chat`, said, 'k')
    expect(first[0]).toBe(200)
    expect(await text('POST', `${at}/chat`, said, 'k')).toEqual(first)
    expect(await keyed('POST', `${at}/chat`, { message: 'Another.' }, 'k')).toMatchObject(CONFLICT)
    expect(await keyed('PUT', `${at}/checkpoint`, { value: 1 }, 'k')).toMatchObject(CONFLICT)
    const now = vi.spyOn(webHost, 'now').mockImplementation(() => Date.now() + KEEP_ANSWER_MS - 60_000)
    try {
      expect(await text('POST', `${at}/chat`, said, 'k')).toEqual(first)
    } finally {
      now.mockRestore()
    }
    const count = (await messages()).length
    expect((await keyed('POST', `${at}/chat`, { trigger: 'x' }, 'free')).status).toBe(400)
    expect((await text('POST', `${at}/chat`, { message: 'Another.' }, 'free'))[0]).toBe(200)
    expect((await messages()).length).toBeGreaterThan(count)
  })

  it.each(['/v1/openai', '{at}/openai'])(
    'of a completion gives its reply again, and other words are a conflict: %s',
    async (door) => {
      await useDemoModel()
      const { caller, session, at, text } = await opened()
      await evictDurableObject(sessionObject(caller.user, session))
      const path = `${door.replace('{at}', at)}/chat/completions`
      const asked = (content: string) => ({ model: 'plimsoll', messages: [{ role: 'user', content }] })
      const [status, , reply] = await text('POST', path, asked('Hi.'), 'k')
      expect(status).toBe(200)
      const again = await text('POST', path, asked('Hi.'), 'k')
      expect(JSON.parse(again[2]).choices).toEqual(JSON.parse(reply).choices)
      const other = await text('POST', path, asked('Bye.'), 'k')
      expect([other[0], JSON.parse(other[2]).error.code]).toEqual([409, 'ERR_CONFLICT'])
      const name = objectName({ ...caller.user, sessionId: door.startsWith('{') ? session : 'default' })
      const rows = await runInDurableObject(env.SESSIONS.getByName(name), (_, { storage: { sql } }) =>
        sql.exec(`SELECT id FROM plimsoll_log WHERE kind = 'message'`).toArray(),
      )
      expect(rows).toHaveLength(2)
    },
  )

  it.each(['übung', '日本', 'a\tb', '\u0001', ''])(
    'outside of printable ASCII is refused: %j',
    async (key) => {
      const { at, messages, keyed } = await opened()
      const hi = { messages: [{ role: 'user', content: 'Hi.' }] }
      const { status, body } = await keyed('POST', `${at}/messages`, hi, key)
      expect([status, body.argument]).toEqual([400, 'Idempotency-Key'])
      expect(await messages()).toEqual([])
    },
  )

  it('is not needed by names of documents, which may be any text', async () => {
    const { caller } = await opened()
    const path = `/v1/me/profile/${encodeURIComponent('Über – 日本 🚆')}`
    expect((await caller.call('PUT', path, { text: 'x' })).status).toBe(200)
    expect((await caller.call('GET', path)).body).toMatchObject({ name: 'Über – 日本 🚆' })
  })

  it('leaves nothing where there is none', async () => {
    const { caller, session, at } = await opened()
    await caller.call('POST', `${at}/messages`, { messages: [{ role: 'user', content: 'Hi.' }] })
    const tables = await runInDurableObject(sessionObject(caller.user, session), (_, { storage: { sql } }) =>
      sql.exec(`SELECT name FROM sqlite_master WHERE name LIKE 'plimsoll_edge_answer%'`).toArray(),
    )
    expect(tables).toEqual([])
  })
})
