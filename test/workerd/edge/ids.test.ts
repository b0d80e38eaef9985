import { describe, expect, it } from 'vitest'
import { objectName } from '../../../src/edge/objects/object-name.ts'
import { Caller, newUser } from './caller.ts'
import { useDemoModel } from './changed-settings.ts'
import { rowsOf, sessionObject } from './rows.ts'

/** Ids that stores, routers or languages are known to mix up; each is one of its own. */
const TWINS = [
  ['\u00e9', 'e\u0301'],
  ['a', 'A'],
  ['a', 'a '],
  ['a', 'a\0'],
  ['a:b', 'a'],
  ['a/b', 'a%2Fb'],
  ['\uff41', 'a'],
  ['__proto__', 'constructor'],
  ['toString', 'hasOwnProperty'],
  ['...', '..a'],
  ['%', '%25'],
  ["'; DROP TABLE plimsoll_log; --", '"'],
  ['current', 'default'],
  ['null', 'undefined'],
  ['0', '-0'],
  ['\u{1f44d}', '\ufffd'],
  ['x'.repeat(256), 'x'.repeat(255)],
] as const

/** As a client without a URL library would write it: nothing is normalised on the way. */
function encoded(id: string): string {
  return Array.from(new TextEncoder().encode(id), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
}

describe('an id (T33)', () => {
  it.each(TWINS)('names one session and no other: %j and %j', async (one, other) => {
    const caller = new Caller()
    for (const id of [one, other]) {
      const made = await caller.call('POST', '/v1/sessions', { session_id: id })
      expect([made.status, made.body.session_id]).toEqual([201, id])
    }
    for (const id of [one, other]) {
      const path = `/v1/sessions/${encoded(id)}`
      const messages = [{ id: `of ${id}`.slice(0, 256), role: 'user', content: id }]
      expect((await caller.call('POST', `${path}/messages`, { messages })).status).toBe(200)
      expect((await caller.call('PUT', `${path}/checkpoint`, { value: { [id]: id } })).status).toBe(200)
    }
    for (const id of [one, other]) {
      const path = `/v1/sessions/${encoded(id)}`
      const { body } = await caller.call<{ messages: { content: string }[] }>('GET', `${path}/messages`)
      expect(body.messages.map(({ content }) => content)).toEqual([id])
      const kept = await caller.call<{ value: Record<string, string> }>('GET', `${path}/checkpoint`)
      expect(Object.entries(kept.body.value)).toEqual([[id, id]])
    }
    const { body } = await caller.call<{ sessions: { session_id: string }[] }>('GET', '/v1/sessions')
    expect(body.sessions.map(({ session_id }) => session_id).sort()).toEqual([one, other].sort())
  })

  it('of a message, op, fact or document is as exact', async () => {
    const caller = new Caller()
    const path = `/v1/sessions/${await caller.session()}`
    const ids = [...new Set<string>(TWINS.flat())]
    const texts = new Map<string, string>()
    for (const id of ids) {
      const message = { messages: [{ id, role: 'user', content: id }] }
      expect((await caller.call('POST', `${path}/messages`, message)).status).toBe(200)
      // The key of its register must have room for more.
      if (id.length > 200) continue
      const fact = { id, kind: 'finding', text: crypto.randomUUID() }
      texts.set(id, fact.text)
      expect(await caller.call('POST', `${path}/facts`, fact)).toMatchObject({ status: 200 })
    }
    // Names of documents show in prompts: they are shorter, and no control characters.
    const names = ids.filter((id) => id.length <= 128 && !/[\p{Cc}]|^\.+$/u.test(id))
    for (const id of names) {
      const put = await caller.call('PUT', `/v1/me/profile/${encoded(id)}`, { text: id })
      expect([id, put.status]).toEqual([id, 200])
    }
    const { body } = await caller.call<{ messages: { id: string; content: string }[] }>(
      'GET',
      `${path}/messages?messages=100`,
    )
    expect(body.messages.map(({ id, content }) => [id, content])).toEqual(ids.map((id) => [id, id]))
    const facts = await caller.call<{ facts: { id: string; text: string }[] }>('GET', `${path}/facts`)
    expect(new Map(facts.body.facts.map(({ id, text }) => [id, text]))).toEqual(texts)
    const profile = await caller.call<{ documents: { name: string; text: string }[] }>(
      'GET',
      '/v1/me/profile',
    )
    for (const { name, text } of profile.body.documents) expect(text).toBe(name)
  })

  it.each([
    ['empty', ''],
    ['a lone surrogate', '\ud800'],
    ['of 257 bytes', 'x'.repeat(257)],
    ['of 257 bytes in few characters', '日'.repeat(86)],
    ['of 10 KiB', 'x'.repeat(10_240)],
  ])('that is %s is refused wherever one goes', async (_, id) => {
    await useDemoModel()
    const caller = new Caller()
    const session = await caller.session()
    const path = `/v1/sessions/${session}`
    const hi = { role: 'user', content: 'Hi.' }
    const calls: (readonly [string, string, unknown?, Record<string, string>?])[] = [
      ['POST', '/v1/sessions', { session_id: id }],
      ['POST', '/v1/sessions', { session_id: 'x', project: id }],
      ['POST', `${path}/messages`, { messages: [{ ...hi, id }] }],
      ['POST', `${path}/messages`, { messages: [hi], round: id }],
      ['POST', `${path}/messages`, { messages: [{ id, parts: 1 }] }],
      ['POST', `${path}/rewind`, { message: id }],
      ['POST', `${path}/rewind`, { undo: id }],
      ['POST', `${path}/facts`, { kind: 'finding', text: 'x', id }],
      ['POST', `${path}/facts`, { kind: 'finding', text: 'x', sources: [id] }],
      ['POST', `${path}/facts`, { kind: 'finding', text: 'x', supersedes: id }],
      ['POST', `${path}/facts`, { kind: 'finding', text: 'x', project: id }],
      ['POST', '/v1/me/recall', { query: 'x', sessions: [id] }],
    ]
    // What no URL and no header can hold is not sent.
    if (!/\p{Surrogate}/u.test(id) && id !== '') {
      calls.push(
        ['GET', `/v1/sessions/${encoded(id)}`],
        ['POST', `/v1/sessions/${encoded(id)}/mcp`, {}],
        ['POST', `/v1/sessions/${encoded(id)}/openai/chat/completions`, {}],
        ['PUT', `${path}/parts/${encoded(id)}/0`, 'x'],
        ['DELETE', `${path}/facts/${encoded(id)}`],
        ['DELETE', `${path}/chat/${encoded(id)}`],
        ['GET', `${path}/messages?before=${encoded(id)}`],
        ['GET', `/v1/sessions?after=${encoded(id)}`],
        ['PUT', `/v1/me/profile/${encoded(id)}`, { text: 'x' }],
        ['PUT', `/v1/me/skills/${encoded(id)}`, { description: 'x', text: 'x' }],
        ['POST', `${path}/messages`, { messages: [hi] }, { 'Idempotency-Key': id }],
        ['PUT', `${path}/checkpoint`, { value: 1 }, { 'If-Match': `"${id}"` }],
        [
          'POST',
          '/v1/openai/chat/completions',
          { model: 'plimsoll', messages: [hi] },
          { 'Idempotency-Key': id },
        ],
      )
    }
    for (const [method, to, body, headers] of calls) {
      const { status } = await caller.call(method, to, body, headers)
      expect([method, to.slice(0, 80), status]).toEqual([method, to.slice(0, 80), 400])
    }
  })

  it.each(['.', '..'])('that no URL can hold is refused: %s', async (id) => {
    await useDemoModel()
    const caller = new Caller()
    const path = `/v1/sessions/${await caller.session()}`
    const hi = { role: 'user', content: 'Hi.' }
    const calls: readonly (readonly [string, unknown])[] = [
      ['/v1/sessions', { session_id: id }],
      [`${path}/messages`, { messages: [{ ...hi, id }] }],
      [`${path}/context`, { messages: [{ ...hi, id }] }],
      [`${path}/facts`, { kind: 'finding', text: 'x', id }],
      ['/v1/me/facts', { kind: 'preference', text: 'x', id }],
      [`${path}/chat`, { messages: [{ id, role: 'user', parts: [{ type: 'text', text: 'Hi.' }] }] }],
    ]
    for (const [to, body] of calls)
      expect([to, (await caller.call('POST', to, body)).status]).toEqual([to, 400])
    const lines = [
      { type: 'export', format: 'plimsoll', v: 2, of: 'user', parts: ['log'] },
      { type: 'user' },
      { type: 'session', sessionId: id, title: 'Imported', createdAt: 0 },
      { type: 'end', lines: 3 },
    ]
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    const type = { 'Content-Type': 'application/jsonl' }
    expect((await caller.call('POST', '/v1/me/import', body, type)).status).toBe(400)
    expect((await caller.call<{ sessions: unknown[] }>('GET', '/v1/sessions')).body.sessions).toHaveLength(1)
  })

  it.each(['%zz', '%', '%2', '%c3', '%ed%a0%80', '%ff', '%00', '%2f', '%2e%2e%2f', '%252e', '+', '%0d%0a'])(
    'written as %s in a path names at most a session of the caller’s, which is not there',
    async (written) => {
      const caller = new Caller()
      const { status, headers } = await caller.call('GET', `/v1/sessions/${written}/messages`)
      expect([400, 404]).toContain(status)
      expect([...headers].every(([name, value]) => !/[\r\n]/.test(name + value))).toBe(true)
      expect((await caller.call('GET', '/v1/sessions')).body).toEqual({ sessions: [] })
    },
  )

  it.each([
    '/v1/sessions/../me/facts',
    '/v1/sessions/%2e%2e/me/facts',
    '/v1//sessions',
    '//v1/sessions',
    '/V1/sessions',
    '/v1/sessions/',
    '/%76%31/sessions',
    '/v1/sessions;x=1',
    '/mcp/',
    '/mcp/x',
  ])('of a path cannot go around who calls: %s', async (path) => {
    const nobody = await new Caller(newUser(), 'no.token.atall').call('GET', path).catch(() => undefined)
    expect([401, 404]).toContain(nobody?.status)
    expect(JSON.stringify(nobody?.body)).not.toContain('"sessions":')
  })

  it('leaves no mark on what all objects inherit', async () => {
    await useDemoModel()
    const caller = new Caller()
    const path = `/v1/sessions/${await caller.session()}`
    const evil = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
    const bodies: readonly (readonly [string, string, string])[] = [
      [
        'POST',
        `${path}/messages`,
        `{"messages":[{"role":"user","content":"x","metadata":${evil}}],"__proto__":{"polluted":1}}`,
      ],
      ['POST', `${path}/messages`, `{"messages":[{"role":"user","content":"x","metadata":${evil}}]}`],
      ['POST', `${path}/context`, `{"tools":[{"name":"__proto__","input_schema":${evil}}],"preview":true}`],
      ['PUT', `${path}/checkpoint`, `{"value":${evil}}`],
      ['POST', `${path}/chat`, `{"message":"x","__proto__":{"polluted":1},"metadata":${evil}}`],
      [
        'POST',
        '/v1/openai/chat/completions',
        `{"model":"plimsoll","messages":[{"role":"user","content":"x"}],"metadata":${evil}}`,
      ],
      [
        'POST',
        `${path}/mcp`,
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_finding","arguments":${evil}}}`,
      ],
    ]
    for (const [method, to, body] of bodies) {
      const response = await caller.fetch(method, to, {
        body,
        headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      })
      expect([to, response.status < 500]).toEqual([to, true])
      await response.text()
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    const kept = await caller.fetch('GET', `${path}/checkpoint`)
    expect(await kept.text()).toContain(`"value":${evil}`)
  })

  it('of a tenant, user and session makes a name that no other makes', async () => {
    const parts = ['a', 'b', 'a:b', 'b:c', 'c', 'a","b', '["a"', '', '\0', '\u00e9', 'e\u0301']
    const names = new Set<string>()
    for (const tenant of [undefined, ...parts])
      for (const userId of parts)
        for (const sessionId of [undefined, ...parts])
          names.add(
            objectName({
              ...(tenant !== undefined && { tenant }),
              userId,
              ...(sessionId !== undefined && { sessionId }),
            }),
          )
    expect(names.size).toBe((parts.length + 1) * parts.length * (parts.length + 1))
    for (const name of names) expect(name).toMatch(/^v1\.[\w-]{43}$/)
    const [one, other] = [
      new Caller({ tenant: 'a:b', userId: `c${crypto.randomUUID()}` }),
      new Caller({ tenant: 'a', userId: 'b:c' }),
    ]
    await one.call('POST', '/v1/sessions', { session_id: 'x' })
    expect((await other.call('GET', '/v1/sessions/x')).status).toBe(404)
    expect(Object.keys(await rowsOf(sessionObject(other.user, 'x')))).toEqual(['alarm'])
  })
})
