import { expect, it, vi } from 'vitest'
import { currentModel } from '../../src/bridges/ai-sdk/current-model.ts'
import { asOlder, currentOf, ownMessages } from '../../src/bridges/ai-sdk/older.ts'
import { createMemory, type ModelEvent, mapStore } from '../../src/index.ts'

it('gives AI SDK 5 and 6 the system text, and files as they take them', () => {
  const url = new URL('https://example.org/a.png')
  const file = { type: 'file' as const, mediaType: 'image/png' }
  const { system, messages } = asOlder({
    instructions: [
      { role: 'system', content: 'One.' },
      { role: 'system', content: 'Two.' },
    ],
    messages: [
      { role: 'user', content: 'Plain.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See.' },
          { ...file, data: { type: 'data', data: 'AAEC' } },
          { ...file, data: { type: 'url', url } },
          { ...file, data: { type: 'reference', reference: { openai: 'file_1' } } },
          { ...file, data: 'AAEC' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'custom', kind: 'test.note' },
          { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'AAEC' } },
          { type: 'text', text: 'Seen.' },
        ],
      },
    ],
  })
  expect(system).toBe('One.\n\nTwo.')
  expect(messages).toEqual([
    { role: 'user', content: 'Plain.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'See.' },
        { ...file, data: 'AAEC' },
        { ...file, data: url },
        { type: 'text', text: '[file]' },
        { ...file, data: 'AAEC' },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'Seen.' }] },
  ])
  expect(asOlder({ messages: [] })).toEqual({ messages: [] })
})

it('takes of the messages of all steps those of the last one, if it said anything', () => {
  const call = { role: 'assistant' as const, content: 'Looking.' }
  const result = { role: 'tool' as const, content: [] }
  const all = [call, result, { role: 'assistant' as const, content: 'Done.' }, result]
  const text = (value: string) => ({ type: 'text', text: value })
  expect(ownMessages([text('Done.')], all)).toEqual(all.slice(2))
  expect(ownMessages([text(''), { type: 'tool-call' }], all)).toEqual(all.slice(2))
  for (const nothing of [[], [text('')], [{ type: 'source' }]]) expect(ownMessages(nothing, all)).toEqual([])
})

it('reads the streams of models of the second and the third specification', async () => {
  const usage = { inputTokens: 5, outputTokens: 3, totalTokens: 8, cachedInputTokens: 4, reasoningTokens: 1 }
  const ends = [
    { finishReason: 'length', usage },
    {
      finishReason: { unified: 'length', raw: 'max' },
      usage: { inputTokens: { total: 5, cacheRead: 4 }, outputTokens: { total: 3 } },
    },
  ]
  const session = createMemory({ store: mapStore() }).session({ userId: 'ada' })
  await session.append({
    role: 'user',
    content: [{ type: 'media', mediaType: 'image/png', url: 'data:image/png;base64,AAEC' }],
  })
  for (const [at, end] of ends.entries()) {
    const prompts: unknown[] = []
    const model = {
      specificationVersion: `v${at + 2}`,
      provider: 'test',
      modelId: 'older',
      supportedUrls: {},
      doGenerate() {},
      async doStream({ prompt }: { readonly prompt: unknown }) {
        prompts.push(prompt)
        const parts = [
          { type: 'text-start', id: 't' },
          { type: 'text-delta', id: 't', delta: 'Cut' },
          { type: 'text-end', id: 't' },
          { type: 'finish', ...end },
        ]
        return { stream: ReadableStream.from(parts) }
      },
    }
    const events: ModelEvent[] = []
    for await (const event of currentModel(currentOf(model as never), {}).complete({
      context: await session.context(),
    }))
      events.push(event)
    expect(events.at(-1)).toMatchObject({
      type: 'finish',
      reason: 'length',
      message: { content: 'Cut' },
      usage: { inputTokens: 5, cachedInputTokens: 4, outputTokens: 3 },
    })
    expect(prompts).toEqual([
      [{ role: 'user', content: [expect.objectContaining({ type: 'file', data: 'AAEC' })] }],
    ])
  }
})

it('hooks into the loop of AI SDK 6, whose responses have the messages of all steps', async () => {
  vi.doMock('ai', async (actual) => ({ ...(await actual<object>()), isStepCount: undefined }))
  vi.resetModules()
  try {
    const { memoryLoop } = await import('../../src/bridges/ai-sdk/index.ts')
    const session = createMemory({ store: mapStore(), system: 'Be brief.' }).session({ userId: 'ada' })
    await session.append([
      { role: 'user', content: 'Delete it.' },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'remove', input: {} }] },
    ])
    const approval = { state: 'approval-responded', approval: { id: 'x', approved: true } }
    const part = { type: 'tool-remove', toolCallId: 'c', input: {}, ...approval }
    const chat = [{ id: 'a', role: 'assistant', parts: [part] }] as never
    const loop = await memoryLoop(session, { messages: chat })
    expect(loop.messages.map(({ role }) => role)).toEqual(['assistant', 'tool'])
    const model = { provider: 'test', modelId: 'm' } as never
    const removed = {
      role: 'tool' as const,
      content: [
        {
          type: 'tool-result' as const,
          toolCallId: 'c',
          toolName: 'remove',
          output: { type: 'text' as const, value: 'removed' },
        },
      ],
    }
    const begun = [...loop.messages, removed]
    const first = await loop.prepareStep({ model, steps: [], messages: begun })
    expect(first).toMatchObject({ system: 'Be brief.' })
    expect(first).not.toHaveProperty('instructions')
    const said = (text: string) => ({ role: 'assistant' as const, content: text })
    const step = (id: string, text: string, messages: readonly never[]) => ({
      content: [{ type: 'text', text }],
      response: { id, messages },
    })
    const steps = [step('r1', 'One.', [removed, said('One.')] as never)]
    await loop.onStepFinish?.(steps[0] as never)
    await loop.prepareStep({ model, steps, messages: [...begun, said('One.')] })
    const last = step('r2', 'Two.', [removed, said('One.'), said('Two.')] as never)
    await loop.onStepFinish?.(last)
    await loop.settled()
    expect(
      (await session.history()).map(({ role, content }) => (typeof content === 'string' ? content : role)),
    ).toEqual(['Delete it.', 'assistant', 'tool', 'One.', 'Two.'])
    const again = await memoryLoop(session)
    expect(again.system).toBe('Be brief.')
    expect(again).not.toHaveProperty('instructions')
  } finally {
    vi.doUnmock('ai')
    vi.resetModules()
  }
})

it('gives AI SDK 7 its own words', async () => {
  const { memoryLoop } = await import('../../src/bridges/ai-sdk/index.ts')
  const session = createMemory({ store: mapStore(), system: 'Be brief.' }).session({ userId: 'ada' })
  await session.append({ role: 'user', content: 'Hello.' })
  const loop = await memoryLoop(session)
  const first = await loop.prepareStep({ model: {} as never, steps: [], messages: [], responseMessages: [] })
  for (const request of [loop, first]) {
    expect(request.instructions).toHaveLength(1)
    expect(request).not.toHaveProperty('system')
  }
  expect(loop).not.toHaveProperty('onStepFinish')
})
