import { describe, expect, it, vi } from 'vitest'
import { endpointModel } from '../../../src/chat/models/endpoint-model.ts'
import {
  findLanguageModel,
  type LanguageModelClass,
  type LanguageModelState,
} from '../../../src/chat/models/find-language-model.ts'
import { asModel } from '../../../src/chat/models/function-model.ts'
import { languageModel } from '../../../src/chat/models/language-model.ts'
import { Models } from '../../../src/chat/models/picker.ts'
import type { PlainMessage } from '../../../src/chat/settings.ts'
import { type Context, type Model, type ModelEvent, mapStore } from '../../../src/index.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { browser } from './support.ts'

async function contextOf(): Promise<Context> {
  const memory = fullMemory({ store: mapStore(), system: 'Be brief.', budget: 16_000 })
  const session = memory.session({ userId: 'ada' })
  await session.append([
    { role: 'user', content: 'Which trains?' },
    { role: 'assistant', content: [{ type: 'tool-call', id: 'c1', name: 'find', input: { to: 'Turin' } }] },
    { role: 'tool', content: [{ type: 'tool-result', callId: 'c1', output: ['9:40'] }] },
  ])
  return session.context()
}

async function eventsOf(model: Model, signal?: AbortSignal): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.complete({ context: await contextOf(), ...(signal && { signal }) }))
    events.push(event)
  return events
}

describe('a function as a model', () => {
  it('is given texts, and answers whole or as it comes', async () => {
    const seen: PlainMessage[] = []
    const whole = asModel((messages) => {
      seen.push(...messages)
      return 'At 9:40.'
    })
    expect(await eventsOf(whole)).toEqual([
      { type: 'text', text: 'At 9:40.' },
      { type: 'finish', message: { role: 'assistant', content: 'At 9:40.' }, reason: 'stop' },
    ])
    expect(seen[0]).toEqual({ role: 'system', content: 'Be brief.' })
    expect(seen.at(-1)?.role).toBe('user')
    expect(seen.at(-1)?.content).toContain('9:40')
    const pieces = asModel(async function* () {
      yield 'At '
      yield '9:40.'
    })
    expect((await eventsOf(pieces)).length).toBe(3)
  })

  it('may part characters, and is kept whole where it was cut in one', async () => {
    const parted = asModel(async function* () {
      yield '9:40 \ud83d'
      yield '\ude82 \ud83d'
    })
    expect((await eventsOf(parted)).at(-1)).toMatchObject({ message: { content: '9:40 \u{1f682} \ufffd' } })
  })

  it('learns when nobody waits any more', async () => {
    const controller = new AbortController()
    let aborted = false
    const model = asModel(async function* (_, { signal }) {
      yield 'One'
      controller.abort()
      aborted = signal.aborted
      yield 'two'
    })
    await expect(eventsOf(model, controller.signal)).rejects.toThrow()
    expect(aborted).toBe(true)
  })
})

describe('the browser’s own model', () => {
  const fake = (state: LanguageModelState) => {
    const created: unknown[] = []
    const sessions = { open: 0 }
    const given: LanguageModelClass = {
      availability: async () => state,
      create: async (options) => {
        created.push(options.initialPrompts)
        sessions.open++
        const monitor = new EventTarget()
        options.monitor?.(monitor)
        monitor.dispatchEvent(Object.assign(new Event('downloadprogress'), { loaded: 0.5 }))
        return {
          promptStreaming: (input) =>
            new ReadableStream({
              start(controller) {
                controller.enqueue(`You said ${input.length > 0}`)
                controller.close()
              },
            }),
          destroy: () => sessions.open--,
        }
      },
    }
    return { given, created, sessions }
  }

  it('is given the context, and let go of', async () => {
    const { given, created, sessions } = fake('available')
    const events = await eventsOf(languageModel(given))
    expect(events.at(-1)).toMatchObject({ type: 'finish', message: { content: 'You said true' } })
    expect((created[0] as PlainMessage[])[0]).toEqual({ role: 'system', content: 'Be brief.' })
    expect(sessions.open).toBe(0)
  })

  it('answers by itself where it is there already, and is downloaded when it is chosen', async () => {
    const parts = { given: () => undefined, platform: { fetch, newId: () => 'id' } }
    const there = new Models({ ...parts, languageModel: fake('available').given })
    expect((await there.current()).id).toBe('browser/language-model')
    const picker = new Models({ ...parts, languageModel: fake('downloadable').given })
    expect((await picker.current()).id).toBe('demo')
    const seen: unknown[] = []
    picker.subscribe(() => seen.push(picker.getSnapshot().options.find(({ kind }) => kind === 'browser')))
    await picker.choose('browser')
    expect(seen).toContainEqual({ kind: 'browser', state: 'downloading', progress: 0.5 })
    expect((await picker.current()).id).toBe('browser/language-model')
    await picker.choose('demo')
    expect(picker.describe()).toEqual({ id: 'demo', isDemo: true })
  })

  it.each([
    ['de-AT', 'de'],
    ['ar-EG', 'en'],
  ])('learns which language to answer in: where the browser speaks %s, %s', async (spoken, asked) => {
    const given: unknown[] = []
    vi.stubGlobal('navigator', { language: spoken })
    vi.stubGlobal('LanguageModel', {
      availability: async (options: unknown) => void given.push(options),
      create: async (options: unknown) => void given.push(options),
    })
    const found = findLanguageModel()
    await found?.availability()
    await found?.create({ initialPrompts: [] })
    vi.unstubAllGlobals()
    const expectedOutputs = [{ type: 'text', languages: [asked] }]
    expect(given).toEqual([{ expectedOutputs }, { expectedOutputs, initialPrompts: [] }])
  })

  it('is nowhere in browsers without it', async () => {
    const parts = { given: () => () => 'x', platform: { fetch, newId: () => 'id' } }
    const picker = new Models({ ...parts, languageModel: undefined })
    expect(picker.getSnapshot()).toMatchObject({ chosen: 'page' })
    expect(picker.getSnapshot().options.find(({ kind }) => kind === 'browser')?.state).toBe('unavailable')
  })
})

describe('a server and a key', () => {
  const KEY = 'sk-SWORDFISH'
  const endpoint = { url: 'https://models.test/v1/', key: KEY, model: 'tiny' }
  const streamed = (...chunks: readonly unknown[]): Response =>
    new Response(
      [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'].join(''),
    )

  it('streams texts and calls', async () => {
    const asked: { url: string; init: RequestInit }[] = []
    const model = endpointModel(endpoint, async (url, init) => {
      asked.push({ url, init })
      return streamed(
        { choices: [{ delta: { content: 'One ' } }] },
        { choices: [{ delta: { content: 'moment.' } }] },
        {
          choices: [
            {
              delta: {
                tool_calls: [{ index: 0, id: 'c1', function: { name: 'find', arguments: '{"to":' } }],
              },
            },
          ],
        },
        { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '"Turin"}' } }] } }] },
        { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
      )
    })
    const events = await eventsOf(model)
    expect(events.map(({ type }) => type)).toEqual(['text', 'text', 'finish'])
    expect(events.at(-1)).toMatchObject({
      reason: 'tool-calls',
      message: {
        content: [
          { type: 'text', text: 'One moment.' },
          { type: 'tool-call', id: 'c1', name: 'find', input: { to: 'Turin' } },
        ],
      },
    })
    expect(asked[0]?.url).toBe('https://models.test/v1/chat/completions')
    expect(asked[0]?.init.headers).toMatchObject({ authorization: `Bearer ${KEY}` })
    expect(JSON.parse(String(asked[0]?.init.body))).toMatchObject({ model: 'tiny', stream: true })
  })

  it('never says the key in an error', async () => {
    const failures = [
      async () => new Response(`bad key ${KEY}`, { status: 401 }),
      async () => {
        throw new TypeError(`cannot fetch https://models.test/?key=${KEY}`)
      },
      async () => new Response(`data: ${KEY}\n\n`),
      async () => streamed(),
    ]
    for (const post of failures) {
      const error = await eventsOf(endpointModel(endpoint, post)).catch((error: unknown) => error)
      expect(error).toMatchObject({ code: 'ERR_MODEL' })
      expect(`${(error as Error).message} ${(error as Error).stack} ${(error as Error).cause}`).not.toContain(
        KEY,
      )
    }
  })

  it.for([401, 500])('says in an error which status it answered with: %i', async (status) => {
    const failing = endpointModel(endpoint, async () => new Response(null, { status }))
    const message = `endpoint: the model answered with status ${status}`
    await expect(eventsOf(failing)).rejects.toMatchObject({ code: 'ERR_MODEL', message })
  })
})

describe('a service', () => {
  it.each([
    [{ demo: true }, { id: 'demo', isDemo: true }],
    [{ demo: false }, undefined],
    [{}, undefined],
  ])('whose health is %j is told as %j', async (health, model) => {
    const asked: string[] = []
    const fetch = async (input: RequestInfo | URL): Promise<Response> => {
      const { pathname } = new URL(String(input instanceof Request ? input.url : input))
      asked.push(pathname)
      return pathname === '/health'
        ? Response.json({ status: 'ok', ...health })
        : new Response(null, { status: 404 })
    }
    const chat = browser().open({ src: 'https://edge.test', platform: { fetch }, getToken: () => 'token' })
    await chat.conversation.create()
    await expect.poll(() => asked.filter((path) => path === '/health').length).toBe(1)
    await expect.poll(() => chat.conversation.getSnapshot().model).toEqual(model)
    // What answers is asked once.
    await chat.conversation.create()
    expect(asked.filter((path) => path === '/health').length).toBe(1)
    expect(chat.conversation.getSnapshot().model).toEqual(model)
    await chat.conversation.create({ home: 'local' })
    expect(chat.conversation.getSnapshot().model).toEqual({ id: 'demo', isDemo: true })
    await chat.close()
  })

  it('that did not answer is asked again with the next conversation', async () => {
    let isThere = false
    const fetch = async (input: RequestInfo | URL): Promise<Response> => {
      if (!String(input instanceof Request ? input.url : input).endsWith('/health') || !isThere)
        return new Response(null, { status: 403 })
      return Response.json({ status: 'ok', demo: true })
    }
    const chat = browser().open({ src: 'https://edge.test', platform: { fetch }, getToken: () => 'token' })
    await chat.conversation.create()
    expect(chat.conversation.getSnapshot().model).toBe(undefined)
    isThere = true
    await expect
      .poll(async () => {
        await chat.conversation.create()
        return chat.conversation.getSnapshot().model?.isDemo
      })
      .toBe(true)
    await chat.close()
  })
})
