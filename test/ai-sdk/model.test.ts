import { MockLanguageModelV3, MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { aiSdkModel } from '../../src/bridges/ai-sdk/index.ts'
import type { StreamPart } from '../../src/bridges/ai-sdk/types.ts'
import { type Model, type ModelEvent, type ModelRequest, mapStore } from '../../src/index.ts'
import { type FullSession, fullMemory } from '../contract/full-memory.ts'
import { searchTool } from '../render/samples.ts'
import { expectPaired } from './prompts.ts'
import { called, said, scripted, streamOf, streamOfParts, usage } from './scripted.ts'

const sessionOf = (): FullSession =>
  fullMemory({ store: mapStore(), budget: 16_000, system: 'Be kind.' }).session({ userId: 'ada' })

async function asked(): Promise<FullSession> {
  const session = sessionOf()
  await session.append({ role: 'user', content: 'When does my train leave?' })
  return session
}

async function eventsOf(model: Model, request: ModelRequest): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.complete(request)) events.push(event)
  return events
}

const finish: StreamPart = { type: 'finish', usage, finishReason: { unified: 'stop', raw: undefined } }

describe('a model of the SDK', () => {
  it('yields what comes as it comes, and last the whole reply with usage and reason', async () => {
    const session = await asked()
    const signed = { anthropic: { signature: 'c2ln' } }
    const model = scripted([
      [
        { type: 'reasoning', text: 'They travel.', providerMetadata: signed },
        said('Let me look.'),
        called('toolu_1', 'search', { query: 'trains' }),
      ],
    ])
    const events = await eventsOf(aiSdkModel(model), { context: await session.context() })
    const call = { type: 'tool-call', id: 'toolu_1', name: 'search', input: { query: 'trains' } }
    expect(events.map(({ type }) => type)).toEqual([
      'reasoning',
      'reasoning',
      'text',
      'text',
      'tool-call',
      'finish',
    ])
    expect(events[4]).toEqual({ type: 'tool-call', call })
    expect(events.at(-1)).toEqual({
      type: 'finish',
      message: {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'They travel.', signature: 'c2ln' },
          { type: 'text', text: 'Let me look.' },
          call,
        ],
      },
      usage: { inputTokens: 120, cachedInputTokens: 90, cacheWriteTokens: 10, outputTokens: 30 },
      reason: 'tool-calls',
    })
  })

  it.each([-5, 1.5, Number.POSITIVE_INFINITY, Number.NaN])(
    'whose server reports %d tokens has reported none of these',
    async (total) => {
      const context = await (await asked()).context()
      const counts = { ...usage, inputTokens: { ...usage.inputTokens, total } }
      const model = new MockLanguageModelV4({
        doStream: async () => ({ stream: streamOfParts([{ ...finish, usage: counts }]) }),
      })
      const [end] = await eventsOf(aiSdkModel(model), { context })
      expect(end).toMatchObject({
        usage: { cachedInputTokens: 90, cacheWriteTokens: 10, outputTokens: 30 },
      })
      expect(end).not.toHaveProperty('usage.inputTokens')
    },
  )

  it('that ends in the middle of a character has said the rest', async () => {
    const session = await asked()
    const model = scripted([
      [
        { type: 'reasoning', text: 'They travel \ud83d' },
        said('By \ud83d\ude82, then \ud83d'),
        called('1', 'search', { query: 'train \ud83d' }),
      ],
    ])
    const events = await eventsOf(aiSdkModel(model), { context: await session.context() })
    const end = events.at(-1)
    if (end?.type !== 'finish') throw new Error('no end')
    expect(end.message.content).toEqual([
      { type: 'reasoning', text: 'They travel \ufffd' },
      { type: 'text', text: 'By \ud83d\ude82, then \ufffd' },
      { type: 'tool-call', id: '1', name: 'search', input: { query: 'train \ufffd' } },
    ])
    await session.append(end.message)
  })

  it('is asked for the context, the tools and the settings', async () => {
    const session = await asked()
    const model = scripted([[]])
    const settings = {
      maxOutputTokens: 10,
      temperature: 0,
      stopSequences: ['END'],
      toolChoice: { name: 'search' },
    }
    const adapted = aiSdkModel(model, {
      providerOptions: { openai: { store: false } },
      headers: { 'x-id': '1' },
    })
    await eventsOf(adapted, { context: await session.context({ tools: [searchTool] }), settings })
    expect(model.requests[0]).toMatchObject({
      prompt: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: [{ type: 'text', text: 'When does my train leave?' }] },
      ],
      tools: [{ type: 'function', name: 'search', inputSchema: searchTool.inputSchema }],
      maxOutputTokens: 10,
      temperature: 0,
      stopSequences: ['END'],
      toolChoice: { type: 'tool', toolName: 'search' },
      providerOptions: { openai: { store: false } },
      headers: { 'x-id': '1' },
    })
  })

  it('goes on over steps: what it said goes back with its signatures, and results share one message', async () => {
    const session = await asked()
    const model = scripted([
      [
        { type: 'reasoning', text: '', providerMetadata: { openai: { itemId: 'rs_1' } } },
        called('c1', 'search', {}, { providerMetadata: { openai: { itemId: 'fc_1' } } }),
        called('c2', 'search', {}, { providerMetadata: { openai: { itemId: 'fc_2' } } }),
      ],
      [said('At nine.')],
    ])
    const adapted = aiSdkModel(model)
    const [event] = (await eventsOf(adapted, { context: await session.context() })).slice(-1)
    if (event?.type === 'finish') await session.append(event.message)
    for (const callId of ['c1', 'c2'])
      await session.append({
        role: 'tool',
        content: [{ type: 'tool-result', callId, output: `of ${callId}` }],
      })
    await eventsOf(adapted, { context: await session.context() })
    const { prompt = [] } = model.requests[1] ?? {}
    expectPaired(prompt)
    expect(prompt.slice(2)).toMatchObject([
      {
        content: [
          { type: 'reasoning', providerOptions: { openai: { itemId: 'rs_1' } } },
          { toolCallId: 'c1', providerOptions: { openai: { itemId: 'fc_1' } } },
          { toolCallId: 'c2' },
        ],
      },
      { role: 'tool', content: [{ toolCallId: 'c1' }, { toolCallId: 'c2' }] },
    ])
  })

  it.each([
    ['anthropic.messages', 'claude-sonnet-4-5', true],
    ['gateway', 'anthropic/claude-sonnet-4.5', true],
    ['openai.responses', 'gpt-5', false],
  ])('gets cache breakpoints from %s for %s: %s', async (provider, modelId, marked) => {
    const session = await asked()
    const model = scripted([[], []], { provider, modelId })
    await eventsOf(aiSdkModel(model), { context: await session.context() })
    await eventsOf(aiSdkModel(model, { cache: !marked }), { context: await session.context() })
    const [own, other] = model.requests.map(({ prompt }) => JSON.stringify(prompt).includes('cacheControl'))
    expect([own, other]).toEqual([marked, !marked])
  })

  it('is named by its provider and id, or as the app says', () => {
    const model = scripted([], { provider: 'openai', modelId: 'gpt-5' })
    expect(aiSdkModel(model).id).toBe('openai/gpt-5')
    expect(aiSdkModel(model, { id: 'fast' }).id).toBe('fast')
  })

  it('of an older specification works too', async () => {
    const session = await asked()
    const model = new MockLanguageModelV3({
      doStream: async () => ({ stream: streamOf([said('At nine.')]) as never }),
    })
    const events = await eventsOf(aiSdkModel(model), { context: await session.context() })
    expect(events.at(-1)).toMatchObject({ message: { content: 'At nine.' }, reason: 'stop' })
  })

  it('cannot be a string: ERR_INVALID_ARGUMENT', () => {
    expect(() => aiSdkModel('openai/gpt-5' as never)).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_ARGUMENT',
        message: expect.stringContaining('gateway'),
      }),
    )
    expect(() => aiSdkModel(scripted([]), { unknown: 1 } as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument: 'unknown' }),
    )
  })

  it('has a stream: ERR_INVALID_ARGUMENT where it has none', () => {
    for (const none of [null, {}, 5] as never[])
      expect(() => aiSdkModel(none)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }))
  })

  it('rejects with the error that the call, or the stream, brings', async () => {
    const context = await (await asked()).context()
    const failing = (doStream: MockLanguageModelV4['doStream']) =>
      eventsOf(aiSdkModel(new MockLanguageModelV4({ doStream })), { context })
    const overloaded = new Error('overloaded')
    await expect(failing(async () => Promise.reject(overloaded))).rejects.toBe(overloaded)
    await expect(
      failing(async () => ({ stream: streamOfParts([{ type: 'error', error: overloaded }, finish]) })),
    ).rejects.toBe(overloaded)
    const broken: StreamPart = { type: 'finish', usage, finishReason: { unified: 'error', raw: 'boom' } }
    await expect(failing(async () => ({ stream: streamOfParts([broken]) }))).rejects.toThrow('boom')
    await expect(failing(async () => ({ stream: streamOfParts([]) }))).rejects.toThrow('without a finish')
  })

  it('rejects when the signal aborts, whether the provider notices or not, and stops the provider', async () => {
    const context = await (await asked()).context()
    let given: AbortSignal | undefined
    let cancelled = false
    const model = new MockLanguageModelV4({
      doStream: async ({ abortSignal }) => {
        given = abortSignal
        return {
          stream: new ReadableStream({
            start: (controller) => controller.enqueue({ type: 'text-delta', id: '0', delta: 'At' }),
            cancel: () => {
              cancelled = true
            },
          }),
        }
      },
    })
    const stop = new AbortController()
    const events = aiSdkModel(model).complete({ context, signal: stop.signal })[Symbol.asyncIterator]()
    expect((await events.next()).value).toEqual({ type: 'text', text: 'At' })
    const reason = new Error('enough')
    stop.abort(reason)
    await expect(events.next()).rejects.toBe(reason)
    expect(given?.aborted).toBe(true)
    expect(cancelled).toBe(true)
    const never = aiSdkModel(new MockLanguageModelV4({ doStream: () => new Promise(() => {}) }))
    await expect(eventsOf(never, { context, signal: stop.signal })).rejects.toBe(reason)
  })

  it('stops the provider when its reader stops', async () => {
    const context = await (await asked()).context()
    let given: AbortSignal | undefined
    const model = new MockLanguageModelV4({
      doStream: async ({ abortSignal }) => {
        given = abortSignal
        return { stream: streamOf([said('At nine.')]) }
      },
    })
    for await (const _ of aiSdkModel(model).complete({ context })) break
    expect(given?.aborted).toBe(true)
  })

  it('keeps arguments that are not JSON as text, and none as an empty object', async () => {
    const context = await (await asked()).context()
    const model = scripted([
      [
        { ...called('a', 'search', {}), input: '' } as never,
        { ...called('b', 'search', {}), input: '{"q' } as never,
      ],
    ])
    const events = await eventsOf(aiSdkModel(model), { context })
    expect(events.flatMap((event) => (event.type === 'tool-call' ? [event.call.input] : []))).toEqual([
      {},
      '{"q',
    ])
  })
})
