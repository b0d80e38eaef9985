import { env } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../../src/edge/app/create-app.ts'
import { Caller, ORIGIN } from './caller.ts'
import { changeSessions, useDemoModel } from './changed-settings.ts'
import { changedIn, stateOf } from './rows.ts'

const json = { 'Content-Type': 'application/json' }
const mcp = { ...json, Accept: 'application/json, text/event-stream' }
const LONE = '\\ud800'
const calling = (ids: readonly string[], input = '{}') => ({
  role: 'assistant',
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'find', arguments: input } })),
})
const shown = (url: string) => ({ role: 'user', content: [{ type: 'image_url', image_url: { url } }] })
const completion = (more: object) => ({
  model: 'plimsoll',
  messages: [{ role: 'user', content: 'Hi.' }],
  ...more,
})

const says = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] })
const reply = { id: 'a1', role: 'assistant', parts: [{ type: 'text', text: 'Hello.' }] }

describe('what is refused', () => {
  it.each([
    ['a session with a bad project', 'POST', '/v1/sessions', json, `{"session_id":"s","project":"${LONE}"}`],
    [
      'a session with a long project',
      'POST',
      '/v1/sessions',
      json,
      `{"session_id":"s","project":"${'日'.repeat(90)}"}`,
    ],
    ['a session with a bad title', 'POST', '/v1/sessions', json, `{"session_id":"s","title":"${LONE}"}`],
    [
      'a session with a long title',
      'POST',
      '/v1/sessions',
      json,
      `{"session_id":"s","title":"${'x'.repeat(201)}"}`,
    ],
    ['a bad session', 'POST', '/v1/sessions', json, `{"session_id":"${LONE}"}`],
    ['a long session', 'POST', '/v1/sessions', json, `{"session_id":"${'日'.repeat(90)}"}`],
    [
      'a completion that cannot be honoured',
      'POST',
      '/v1/openai/chat/completions',
      json,
      completion({ n: 2 }),
    ],
    [
      'a completion of another model',
      'POST',
      '/v1/openai/chat/completions',
      json,
      completion({ model: 'x' }),
    ],
    [
      'a completion that ends with the assistant',
      'POST',
      '/v1/openai/chat/completions',
      json,
      completion({ messages: [{ role: 'assistant', content: 'x' }] }),
    ],
    [
      'a completion of what is no text',
      'POST',
      '/v1/openai/chat/completions',
      json,
      completion({ messages: [{ role: 'user', content: '\ud800' }] }),
    ],
    [
      'a completion with tools that are no text',
      'POST',
      '/v1/openai/chat/completions',
      json,
      completion({ tools: [{ type: 'function', function: { name: 'find', parameters: { a: '\ud800' } } }] }),
    ],
    ['a completion of no JSON', 'POST', '/v1/openai/chat/completions', json, '{'],
    ...(
      [
        ['a result of no call', [{ role: 'tool', tool_call_id: 'c1', content: '9:40' }]],
        [
          'a result of another call',
          [calling(['c1']), { role: 'tool', tool_call_id: 'c2', content: '9:40' }],
        ],
        ['one result of two', [calling(['c1', 'c2']), { role: 'tool', tool_call_id: 'c1', content: '9:40' }]],
        ['a call with a long id', [calling(['c'.repeat(1_025)]), { role: 'user', content: 'Hi.' }]],
        ['a call of what is no text', [calling(['c1'], '"\\ud800"'), { role: 'user', content: 'Hi.' }]],
        ['a long name', [{ role: 'user', content: 'Hi.', name: 'x'.repeat(300) }]],
        ['a picture that is not base64', [shown('data:image/png;base64,%')]],
        ['a picture that is none', [shown('data:image/png;base64,AAAA')]],
        ['a picture of a long type', [shown(`data:image/${'x'.repeat(128)};base64,AAAA`)]],
      ] as const
    ).map(
      ([what, messages]) =>
        [
          `a completion of ${what}`,
          'POST',
          '/v1/openai/chat/completions',
          json,
          completion({ messages }),
        ] as const,
    ),
    ...(
      [
        ['of nothing', { messages: [] }],
        ['for another reply', { trigger: 'regenerate-message', messages: [says('m1', 'Hi.')] }],
        ['that edits', { messageId: 'm1', messages: [says('m1', 'Hi.')] }],
        ['that was held already', { messages: [says('m1', 'Hi.'), reply, says('m2', 'And?')] }],
        ['that ends with the assistant', { messages: [says('m1', 'Hi.'), reply] }],
        ['with 101 messages', { messages: [...Array(100).fill(reply), says('m1', 'Hi.')] }],
      ] as const
    ).map(([what, body]) => [`a chat ${what}`, 'POST', '/v1/sessions/s/chat', json, body] as const),
    ['a run that goes on', 'GET', '/v1/sessions/s/chat/x', json, undefined],
    ['an MCP stream', 'GET', '/mcp', mcp, undefined],
    ['an end of an MCP session', 'DELETE', '/mcp', mcp, undefined],
    ['MCP of no JSON', 'POST', '/mcp', mcp, '{'],
    ['MCP that is no JSON-RPC', 'POST', '/mcp', mcp, '{"a":1}'],
    [
      'MCP of an unknown version',
      'POST',
      '/mcp',
      { ...mcp, 'Mcp-Protocol-Version': '1' },
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    ],
    [
      'MCP that accepts nothing of it',
      'POST',
      '/mcp',
      { ...mcp, Accept: 'text/html' },
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    ],
    [
      'MCP of another type',
      'POST',
      '/mcp',
      { ...mcp, 'Content-Type': 'text/plain' },
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    ],
  ] as const)('makes no session: %s', async (_, method, path, headers, body) => {
    await useDemoModel()
    const caller = new Caller()
    const sessions = ['default', 's', '\ud800', '日'.repeat(90)]
    const before = await Promise.all(sessions.map((session) => stateOf(caller.user, session)))
    const { status } = await caller.call(method, path, body, headers).catch(() => ({ status: 0 }))
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
    const after = await Promise.all(sessions.map((session) => stateOf(caller.user, session)))
    expect(before.flatMap((rows, index) => changedIn(rows, after[index] ?? {}))).toEqual([])
  })

  it.each([
    ['a picture that is not base64', shown('data:image/png;base64,%')],
    ['a long name', { role: 'user', content: 'Hello.', name: 'x'.repeat(300) }],
  ])('hides nothing: an edit to %s', async (_, edited) => {
    await useDemoModel()
    const caller = new Caller()
    const path = '/v1/openai/chat/completions'
    const asked = completion({})
    const { body } = await caller.call<{ choices: { message: object }[] }>('POST', path, asked)
    const history = [...asked.messages, body.choices[0]?.message]
    const next = [...history, { role: 'user', content: 'Hello.' }]
    expect((await caller.call('POST', path, completion({ messages: next }))).status).toBe(200)
    const before = await stateOf(caller.user, 'default')
    const messages = [...history, edited]
    expect((await caller.call('POST', path, completion({ messages }))).status).toBe(400)
    expect(changedIn(before, await stateOf(caller.user, 'default'))).toEqual([])
  })

  it('makes no session where there is no model to answer', async () => {
    await changeSessions(({ model: _, ...settings }) => settings)
    const caller = new Caller()
    for (const [path, body] of [
      ['/v1/openai/chat/completions', completion({})],
      ['/v1/sessions/default/chat', { message: 'Hi.' }],
    ] as const) {
      const before = await stateOf(caller.user, 'default')
      expect((await caller.call('POST', path, body)).status).toBe(503)
      expect(changedIn(before, await stateOf(caller.user, 'default'))).toEqual([])
    }
  })

  it.each([
    ['a tail that is no text', { tail: '\ud800' }],
    ['a section without a name', { tail: [{ name: 'a b', text: 'x' }] }],
    ['a query that is no text', { recall: '\ud800' }],
    ['recall across sessions that are none', { recall: { query: 'Turin', sessions: ['..'] } }],
    ['recall across no sessions', { recall: { query: 'Turin' } }],
    ['tools of one name', { tools: ['a', 'a'].map((name) => ({ name, input_schema: {} })) }],
    ['a window of nothing', { limits: { window: { max: { rounds: 0 } } } }],
    [
      'a window that keeps more than it holds',
      { limits: { window: { max: { rounds: 1 }, keep: { rounds: 2 } } } },
    ],
    ['outputs of less than nothing', { limits: { tool_output: { first: -1 } } }],
  ])('appends nothing: a context with %s', async (_, options) => {
    const caller = new Caller()
    const session = await caller.session()
    const before = await stateOf(caller.user, session)
    const messages = [{ role: 'user', content: 'Hi.' }]
    const { status } = await caller.call('POST', `/v1/sessions/${session}/context`, { messages, ...options })
    expect(status).toBe(400)
    expect(changedIn(before, await stateOf(caller.user, session))).toEqual([])
  })

  it.each([
    ['an empty reply to go on with', [{ id: 'a', role: 'assistant', parts: [] }]],
    [
      'a message that could not be stored, after one that could',
      [
        { id: 'a', role: 'user', parts: [{ type: 'text', text: 'Hi.' }] },
        { id: 'b', role: 'user', parts: [{ type: 'data-x', data: { a: '\ud800' } }] },
        { id: 'c', role: 'user', parts: [{ type: 'text', text: 'Hi.' }] },
      ],
    ],
    [
      'a message with metadata that could not be stored, after one that could',
      [
        { id: 'a', role: 'user', parts: [{ type: 'text', text: 'Hi.' }] },
        { id: 'b', role: 'user', metadata: '\ud800', parts: [{ type: 'text', text: 'Hi.' }] },
        { id: 'c', role: 'user', parts: [{ type: 'text', text: 'Hi.' }] },
      ],
    ],
  ])('says nothing: a chat with %s', async (_, messages) => {
    await useDemoModel()
    const caller = new Caller()
    const session = await caller.session()
    const before = await stateOf(caller.user, session)
    expect((await caller.call('POST', `/v1/sessions/${session}/chat`, { messages })).status).toBe(400)
    expect(changedIn(before, await stateOf(caller.user, session))).toEqual([])
  })

  it('is a body that breaks off, which is its sender’s fault', async () => {
    const caller = new Caller()
    const session = await caller.session()
    const before = await stateOf(caller.user, session)
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode('{"text":'))
        controller.error(new Error('gone'))
      },
    })
    const request = new Request(`${ORIGIN}/v1/me/profile/about`, {
      method: 'PUT',
      body,
      headers: json,
    })
    // Not through the runtime, which makes an empty body of one that fails.
    const app = createApp(() => ({ objects: env, authenticate: async () => caller.user }))
    const response = await app.fetch(request, env)
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { code: 'ERR_INVALID_ARGUMENT', argument: 'body', detail: 'the body: it ended too early' },
    ])
    expect(changedIn(before, await stateOf(caller.user, session))).toEqual([])
  })
})
