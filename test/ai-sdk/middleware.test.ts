import { generateText, isStepCount, jsonSchema, streamText, type ToolSet, tool, wrapLanguageModel } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { memoryMiddleware } from '../../src/bridges/ai-sdk/index.ts'
import { defaultCounter, mapStore } from '../../src/index.ts'
import { textOf } from '../../src/kernel/log/message.ts'
import { type FullSession, fullMemory } from '../contract/full-memory.ts'
import { promptTokens } from './count.ts'
import { expectPaired } from './prompts.ts'
import { called, said, scripted, streamOfParts, usage } from './scripted.ts'

const sessionOf = (options: { budget?: number; system?: string } = {}): FullSession =>
  fullMemory({ store: mapStore(), budget: 16_000, ...options }).session({
    userId: 'ada',
    sessionId: 'trip',
  })

const said_ = async (session: FullSession): Promise<unknown[]> =>
  (await session.history({ messages: 1_000 })).map(({ role, content }) =>
    typeof content === 'string' ? `${role}: ${content}` : role,
  )

const tools: ToolSet = {
  search: tool({
    inputSchema: jsonSchema<{ n: number }>({ type: 'object', properties: { n: { type: 'number' } } }),
    execute: async ({ n }) => `page ${n}: ${'word '.repeat(3_000)}`,
  }),
}

describe('a model with a memory around it', () => {
  it('remembers what an app says that sends only what is new', async () => {
    const session = sessionOf()
    const inner = scripted([[said('Hello.')], [said('Ada.')], [said('Yes.')]])
    const model = wrapLanguageModel({ model: inner, middleware: memoryMiddleware(session) })
    await generateText({ model, prompt: 'I am Ada.' })
    await generateText({ model, prompt: 'Who am I?' })
    await generateText({ model, prompt: 'Who am I?' })
    expect(await said_(session)).toEqual([
      'user: I am Ada.',
      'assistant: Hello.',
      'user: Who am I?',
      'assistant: Ada.',
      'user: Who am I?',
      'assistant: Yes.',
    ])
    expect(inner.requests[1]?.prompt).toHaveLength(3)
  })

  it('tells known messages from new ones where an app sends the whole conversation', async () => {
    const session = sessionOf()
    const inner = scripted([[said('Fine.')], [said('Fine.')]])
    const model = wrapLanguageModel({ model: inner, middleware: memoryMiddleware(session) })
    await generateText({ model, messages: [{ role: 'user', content: 'Yes' }] })
    await generateText({
      model,
      messages: [
        { role: 'user', content: 'Yes' },
        { role: 'assistant', content: 'Fine.' },
        { role: 'user', content: 'Yes' },
      ],
    })
    expect(await said_(session)).toEqual(['user: Yes', 'assistant: Fine.', 'user: Yes', 'assistant: Fine.'])
  })

  it('keeps a tool loop under the cap, its pairs whole and its log without repeats', async () => {
    const session = sessionOf()
    const inner = scripted((call) =>
      call < 60 ? [said(`Step ${call}`), called(`c${call}`, 'search', { n: call })] : [said('Done.')],
    )
    const model = wrapLanguageModel({ model: inner, middleware: memoryMiddleware(session) })
    await streamText({ model, tools, prompt: 'Read.', stopWhen: isStepCount(100) }).consumeStream()
    expect(inner.requests).toHaveLength(61)
    for (const request of inner.requests) {
      expectPaired(request.prompt)
      expect(promptTokens(defaultCounter, request)).toBeLessThanOrEqual(16_000)
    }
    expect(await said_(session)).toHaveLength(1 + 60 * 2 + 1)
  })

  it('writes nothing twice when a call that failed is made again', async () => {
    const session = sessionOf()
    let calls = 0
    const inner = new MockLanguageModelV4({
      doGenerate: async () => {
        if (calls++ === 0) throw new Error('overloaded')
        return {
          content: [said('Hello.')],
          usage,
          finishReason: { unified: 'stop', raw: undefined },
          warnings: [],
        }
      },
    })
    const model = wrapLanguageModel({ model: inner, middleware: memoryMiddleware(session) })
    await expect(generateText({ model, prompt: 'Hi', maxRetries: 0 })).rejects.toThrow('overloaded')
    await generateText({ model, prompt: 'Hi' })
    expect(await said_(session)).toEqual(['user: Hi', 'assistant: Hello.'])
  })

  it('does not write a reply that ended with an error', async () => {
    const session = sessionOf()
    const inner = new MockLanguageModelV4({
      doStream: async () => ({
        stream: streamOfParts([
          { type: 'text-start', id: '0' },
          { type: 'text-delta', id: '0', delta: 'At' },
          { type: 'finish', usage, finishReason: { unified: 'error', raw: undefined } },
        ]),
      }),
    })
    const model = wrapLanguageModel({ model: inner, middleware: memoryMiddleware(session) })
    await streamText({ model, prompt: 'Hi' }).consumeStream()
    expect(await said_(session)).toEqual(['user: Hi'])
  })

  it('finds where a prompt goes on beside messages that say nothing, in it and in the log', async () => {
    const user = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })
    const blank = { role: 'assistant' as const, content: [{ type: 'text' as const, text: '' }] }
    const opaque = { type: 'opaque' as const, provider: 'ai-sdk', value: { type: 'custom' } }
    const silent = { role: 'assistant' as const, content: [opaque] }
    for (const [log, prompt, expected] of [
      [[user('A')], [blank, user('A'), user('B')], ['A', 'B']],
      [
        [user('A'), silent],
        [user('A'), user('B')],
        ['A', 'B'],
      ],
      [
        [user('A'), user('B')],
        [user('A'), blank],
        ['A', 'B', 'A'],
      ],
      [[user('A')], [], ['A']],
    ] as const) {
      const session = sessionOf()
      await session.append(log)
      const inner = scripted(() => [])
      const model = wrapLanguageModel({ model: inner, middleware: memoryMiddleware(session) })
      await model.doGenerate({ prompt: [...prompt] as never })
      const said = (await session.history()).filter(({ role }) => role === 'user')
      expect(said.map(({ content }) => textOf({ content }))).toEqual(expected)
    }
  })

  it('refuses options that there are none of', () => {
    const own = [{ tools: [] }, { preview: true }, { newEpoch: true }]
    for (const given of [...own, { cache: 'yes' }, { unknown: 1 }, 5, null] as never[])
      expect(() => memoryMiddleware(sessionOf(), given)).toThrowError(
        expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }),
      )
  })

  it('refuses a system text that is not its own', async () => {
    const model = wrapLanguageModel({
      model: scripted([]),
      middleware: memoryMiddleware(sessionOf({ system: 'Be kind.' })),
    })
    await expect(generateText({ model, instructions: 'Be rude.', prompt: 'Hi' })).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
    })
    const kind = sessionOf({ system: 'Be kind.' })
    const other = wrapLanguageModel({
      model: scripted([[said('Hello.')]]),
      middleware: memoryMiddleware(kind),
    })
    await generateText({ model: other, instructions: 'Be kind.', prompt: 'Hi' })
    expect(await said_(kind)).toEqual(['user: Hi', 'assistant: Hello.'])
  })
})
