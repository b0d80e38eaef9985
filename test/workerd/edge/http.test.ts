import { evictDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { type Model, PlimsollError } from '../../../src/index.ts'
import { HEADS, pictureOf } from '../../everywhere/pictures.ts'
import { Caller, fetchWorker } from './caller.ts'
import { changeSessions, useDemoModel } from './changed-settings.ts'
import { sessionObject } from './rows.ts'
import { World } from './world.ts'

async function opened() {
  const caller = new Caller()
  const session = await caller.session()
  return { caller, session, at: `/v1/sessions/${session}` }
}

const refusal = (status: number, code: string, argument?: string) => ({
  status,
  body: { code, ...(argument !== undefined && { argument }) },
})

describe('creating a session', () => {
  it('makes it once, says where it is, and leaves one that is there as it is', async () => {
    const caller = new Caller()
    const made = await caller.call('POST', '/v1/sessions', {
      session_id: 'a b/c',
      title: 'One',
      project: 'p',
    })
    expect([made.status, made.headers.get('Location')]).toEqual([201, '/v1/sessions/a%20b%2Fc'])
    expect((await caller.call('GET', made.headers.get('Location') ?? '')).body).toEqual(made.body)
    const again = await caller.call('POST', '/v1/sessions', {
      session_id: 'a b/c',
      title: 'Two',
      project: 'q',
    })
    expect([again.status, again.headers.get('Location'), again.body]).toEqual([200, null, made.body])
  })

  it('makes it once under concurrency too: one is told that it made it, and its title stands', async () => {
    const caller = new Caller()
    const titles = Array.from({ length: 16 }, (_, index) => `Title ${index}`)
    const answers = await Promise.all(
      titles.map((title) => caller.call('POST', '/v1/sessions', { session_id: 'trip', title })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(15)
    const { body } = await caller.call('GET', '/v1/sessions/trip')
    const made = answers.findIndex(({ status }) => status === 201)
    expect(body).toEqual(answers[made]?.body)
    expect(body.title).toBe(titles[made])
    expect((await caller.call<{ sessions: unknown[] }>('GET', '/v1/sessions')).body.sessions).toEqual([body])
  })
})

describe('a chat', () => {
  const say = async (caller: Caller, body: unknown) => {
    const response = await caller.fetch('POST', '/v1/sessions/trip/chat', {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }
  const roles = async (caller: Caller) => {
    const { status, body } = await caller.call<{ messages: { role: string }[] }>(
      'GET',
      '/v1/sessions/trip/messages',
    )
    return status === 200 ? body.messages.map(({ role }) => role) : status
  }

  it('makes its session by its first message, which is listed then', async () => {
    await useDemoModel()
    const caller = new Caller()
    const first = await say(caller, { message: 'The code is 7 lemons.' })
    expect([first.status, first.text]).toEqual([200, expect.stringContaining('"type":"finish"')])
    expect(await roles(caller)).toEqual(['user', 'assistant'])
    const { body } = await caller.call<{ sessions: { session_id: string }[] }>('GET', '/v1/sessions')
    expect(body.sessions.map(({ session_id }) => session_id)).toEqual(['trip'])
  })

  it('may have begun with a word of the page’s own', async () => {
    await useDemoModel()
    const caller = new Caller()
    const part = (text: string) => [{ type: 'text', text }]
    const messages = [
      { id: 'a0', role: 'assistant', parts: part('How can I help?') },
      { id: 'm1', role: 'user', parts: part('Hi.') },
    ]
    expect((await say(caller, { messages })).status).toBe(200)
    expect(await roles(caller)).toEqual(['assistant', 'user', 'assistant'])
  })

  it('makes it once, of several that begin at once, and no message is lost', async () => {
    await useDemoModel()
    const caller = new Caller()
    const body = { message: { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi.' }] } }
    const said = await Promise.all([say(caller, body), say(caller, body), say(caller, body)])
    expect(said.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await roles(caller)).toEqual(['user', 'assistant'])
  })

  it('does not bring back what was removed, and has nothing to join where nothing was said', async () => {
    await useDemoModel()
    const caller = new Caller()
    const joined = () => caller.call('GET', '/v1/sessions/trip/chat/trip/stream')
    expect((await joined()).status).toBe(204)
    expect(await roles(caller)).toBe(404)
    await say(caller, { message: 'Hi.' })
    await caller.call('DELETE', '/v1/sessions/trip')
    expect((await joined()).status).toBe(204)
    const user = (id: string) => ({ id, role: 'user', parts: [{ type: 'text', text: id }] })
    const held = [user('m1'), { ...user('a1'), role: 'assistant' }, user('m2')]
    expect((await say(caller, { messages: held })).status).toBe(404)
    expect(await roles(caller)).toBe(404)
    expect((await say(caller, { message: 'Again.' })).status).toBe(200)
    expect(await roles(caller)).toEqual(['user', 'assistant'])
  })
})

describe('a date', () => {
  it.each([8.64e15 + 1, -8.64e15 - 1, 1e18, 0.5])('that `Date` cannot hold is refused: %d', async (time) => {
    const { caller, at } = await opened()
    const message = { role: 'user', content: 'x', created_at: time }
    const fact = { kind: 'finding', text: 'x' }
    for (const [path, body] of [
      [`${at}/messages`, { messages: [message] }],
      [`${at}/context`, { messages: [message] }],
      [`${at}/facts`, { ...fact, created_at: time }],
      [`${at}/facts`, { ...fact, review_at: time }],
      ['/v1/me/facts', { ...fact, expires_at: time }],
    ] as const)
      expect(await caller.call('POST', path, body)).toMatchObject(refusal(400, 'ERR_INVALID_ARGUMENT'))
    const part = JSON.stringify({ role: 'user', content: 'x', created_at: time })
    await caller.call('PUT', `${at}/parts/m1/0`, part, { 'Content-Type': 'text/plain' })
    expect(await caller.call('POST', `${at}/messages`, { messages: [{ id: 'm1', parts: 1 }] })).toMatchObject(
      refusal(400, 'ERR_INVALID_ARGUMENT'),
    )
    expect((await caller.call('GET', `${at}/messages`)).body).toEqual({ messages: [] })
  })

  it('at the end of all that `Date` can hold is taken', async () => {
    const { caller, at } = await opened()
    const messages = [8.64e15, -8.64e15].map((time) => ({ role: 'user', content: 'x', created_at: time }))
    expect((await caller.call('POST', `${at}/messages`, { messages })).status).toBe(200)
  })
})

describe('a request', () => {
  it('for a preview with messages is refused, and writes none of them', async () => {
    const { caller, at } = await opened()
    const body = { preview: true, messages: [{ role: 'user', content: 'x' }] }
    expect(await caller.call('POST', `${at}/context`, body)).toMatchObject(
      refusal(400, 'ERR_INVALID_ARGUMENT', 'messages'),
    )
    expect((await caller.call('GET', `${at}/messages`)).body).toEqual({ messages: [] })
  })

  it('for the context of its own agent has the tools that this agent gets, also before anything was said', async () => {
    const { caller, at } = await opened()
    type Shown = { tools?: { name: string }[]; receipt: { used: number } }
    const look = async (body: object) => (await caller.call<Shown>('POST', `${at}/context`, body)).body
    const bare = await look({ preview: true })
    const agents = await look({ preview: true, tools: 'agent' })
    expect(bare.tools).toBe(undefined)
    expect(agents.tools?.map(({ name }) => name)).toContain('memory_preference')
    expect(agents.receipt.used).toBeGreaterThan(bare.receipt.used + 100)
    expect(await caller.call('POST', `${at}/context`, { tools: 'others' })).toMatchObject(
      refusal(400, 'ERR_INVALID_ARGUMENT', 'body.tools'),
    )
  })

  it('by another method is 405, and says which there are', async () => {
    const { caller, at } = await opened()
    for (const [method, path, allowed] of [
      ['PUT', '/v1/sessions', 'GET, HEAD, POST'],
      ['POST', at, 'GET, HEAD, PATCH, DELETE'],
      ['PATCH', '/v1/me/profile/about', 'GET, HEAD, PUT, DELETE'],
      ['DELETE', '/v1/me/profile', 'GET, HEAD'],
      ['GET', '/v1/openai/chat/completions', 'POST'],
      ['POST', `${at}/live`, 'GET, HEAD'],
      ['POST', '/health', 'GET, HEAD'],
      ['DELETE', '/openapi.json', 'GET, HEAD'],
      ['GET', '/v1/guests', 'POST'],
    ] as const) {
      const answered = await caller.call(method, path)
      expect([path, answered.status, answered.headers.get('Allow')]).toEqual([path, 405, allowed])
      expect(answered).toMatchObject(refusal(405, 'ERR_METHOD_NOT_ALLOWED'))
    }
    expect((await fetchWorker('/v1/sessions', { method: 'PUT' })).status).toBe(401)
    expect((await caller.call('GET', '/v1/nothing')).status).toBe(404)
  })

  it('of another type, or packed, is 415, and writes nothing', async () => {
    const { caller, at } = await opened()
    const json = '{"messages":[{"role":"user","content":"x"}]}'
    for (const [method, path, type] of [
      ['POST', `${at}/messages`, 'text/plain'],
      ['POST', `${at}/messages`, ''],
      ['POST', '/v1/sessions', 'application/x-www-form-urlencoded'],
      ['PUT', `${at}/parts/m1/0`, 'application/json'],
      ['PUT', '/v1/me/skills/booking', 'text/plain'],
      ['PUT', '/v1/me/skills/booking', 'text/markdownish'],
      ['POST', '/v1/me/import', 'application/json'],
    ] as const)
      expect([path, await caller.call(method, path, json, { 'Content-Type': type })]).toMatchObject([
        path,
        refusal(415, 'ERR_UNSUPPORTED_MEDIA_TYPE', 'Content-Type'),
      ])
    expect(await caller.call('POST', `${at}/messages`, json, { 'Content-Encoding': 'gzip' })).toMatchObject(
      refusal(415, 'ERR_UNSUPPORTED_MEDIA_TYPE', 'Content-Encoding'),
    )
    const completion = await caller.call<{ error: { code: string } }>(
      'POST',
      '/v1/openai/chat/completions',
      json,
      {
        'Content-Type': 'text/plain',
      },
    )
    expect([completion.status, completion.body.error.code]).toEqual([415, 'ERR_UNSUPPORTED_MEDIA_TYPE'])
    expect((await caller.call('GET', `${at}/messages`)).body).toEqual({ messages: [] })
  })

  it('with query parameters that are not known, or there twice, is refused', async () => {
    const { caller, at } = await opened()
    for (const [method, path] of [
      ['GET', `${at}/messages?limit=5`],
      ['GET', `${at}/messages?rounds=1&rounds=2`],
      ['GET', `${at}?x`],
      ['GET', '/v1/sessions?afte=x'],
      ['GET', `${at}/facts?kind=finding`],
      ['GET', `${at}/start?toString=1`],
      ['GET', '/v1/me/audit?before=x'],
      ['POST', `${at}/compact?new_epoch=true`],
      ['GET', `${at}/live?token=x`],
      ['DELETE', `${at}?force=1`],
    ] as const)
      expect([path, await caller.call(method, path)]).toMatchObject([
        path,
        refusal(400, 'ERR_INVALID_ARGUMENT'),
      ])
    expect((await caller.call('GET', at)).status).toBe(200)
    const models = await caller.call<{ error: { param: string } }>('GET', '/v1/openai/models?x=1')
    expect([models.status, models.body.error.param]).toEqual([400, 'query'])
  })

  it('for a message whose id is taken is 409, unless it has the same Idempotency-Key', async () => {
    const { caller, at } = await opened()
    const one = { messages: [{ id: 'm1', role: 'user', content: 'One.' }] }
    const key = { 'Idempotency-Key': 'k' }
    const first = await caller.call('POST', `${at}/messages`, one, key)
    expect(first.status).toBe(200)
    const taken = refusal(409, 'ERR_DUPLICATE_ID')
    expect(await caller.call('POST', `${at}/messages`, one)).toMatchObject({ ...taken, body: { id: 'm1' } })
    expect(await caller.call('POST', `${at}/context`, one)).toMatchObject(taken)
    expect(await caller.call('POST', `${at}/messages`, one, { 'Idempotency-Key': 'k2' })).toMatchObject(taken)
    expect((await caller.call('POST', `${at}/messages`, one, key)).body).toEqual(first.body)
  })
})

describe('the bytes of a picture', () => {
  it('are those of its type, where a device sends them', async () => {
    const { caller, session } = await opened()
    const put = (type: string, is = type) =>
      caller.fetch('PUT', `/v1/sync/attachment?session=${session}&generation=&id=${crypto.randomUUID()}`, {
        headers: { 'Content-Type': type },
        body: pictureOf(is),
      })
    for (const type of [...Object.keys(HEADS), 'image/svg+xml', 'text/plain']) {
      expect([type, (await put(type)).status]).toEqual([type, 200])
      if (!HEADS[type]) continue
      const refused = await put(type, 'text/plain')
      expect([type, refused.status]).toEqual([type, 400])
      expect(await refused.json()).toMatchObject({ code: 'ERR_INVALID_ARGUMENT', argument: 'bytes' })
    }
  })
})

describe('the URL of a picture or a file', () => {
  const TAKEN = [
    'https://x.test/a.png',
    'http://x.test/a.png',
    ...Object.entries(HEADS).map(([type, head]) => `data:${type};base64,${btoa(`${head}...`)}`),
    'data:application/pdf;base64,AAAA',
    'data:text/plain,x',
  ]
  const REFUSED = [
    ...Object.keys(HEADS).map((type) => `data:${type};base64,AAAA`),
    'DATA:Image/PNG;base64,AAAA',
    `data:image/png;base64,${btoa(HEADS['image/jpeg'] ?? '')}`,
    'data:image/png,x',
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'file:///etc/passwd',
    'blob:https://x.test/1',
    'data:text/html,<script>1</script>',
    'data:application/xhtml+xml,x',
    'ftp://x.test/a',
    '//x.test/a',
    '/a.png',
    'https://',
    '',
  ]

  it.each([...TAKEN.map((url) => [url, 200] as const), ...REFUSED.map((url) => [url, 400] as const)])(
    '%j is answered with %i, by every door',
    async (url, status) => {
      await useDemoModel()
      const { caller, session, at } = await opened()
      await evictDurableObject(sessionObject(caller.user, session))
      const content = [{ type: 'media', media_type: 'image/png', url, tokens: 1 }]
      const message = { role: 'user', content }
      expect((await caller.call('POST', `${at}/messages`, { messages: [message] })).status).toBe(status)
      await caller.call('PUT', `${at}/parts/m1/0`, JSON.stringify(message), { 'Content-Type': 'text/plain' })
      const uploaded = await caller.call('POST', `${at}/messages`, { messages: [{ id: 'm1', parts: 1 }] })
      expect(uploaded.status).toBe(status)
      const file = { type: 'file', mediaType: 'image/png', url }
      const chat = await caller.fetch('POST', `${at}/chat`, {
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ messages: [{ id: 'u1', role: 'user', parts: [file] }] }),
      })
      await chat.text()
      expect(chat.status).toBe(status)
    },
  )
})

describe('a budget', () => {
  it('that is used up says which, how much of it there is, and when to come again', async () => {
    await changeSessions((settings) => ({ ...settings, budgets: { appendsPerMinute: 2 } }))
    const { caller, session, at } = await opened()
    await evictDurableObject(sessionObject(caller.user, session))
    const hi = { messages: [{ role: 'user', content: 'x' }] }
    const left = (answered: { headers: Headers }) => answered.headers.get('RateLimit')
    const first = await caller.call('POST', `${at}/messages`, hi)
    expect(first.headers.get('RateLimit-Policy')).toBe('"appends";q=2;w=60')
    expect(left(first)).toMatch(/^"appends";r=1;t=\d+$/)
    expect(left(await caller.call('POST', `${at}/messages`, hi))).toMatch(/^"appends";r=0;t=\d+$/)
    const refused = await caller.call('POST', `${at}/messages`, hi)
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'ERR_RATE_LIMIT', budget: 'appends', limit: 2 },
    })
    const wait = refused.headers.get('Retry-After')
    expect(Number(wait)).toBeGreaterThan(0)
    expect(left(refused)).toBe(`"appends";r=0;t=${wait}`)
    expect(refused.headers.get('RateLimit-Policy')).toBe('"appends";q=2')
    expect(left(await caller.call('GET', `${at}/messages`))).toBeNull()
  })
})

describe('the door for OpenAI’s clients', () => {
  const DOT = btoa(HEADS['image/png'] ?? '')

  it.each(['data:image/png', 'DATA:Image/PNG'])(
    'keeps a picture’s bytes outside of its message: %s',
    async (kind) => {
      await useDemoModel()
      const caller = new Caller()
      const content = [{ type: 'image_url', image_url: { url: `${kind};base64,${DOT}` } }]
      const body = { model: 'plimsoll', messages: [{ role: 'user', content }] }
      expect((await caller.call('POST', '/v1/openai/chat/completions', body)).status).toBe(200)
      const { body: read } = await caller.call<{ messages: { content: object[] }[] }>(
        'GET',
        '/v1/sessions/default/messages',
      )
      expect(read.messages[0]?.content).toEqual([
        { type: 'media', media_type: 'image/png', ref: expect.any(String) },
      ])
    },
  )

  it('lists the one name that a model has here', async () => {
    const { caller, at } = await opened()
    for (const door of ['/v1/openai', `${at}/openai`]) {
      const { status, body } = await caller.call<{ object: string; data: { id: string }[] }>(
        'GET',
        `${door}/models`,
      )
      expect([status, body.object, body.data.map(({ id }) => id)]).toEqual([200, 'list', ['plimsoll']])
      expect((await caller.call('GET', `${door}/models/plimsoll`)).body).toEqual(body.data[0])
      const other = await caller.call<{ error: { code: string } }>('GET', `${door}/models/gpt-9`)
      expect([other.status, other.body.error.code]).toEqual([404, 'model_not_found'])
    }
    const nowhere = await caller.call<{ error: { code: string } }>(
      'GET',
      '/v1/sessions/nowhere/openai/models',
    )
    expect([nowhere.status, nowhere.body.error.code]).toEqual([404, 'ERR_NOT_FOUND'])
  })

  const failing = (error: Error): Model => ({
    id: 'secret-model-7',
    // biome-ignore lint/correctness/useYield: it fails before it says anything
    async *complete() {
      throw error
    },
  })

  it.each([
    ['a key that is refused', 'ERR_NOT_CONFIGURED', 502],
    ['a failure', 'ERR_MODEL', 502],
    ['too many calls', 'ERR_RATE_LIMIT', 429],
    ['a time-out', 'ERR_TIMEOUT', 504],
  ] as const)('names nothing of what is behind it: %s', async (_, code, status) => {
    const error = new PlimsollError(code, 'model secret-model-7: api.secret.test says insufficient_quota', {
      retryAfter: 7,
    })
    await changeSessions((settings) => ({ ...settings, model: failing(error) }))
    const world = new World()
    await world.create()
    await evictDurableObject(world.stub())
    const completion = await world.caller.fetch('POST', '/v1/sessions/trip/openai/chat/completions', {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ model: 'plimsoll', messages: [{ role: 'user', content: 'Hi.' }] }),
    })
    const text = await completion.text()
    expect(completion.status).toBe(status)
    const chat = await world.caller.fetch('POST', '/v1/sessions/trip/chat', {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ message: 'Hi.' }),
    })
    const unknown = await world.caller.fetch('POST', '/v1/sessions/trip/openai/chat/completions', {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-9', messages: [{ role: 'user', content: 'Hi.' }] }),
    })
    for (const answered of [text, await chat.text(), await unknown.text()])
      expect(answered).not.toMatch(/secret|insufficient_quota|no model here|ERR_NOT_CONFIGURED/)
    expect(completion.headers.get('Retry-After')).toBe(code === 'ERR_RATE_LIMIT' ? '7' : null)
  })

  it('says that there is no model where none is configured', async () => {
    const { caller } = await opened()
    const body = { model: 'plimsoll', messages: [{ role: 'user', content: 'Hi.' }] }
    const { status, body: refused } = await caller.call<{ error: { code: string } }>(
      'POST',
      '/v1/openai/chat/completions',
      body,
    )
    expect([status, refused.error.code]).toEqual([503, 'ERR_NOT_CONFIGURED'])
  })
})
