import { describe, expect, it } from 'vitest'
import { createClient } from '../../../../src/client/index.ts'
import { mapStore, toAnthropic, toOpenAI } from '../../../../src/index.ts'
import { toWire } from '../../../../src/ports/wire.ts'
import { fullMemory } from '../../../contract/full-memory.ts'
import { json, problem, scene } from './support.ts'

describe('a context from the edge', () => {
  it('renders to the same bytes as at the edge', async () => {
    const memory = fullMemory({ store: mapStore(), system: 'Be kind.', budget: 4_000 })
    const session = memory.session({ userId: 'ada', sessionId: 'trip' })
    for (let round = 0; round < 40; round++)
      await session.append([
        { role: 'user', content: `Question ${round}?` },
        {
          role: 'assistant',
          content: [{ type: 'tool-call', id: 'c', name: 'find', input: { inRoom: [round] } }],
        },
        {
          role: 'tool',
          content: [{ type: 'tool-result', callId: 'c', output: { some_key: 'x'.repeat(200) } }],
        },
        { role: 'assistant', content: `Answer ${round}.` },
      ])
    const tools = [{ name: 'find', inputSchema: { type: 'object', properties: { inRoom: {} } } }]
    const context = await session.context({ tools })
    const { client } = scene([json(toWire(context))])
    const received = await client.session('trip').context({ tools })
    expect(received).toEqual(context)
    for (const render of [toAnthropic, toOpenAI])
      expect(JSON.stringify(render(received))).toBe(JSON.stringify(render(context)))
  })
})

describe('a request', () => {
  it('is of the address that was given, without slashes at its end', async () => {
    const { client, sent } = scene([json({ sessions: [] })], { baseUrl: 'https://edge.test/api//' })
    await client.sessions.list({ after: 'a&b=ü' })
    await client.health()
    expect(sent.map(({ url }) => url)).toEqual([
      'https://edge.test/api/v1/sessions?after=a%26b%3D%C3%BC',
      'https://edge.test/api/health',
    ])
  })

  it('has no token where the app gives none, and is refused once by an edge that asks for one', async () => {
    const sent: Headers[] = []
    const client = createClient({
      baseUrl: 'https://edge.test',
      fetch: async (_, { headers }) => {
        sent.push(new Headers(headers))
        return sent.length === 1 ? json({ sessions: [] }) : problem(401, { code: 'ERR_UNAUTHENTICATED' })
      },
    })
    expect(await client.sessions.list()).toEqual([])
    await expect(client.sessions.list()).rejects.toMatchObject({ code: 'ERR_UNAUTHENTICATED' })
    expect(sent.map((headers) => headers.has('authorization'))).toEqual([false, false])
  })

  it('has a body in snake_case, without what is the call’s own', async () => {
    const { client, sent } = scene([json({})])
    const signal = new AbortController().signal
    await client
      .session('trip')
      .context({ newEpoch: true, onPending: 'abandon', signal, timeoutMs: 30_000, opId: 'mine' })
    expect(JSON.parse(sent[0]?.body ?? '')).toEqual({ new_epoch: true, on_pending: 'abandon' })
    expect(sent[0]?.headers.get('idempotency-key')).toBe('mine')
    expect(sent[0]?.headers.get('content-type')).toBe('application/json')
    expect(sent[0]?.headers.get('accept')).toBe('application/json')
  })

  it('that reads has no op id, and its options as its query', async () => {
    const { client, sent } = scene([json({ facts: [] })])
    await client
      .session('trip')
      .facts.list({ kinds: ['finding', 'blocker'], all: true, first: 5, timeoutMs: 30_000 })
    expect(sent[0]?.url).toBe(
      'https://edge.test/v1/sessions/trip/facts?kinds=finding%2Cblocker&all=true&first=5',
    )
    expect(sent[0]?.headers.has('idempotency-key')).toBe(false)
  })

  it('names itself by a UUIDv7 unless the app names it', async () => {
    const keys: (string | null)[] = []
    const client = createClient({
      baseUrl: 'https://edge.test',
      token: 'secret',
      fetch: async (_, { headers }) => {
        keys.push(new Headers(headers).get('idempotency-key'))
        return json({})
      },
    })
    const before = Date.now()
    for (let count = 0; count < 50; count++) await client.session('trip').compact()
    expect(new Set(keys).size).toBe(50)
    for (const key of keys) {
      expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      const time = Number.parseInt((key ?? '').replaceAll('-', '').slice(0, 12), 16)
      expect(time).toBeGreaterThanOrEqual(before)
      expect(time).toBeLessThanOrEqual(Date.now())
    }
  })
})
