/**
 * Requests of `toAnthropic`, sent by the official SDK to a server that is as strict as Anthropic's.
 */

import Anthropic from '@anthropic-ai/sdk'
import { afterEach, describe, expect, it } from 'vitest'
import { lawChecker } from '../../src/assert-laws.ts'
import { mapStore, parseAnthropicReply, toAnthropic } from '../../src/index.ts'
import { type FullSession, fullMemory } from '../contract/full-memory.ts'
import {
  type AnthropicRequest,
  anthropicProblem,
  type FakeAnthropic,
  type FakeAnthropicOptions,
  fakeAnthropic,
} from '../unit/support/fake-anthropic.ts'

const servers: FakeAnthropic[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function open(options: FakeAnthropicOptions = {}) {
  const server = await fakeAnthropic(options)
  servers.push(server)
  return { server, client: new Anthropic({ baseURL: server.url, apiKey: 'none', maxRetries: 0 }) }
}

const tools = [
  {
    name: 'search',
    description: 'Finds pages.',
    inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
  },
]

const sessionOf = (budget: number): FullSession =>
  fullMemory({ store: mapStore(), budget, system: 'You are a travel agent.', laws: lawChecker }).session({
    userId: 'ada',
  })

/** One call: render, send, stream, parse, append. */
async function step(session: FullSession, client: Anthropic): Promise<Anthropic.Message> {
  const request = toAnthropic(await session.context({ tools, tail: 'Be brief.' }))
  const reply = await client.messages
    .stream({ model: 'claude-fake', max_tokens: 500, ...request })
    .finalMessage()
  await session.append(parseAnthropicReply(reply))
  return reply
}

describe('the official Anthropic SDK', () => {
  it('sends a context, and its streamed reply comes back whole: reasoning, text and calls', async () => {
    const { server, client } = await open({
      reply: (_, count) =>
        count > 1
          ? [{ type: 'text', text: 'At 9:40.' }]
          : [
              { type: 'thinking', thinking: 'They travel.', signature: 'c2ln' },
              { type: 'text', text: 'Let me look.' },
              { type: 'tool_use', id: 'toolu_1', name: 'search', input: { query: 'Turin' } },
              { type: 'tool_use', id: 'toolu_2', name: 'search', input: {} },
            ],
    })
    const session = sessionOf(16_000)
    await session.append({ role: 'user', content: 'When does my train leave?' })
    await step(session, client)
    const [, reply] = await session.history()
    expect(reply?.content).toEqual([
      { type: 'reasoning', text: 'They travel.', signature: 'c2ln' },
      { type: 'text', text: 'Let me look.' },
      { type: 'tool-call', id: 'toolu_1', name: 'search', input: { query: 'Turin' } },
      { type: 'tool-call', id: 'toolu_2', name: 'search', input: {} },
    ])
    for (const callId of ['toolu_2', 'toolu_1'])
      await session.append({
        role: 'tool',
        content: [{ type: 'tool-result', callId, output: { leaves: '9:40' } }],
      })
    await step(session, client)
    expect((await session.history()).at(-1)?.content).toBe('At 9:40.')
    expect(server.refusals).toEqual([])
    expect(server.requests[1]?.messages[1]).toMatchObject({
      role: 'assistant',
      content: [{ type: 'thinking', signature: 'c2ln' }, {}, {}, {}],
    })
  })

  it('is never refused in a long conversation over a small budget, with tools, pictures and calls given up', async () => {
    const { server, client } = await open({
      reply: (_, count) =>
        count % 3 === 0
          ? [{ type: 'text', text: `Found ${'a train '.repeat(30)}${count}.` }]
          : [{ type: 'tool_use', id: `toolu_${count % 5}`, name: 'search', input: { query: `${count}` } }],
    })
    const session = sessionOf(2_000)
    for (let round = 0; round < 30; round++) {
      const url = 'https://pictures.test/dot.png'
      await session.append({
        role: 'user',
        content:
          round % 4 === 1
            ? [{ type: 'media', mediaType: 'image/png', url, tokens: 50 }]
            : round % 4 === 2
              ? ' '
              : `Round ${round}?`,
      })
      for (;;) {
        const { content, stop_reason } = await step(session, client)
        if (stop_reason !== 'tool_use') break
        // Now and then the user says something else instead.
        if (round % 7 === 3) break
        const [call] = content as [Anthropic.ToolUseBlock]
        const output = 'page '.repeat(round * 20)
        await session.append({ role: 'tool', content: [{ type: 'tool-result', callId: call.id, output }] })
      }
    }
    expect(server.requests.length).toBeGreaterThan(60)
    expect(server.refusals).toEqual([])
    const marks = server.requests.map(
      (request) => JSON.stringify(request).split('"cache_control":').length - 1,
    )
    expect(Math.max(...marks)).toBeLessThanOrEqual(4)
    expect(Math.min(...marks)).toBeGreaterThan(0)
  })

  it('learns of a refusal', async () => {
    const { server, client } = await open()
    const asked = client.messages.create({
      model: 'claude-fake',
      max_tokens: 10,
      messages: [{ role: 'assistant', content: 'Hi.' }],
    })
    await expect(asked).rejects.toBeInstanceOf(Anthropic.BadRequestError)
    expect(server.refusals).toEqual(['messages.0: the first message must use the "user" role'])
  })
})

describe('the fake server', () => {
  const user = (content: Anthropic.MessageParam['content']): Anthropic.MessageParam => ({
    role: 'user',
    content,
  })
  const use = { type: 'tool_use' as const, id: 'a', name: 'search', input: {} }
  const used: Anthropic.MessageParam = { role: 'assistant', content: [use] }
  const result = (tool_use_id: string) => ({ type: 'tool_result' as const, tool_use_id, content: 'ok' })
  const mark = { type: 'text' as const, text: 'x', cache_control: { type: 'ephemeral' as const } }

  it.each<[string, Partial<AnthropicRequest>]>([
    ['without max_tokens', { max_tokens: undefined as never }],
    ['without messages', { messages: [] }],
    ['that begins with the assistant', { messages: [{ role: 'assistant', content: 'Hi.' }, user('Hi.')] }],
    ['with a message of nothing', { messages: [user('Hi.'), user([])] }],
    ['with a temperature', { temperature: 1 } as never],
    [
      'with a document of the assistant',
      {
        messages: [
          user('Hi.'),
          {
            role: 'assistant',
            content: [
              { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } },
              mark,
            ] as never,
          },
          user('?'),
        ],
      },
    ],
    ['that ends with the assistant', { messages: [user('Hi.'), { role: 'assistant', content: 'Hi.' }] }],
    ['with a call and no result', { messages: [user('Hi.'), used, user('Hi?')] }],
    ['with a result and no call', { messages: [user([result('a')])] }],
    ['with a result after text', { messages: [user('Hi.'), used, user([mark, result('a')])] }],
    ['with two results of a call', { messages: [user('Hi.'), used, user([result('a'), result('a')])] }],
    ['with blank text', { messages: [user([{ type: 'text', text: ' ' }])] }],
    ['with five cache marks', { messages: [user([mark, mark, mark, mark, mark])] }],
    [
      'with reasoning that is not signed',
      {
        messages: [
          user('Hi.'),
          { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: '' }, mark] },
          user('?'),
        ],
      },
    ],
  ])('refuses a request %s', (_, more) => {
    const request = {
      model: 'claude-fake',
      max_tokens: 10,
      messages: [user('Hi.')],
      ...more,
    } as AnthropicRequest
    expect(anthropicProblem(request)).toBeTypeOf('string')
  })

  it('takes a plain one, and two messages of one role as one turn', () => {
    expect(
      anthropicProblem({ model: 'claude-fake', max_tokens: 10, messages: [user('Hi.'), user('Hi?')] }),
    ).toBeUndefined()
    expect(
      anthropicProblem({ model: 'claude-fake', max_tokens: 10, messages: [user([mark, mark, mark, mark])] }),
    ).toBeUndefined()
    expect(
      anthropicProblem({
        model: 'claude-fake',
        max_tokens: 10,
        messages: [user('Hi.'), used, user([result('a'), mark])],
      }),
    ).toBeUndefined()
  })
})
