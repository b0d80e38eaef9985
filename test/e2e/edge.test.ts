/** The clients of others, and ours, against a real `wrangler dev`. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toUIMessages } from '../../src/bridges/ai-sdk/index.ts'
import { createClient } from '../../src/client/index.ts'
import type { Message } from '../../src/index.ts'
import { fromWire } from '../../src/ports/wire.ts'
import { describeClient } from './support/client-suite.ts'
import { EdgeProcess } from './support/edge-process.ts'
import { type ModelServer, modelServer } from './support/model-server.ts'
import { tokenOf } from './support/token.ts'
import { describeUseChat } from './use-chat.ts'

let model: ModelServer
let edge: EdgeProcess

beforeAll(async () => {
  model = await modelServer()
  edge = await EdgeProcess.start({ MODEL_BASE_URL: model.url, MODEL_ID: 'tests' })
})

afterAll(async () => {
  await edge?.stop()
  await model?.close()
})

let people = 0
const somebody = (): string => `somebody-${Date.now().toString(36)}-${++people}`

describeClient('wrangler dev', () => ({
  user: async (userId) => {
    model.queue(Array.from({ length: 8 }, () => ({ text: 'It leaves at 9:40.' })))
    return createClient({ baseUrl: edge.url, token: await tokenOf(userId) })
  },
  token: (token) => createClient({ baseUrl: edge.url, token }),
}))

describeUseChat(
  'wrangler dev',
  async (replies) => {
    model.queue(replies)
    const Authorization = `Bearer ${await tokenOf(somebody())}`
    const call = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${edge.url}${path}`, {
        ...init,
        headers: { Authorization, 'Content-Type': 'application/json' },
      })
    await call('/v1/sessions', { method: 'POST', body: '{"session_id":"trip"}' })
    const api = `${edge.url}/v1/sessions/trip/chat`
    return {
      api,
      fetch: (input, init) => {
        const headers = new Headers(init?.headers)
        headers.set('Authorization', Authorization)
        return fetch(input, { ...init, headers })
      },
      stop: () => call('/v1/sessions/trip/chat/current', { method: 'DELETE' }),
      reload: async () => {
        const body = await (await call('/v1/sessions/trip/messages?messages=500')).json()
        return toUIMessages((fromWire(body) as { messages: Message[] }).messages)
      },
    }
  },
  { tools: false },
)

describe("OpenAI's own client against wrangler dev", () => {
  const open = async (): Promise<OpenAI> =>
    new OpenAI({ baseURL: `${edge.url}/v1/openai`, apiKey: await tokenOf(somebody()) })

  it('has a memory by base URL alone: each request holds the newest message, the model gets all of them', async () => {
    const client = await open()
    model.queue([{ text: 'Noted.' }, { text: 'Turin.' }])
    const ask = (content: string) =>
      client.chat.completions.create({ model: 'plimsoll', messages: [{ role: 'user', content }] })
    expect((await ask('I go to Turin.')).choices[0]?.message.content).toBe('Noted.')
    const { choices, usage } = await ask('Where do I go?')
    expect(choices[0]?.message.content).toBe('Turin.')
    expect(usage?.prompt_tokens).toBeGreaterThan(20)
  })

  it('streams, and hands calls of tools through and their results back', async () => {
    const client = await open()
    model.queue([{ calls: [{ name: 'timetable', input: { to: 'Turin' } }] }, { text: 'At 9:40.' }])
    const tools = [
      {
        type: 'function' as const,
        function: {
          name: 'timetable',
          parameters: { type: 'object', properties: { to: { type: 'string' } } },
        },
      },
    ]
    const asked = { role: 'user' as const, content: 'When?' }
    const first = await client.chat.completions
      .stream({ model: 'plimsoll', tools, messages: [asked] })
      .finalChatCompletion()
    const [call] = first.choices[0]?.message.tool_calls ?? []
    expect(call).toMatchObject({ function: { name: 'timetable' } })
    const second = await client.chat.completions
      .stream({
        model: 'plimsoll',
        tools,
        messages: [
          asked,
          first.choices[0]?.message as OpenAI.Chat.ChatCompletionMessageParam,
          { role: 'tool', tool_call_id: call?.id ?? '', content: '9:40' },
        ],
      })
      .finalChatCompletion()
    expect(second.choices[0]?.message.content).toBe('At 9:40.')
  })

  it('throws what it knows for tokens that do not hold', async () => {
    const client = new OpenAI({ baseURL: `${edge.url}/v1/openai`, apiKey: 'nobody', maxRetries: 0 })
    const asked = client.chat.completions.create({
      model: 'plimsoll',
      messages: [{ role: 'user', content: 'Hi' }],
    })
    await expect(asked).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
  })
})

describe('a client of the Model Context Protocol against wrangler dev', () => {
  it('remembers by a tool, and reads the start of the session', async () => {
    const userId = somebody()
    const client = new Client({ name: 'tests', version: '1' })
    const requestInit = { headers: { Authorization: `Bearer ${await tokenOf(userId)}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${edge.url}/mcp`), { requestInit }))
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('memory_finding')
    await client.callTool({ name: 'memory_finding', arguments: { text: 'The gate is B7.' } })
    const { contents } = await client.readResource({ uri: 'plimsoll://session/start' })
    const [start] = contents
    expect(JSON.parse(String(start && 'text' in start && start.text))).toMatchObject({ memory_count: 1 })
    await client.close()
  })
})

describe('what a caller is refused', () => {
  it('is nothing that the runtime logs as uncaught', async () => {
    const call = async (token: string, method: string, path: string, body?: unknown): Promise<number> => {
      const response = await fetch(edge.url + path, {
        method,
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      await response.text()
      return response.status
    }
    const token = await tokenOf(somebody())
    const message = (id: string, content: string) => ({ messages: [{ id, role: 'user', content }] })
    const at = '/v1/sessions/trip'
    await call(token, 'POST', '/v1/sessions', { session_id: 'trip' })
    await call(token, 'POST', `${at}/messages`, message('m1', 'Hi.'))
    for (const [method, path, body, status] of [
      ['GET', '/v1/sessions/nowhere', undefined, 404],
      ['POST', '/v1/sessions/nowhere/context', {}, 404],
      ['GET', '/v1/me/skills/nothing', undefined, 404],
      ['GET', `${at}/chat/nothing`, undefined, 204],
      ['DELETE', `${at}/messages/nothing`, undefined, 404],
      ['PATCH', `${at}/facts/nothing`, { pinned: true }, 404],
      ['POST', `${at}/messages`, message('', 'No id.'), 400],
      ['POST', `${at}/messages`, { messages: [{ role: 'nobody', content: '' }] }, 400],
      ['POST', `${at}/context`, { tail: 'x'.repeat(200_000) }, 422],
      ['POST', `${at}/chat`, { message: 1 }, 400],
      ['POST', `${at}/openai/chat/completions`, { model: 'x', messages: [] }, 400],
      ['POST', `${at}/rewind`, { to: 'nothing' }, 400],
      ['POST', '/v1/me/recall', { query: 'x', sessions: ['nowhere'] }, 404],
      ['POST', '/v1/me/import', { type: 'x' }, 415],
      ['POST', '/v1/me/claim', { token: 'x' }, 400],
    ] as const)
      expect([path, await call(token, method, path, body)]).toEqual([path, status])
    const socket = new WebSocket(`${edge.url.replace('http', 'ws')}/v1/sessions/nowhere/live`, [
      'plimsoll.v1',
      `bearer.${token}`,
    ])
    await new Promise((resolve) => socket.addEventListener('error', resolve))
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(edge.said.split('\n').filter((line) => /uncaught/i.test(line))).toEqual([])
  })
})
