import { inspect } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type OpenAICompatibleOptions,
  openAICompatibleModel,
} from '../../../../src/edge/models/openai-compatible.ts'
import { type Model, type ModelEvent, type ModelRequest, mapStore } from '../../../../src/index.ts'
import { webHost } from '../../../../src/platform/web.ts'
import type { Host } from '../../../../src/ports/host.ts'
import { fullMemory } from '../../../contract/full-memory.ts'
import { FAKE_USAGE, type FakeOpenAI, type FakeOpenAIOptions, fakeOpenAI } from '../../support/fake-openai.ts'

const KEY = 'sk-very-secret'
const SECRET = 'The launch code is 4711.'

const open: FakeOpenAI[] = []
afterEach(async () => {
  for (const fake of open.splice(0)) await fake.close()
})

/** Waits are noted and not waited for. */
function patient() {
  const waits: number[] = []
  const host = {
    ...webHost,
    timeout: (ms: number) => {
      waits.push(ms)
      return webHost.timeout(ms > 20_000 ? ms : 0)
    },
  }
  return { host, waits }
}

async function fake(options: FakeOpenAIOptions = {}): Promise<FakeOpenAI> {
  const server = await fakeOpenAI({ apiKey: KEY, ...options })
  open.push(server)
  return server
}

function modelOf({ url }: FakeOpenAI, options: Partial<OpenAICompatibleOptions> = {}): Model {
  return openAICompatibleModel({
    baseUrl: url,
    apiKey: KEY,
    modelId: 'gpt-fake',
    host: patient().host,
    random: () => 0.5,
    ...options,
  })
}

async function requestOf(): Promise<ModelRequest> {
  const session = fullMemory({ store: mapStore(), budget: 16_000, system: 'Be kind.' }).session({
    userId: 'ada',
  })
  await session.append({ role: 'user', content: SECRET })
  return { context: await session.context() }
}

async function eventsOf(model: Model, more: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.complete({ ...(await requestOf()), ...more })) events.push(event)
  return events
}

async function failing(
  model: Model,
  more: Partial<ModelRequest> = {},
): Promise<Error & Record<string, unknown>> {
  return (await eventsOf(model, more).then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  )) as Error & Record<string, unknown>
}

describe('a model behind a server that speaks Chat Completions', () => {
  it('makes its requests by its own `fetch`, beside others of the same server', async () => {
    const server = await fake()
    const asked: string[] = []
    const by = (name: string) =>
      modelOf(server, {
        fetch: (input, init) => {
          asked.push(name)
          return fetch(input, init)
        },
      })
    const [one, two] = [by('one'), by('two')]
    await Promise.all([eventsOf(two), eventsOf(one), eventsOf(modelOf(server)), eventsOf(one)])
    expect(asked.sort()).toEqual(['one', 'one', 'two'])
  })

  it('streams text, calls and usage, and sends requests that the server takes', async () => {
    const server = await fake({
      reply: () => ({
        text: 'Let me look.',
        calls: [{ id: 'call_a', name: 'search', input: { query: 'Turin' } }],
      }),
    })
    const session = fullMemory({ store: mapStore(), budget: 16_000 }).session({ userId: 'ada' })
    await session.append({ role: 'user', content: 'When does it leave?' })
    const tools = [{ name: 'search', inputSchema: { type: 'object' } }]
    const settings = { maxOutputTokens: 50, temperature: 0.5, toolChoice: 'required' as const }
    const events = await eventsOf(modelOf(server), { context: await session.context({ tools }), settings })
    expect(events.filter(({ type }) => type === 'text').length).toBeGreaterThan(1)
    expect(events.at(-1)).toMatchObject({
      type: 'finish',
      reason: 'tool-calls',
      usage: {
        inputTokens: FAKE_USAGE.prompt_tokens,
        cachedInputTokens: FAKE_USAGE.prompt_tokens_details.cached_tokens,
        outputTokens: FAKE_USAGE.completion_tokens,
      },
    })
    expect(server.refusals).toEqual([])
    expect(server.requests[0]).toMatchObject({
      model: 'gpt-fake',
      max_tokens: 50,
      temperature: 0.5,
      tool_choice: 'required',
      stream_options: { include_usage: true },
    })
    expect(server.headers[0]?.authorization).toBe(`Bearer ${KEY}`)
  })

  it('asks OpenAI itself with the field that its newer models take', async () => {
    let body = ''
    const model = openAICompatibleModel({
      baseUrl: 'https://api.openai.com/v1',
      modelId: 'gpt-5',
      host: webHost,
      retries: 0,
      fetch: async (_, init) => {
        body = String(init?.body)
        return new Response('{}', { status: 400 })
      },
    })
    await failing(model, { settings: { maxOutputTokens: 9 } })
    expect(JSON.parse(body)).toMatchObject({ max_completion_tokens: 9 })
    expect(JSON.parse(body)).not.toHaveProperty('max_tokens')
  })

  it.each([
    ['429', { status: 429, headers: { 'retry-after': '1' } }],
    ['500', { status: 500 }],
    ['503', { status: 503 }],
    ['a reset connection', 'reset'],
  ] as const)('tries again after %s, twice at most', async (_, mode) => {
    const server = await fake()
    server.modes.push(mode, mode)
    expect((await eventsOf(modelOf(server))).at(-1)).toMatchObject({ type: 'finish' })
    expect(server.requests).toHaveLength(3)
    server.modes.push(mode, mode, mode)
    expect((await failing(modelOf(server))).name).toBe('PlimsollError')
    expect(server.requests).toHaveLength(6)
  })

  it('draws each wait from twice the range of the one before, and keeps to what the server asks for', async () => {
    const server = await fake()
    const { host, waits } = patient()
    server.modes.push({ status: 500 }, { status: 500 })
    await eventsOf(modelOf(server, { host, random: () => 0.5 }))
    expect(waits.filter((ms) => ms < 20_000)).toEqual([250, 500])
    waits.length = 0
    server.modes.push({ status: 429, headers: { 'retry-after-ms': '2500' } })
    await eventsOf(modelOf(server, { host, random: () => 0.5 }))
    expect(waits.filter((ms) => ms < 20_000)).toEqual([3000])
  })

  it('says how long to wait where the server asks for more than it waits itself, and does not ask again', async () => {
    const server = await fake()
    server.modes.push({ status: 429, headers: { 'retry-after': '61' } })
    expect(await failing(modelOf(server))).toMatchObject({ code: 'ERR_RATE_LIMIT', retryAfter: 61 })
    const date = new Date(Date.now() + 900_000).toUTCString()
    server.modes.push({ status: 429, headers: { 'retry-after': date } })
    const { retryAfter } = await failing(modelOf(server))
    expect(Number(retryAfter)).toBeGreaterThan(800)
    expect(Number(retryAfter)).toBeLessThanOrEqual(900)
    expect(server.requests).toHaveLength(2)
  })

  it.each([
    [401, 'ERR_NOT_CONFIGURED'],
    [403, 'ERR_NOT_CONFIGURED'],
    [400, 'ERR_MODEL'],
    [404, 'ERR_MODEL'],
  ])('does not ask again after status %i: %s', async (status, code) => {
    const server = await fake()
    server.modes.push({ status })
    expect(await failing(modelOf(server))).toMatchObject({ code })
    expect(server.requests).toHaveLength(1)
  })

  it('names what the server calls the failure', async () => {
    const server = await fake()
    server.modes.push({
      status: 400,
      body: { error: { message: SECRET, type: 'x', code: 'context_length_exceeded' } },
    })
    expect((await failing(modelOf(server))).message).toBe(
      'model gpt-fake: its server answered with status 400 (context_length_exceeded)',
    )
  })

  it.each(['broken', 'cut', 'error-event'] as const)(
    'does not ask again once a reply has begun: %s',
    async (mode) => {
      const server = await fake({ reply: () => ({ text: 'One two three four.' }) })
      server.modes.push(mode)
      expect(await failing(modelOf(server))).toMatchObject({ code: 'ERR_MODEL' })
      expect(server.requests).toHaveLength(1)
    },
  )

  it.each([
    { status: 401, body: { error: { message: `no ${KEY}`, code: KEY } } },
    { status: 500 },
    { status: 429 },
    'reset',
    'broken',
    'error-event',
  ] as const)('tells neither key nor content in an error: %j', async (mode) => {
    const server = await fake({ reply: () => ({ text: 'One two three four.' }) })
    server.modes.push(mode)
    const told = inspect(await failing(modelOf(server, { retries: 0 })), { depth: 20 })
    expect(told).not.toContain(KEY)
    expect(told).not.toContain('4711')
  })

  it('does not follow a redirect, which would take the key along', async () => {
    const server = await fake()
    const other = await fake()
    server.modes.push({ status: 307, headers: { location: `${other.url}/chat/completions` } })
    expect(await failing(modelOf(server))).toMatchObject({ code: 'ERR_MODEL' })
    expect(other.requests).toEqual([])
  })

  it('does not wait without end for the first piece, nor for the next', async () => {
    const server = await fake({ reply: () => ({ text: 'One two three four.' }) })
    const timeouts = { first: 60, idle: 60 }
    server.modes.push('hangs')
    // Its limit passes once the server was asked, however long that takes here.
    const timeout: Host['timeout'] = (ms) => {
      const controller = webHost.controller()
      const asked = expect.poll(() => server.requests.length).toBe(1)
      void asked.then(() => controller.abort(`after ${ms} ms`))
      return { signal: controller.signal, clear: () => {} }
    }
    const first = modelOf(server, { host: { ...webHost, timeout }, timeouts })
    expect(await failing(first)).toMatchObject({ code: 'ERR_TIMEOUT', limit: 60 })
    server.modes.push('stalls')
    const idle = modelOf(server, { host: webHost, timeouts: { first: 5_000, idle: 60 } })
    expect(await failing(idle)).toMatchObject({ code: 'ERR_TIMEOUT', limit: 60 })
    expect(server.requests).toHaveLength(2)
    await expect.poll(() => server.left()).toBe(2)
  })

  it('lets a slow server finish, and a slow reader too', async () => {
    const server = await fake({ pauseMs: 30, reply: () => ({ text: 'One two three four five six.' }) })
    server.modes.push('slow')
    const limits: number[] = []
    let waiting = 0
    const timeout: Host['timeout'] = (ms) => {
      const { signal, clear } = webHost.timeout(60_000)
      limits.push(ms)
      waiting++
      return {
        signal,
        clear: () => {
          waiting--
          clear()
        },
      }
    }
    const host = { ...webHost, timeout }
    const model = modelOf(server, { host, timeouts: { first: 5_000, idle: 150 } })
    const events: ModelEvent[] = []
    for await (const event of model.complete(await requestOf())) {
      // Nothing is timed while the reader has a piece in hand.
      expect(waiting).toBe(0)
      events.push(event)
    }
    expect(events.at(-1)).toMatchObject({ message: { content: 'One two three four five six.' } })
    // Each piece has a limit of its own.
    expect(limits).toEqual([5_000, ...events.map(() => 150)])
  })

  it('stops with the reason of its signal: before, while it waits to try again, and in the middle', async () => {
    const server = await fake({ reply: () => ({ text: 'One two three four.' }) })
    const reason = new Error('stopped')
    expect(await failing(modelOf(server), { signal: AbortSignal.abort(reason) })).toBe(reason)
    expect(server.requests).toEqual([])
    server.modes.push({ status: 500 })
    const waiting = new AbortController()
    const model = modelOf(server, { host: webHost, random: () => 0.999 })
    const failed = failing(model, { signal: waiting.signal })
    await expect.poll(() => server.requests.length).toBe(1)
    setTimeout(() => waiting.abort(reason), 50)
    expect(await failed).toBe(reason)
    expect(server.requests).toHaveLength(1)
    server.modes.push('stalls')
    const middle = new AbortController()
    const stopped = failing(modelOf(server, { host: webHost }), { signal: middle.signal })
    await expect.poll(() => server.requests.length).toBe(2)
    middle.abort(reason)
    expect(await stopped).toBe(reason)
    await expect.poll(() => server.left()).toBe(1)
  })
})
