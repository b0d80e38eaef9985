/** The tool loops of AI SDK 5, 6 and 7, over one session: this file runs once with each. */
import { generateText, jsonSchema, stepCountIs, streamText, tool, type UIMessage } from 'ai'
import { expect, it } from 'vitest'
import {
  aiSdkModel,
  appendUIMessages,
  compact,
  memoryLoop,
  prepareStep,
  writeStep,
} from '../../../src/bridges/ai-sdk/index.ts'
import { compaction, createMemory, mapStore, type Session, utf8Bound } from '../../../src/index.ts'
import { promptTokens } from '../../ai-sdk/count.ts'
import { brokenRules } from '../../ai-sdk/rules.ts'
import { MAJOR, type Reply, scripted } from './model.ts'

const sessionOf = (options: object = {}): Session =>
  createMemory({ store: mapStore(), budget: 16_000, ...options }).session({
    userId: 'ada',
    sessionId: 'trip',
  })
const tools = {
  read: tool({
    description: 'Reads a file.',
    inputSchema: jsonSchema<{ file: string }>({ type: 'object', properties: { file: { type: 'string' } } }),
    execute: async ({ file }) => `${file}: ${'line '.repeat(300)}`,
  }),
}
const read = (call: number): Reply => ({
  text: `Reading ${call}.`,
  calls: [{ toolCallId: `c${call}`, toolName: 'read', input: { file: `${call}.ts` } }],
})
const textsOf = async (session: Session): Promise<string[]> =>
  (await session.history({ messages: 1_000 })).map(({ role, content }) =>
    typeof content === 'string'
      ? `${role}: ${content}`
      : `${role}: ${content.flatMap(({ type }) => (type === 'opaque' ? [] : type)).join(' ')}`,
  )

it(`runs with AI SDK ${process.env.AI_SDK}`, () => {
  expect(String(MAJOR)).toBe(process.env.AI_SDK)
})

for (const kind of ['streamText', 'generateText'] as const)
  it(`keeps each request of ${kind} under the cap and whole, and each message once, over many turns`, async () => {
    const budget = 6_000
    const session = sessionOf({ budget, counter: utf8Bound, system: 'You are brief.' })
    const steps = 20
    let turn = 0
    let asked = 0
    const { model, requests } = scripted(() =>
      ++asked % steps === 0 ? { text: `Done ${turn}.` } : read(asked),
    )
    for (; turn < 4; turn++) {
      await session.append({ role: 'user', content: `Task ${turn}.` })
      const loop = await memoryLoop(session, { tools })
      if (kind === 'generateText') {
        const { text } = await generateText({ model, tools, stopWhen: stepCountIs(50), ...loop })
        expect(text).toBe(`Done ${turn}.`)
      } else {
        const result = streamText({ model, tools, stopWhen: stepCountIs(50), ...loop })
        await result.consumeStream()
        expect(await result.text).toBe(`Done ${turn}.`)
      }
      await loop.settled()
    }
    expect(requests).toHaveLength(4 * steps)
    for (const request of requests) {
      expect(promptTokens(utf8Bound, request as never)).toBeLessThanOrEqual(budget)
      expect(brokenRules(request.prompt as never)).toEqual([])
      expect(request.prompt[0]).toMatchObject({ role: 'system', content: 'You are brief.' })
    }
    const texts = await textsOf(session)
    expect(texts).toHaveLength(4 * 2 * steps)
    expect(texts.filter((text) => text.startsWith('tool'))).toHaveLength(4 * (steps - 1))
    expect(texts.at(-1)).toBe('assistant: Done 3.')
    const last = requests.at(-1)?.prompt ?? []
    expect(JSON.stringify(last)).toContain('Task 3.')
  })

it('writes steps that say nothing new once, by the halves of the loop too', async () => {
  const session = sessionOf()
  await session.append({ role: 'user', content: 'Look.' })
  const { model, requests } = scripted((call) => (call === 0 ? read(0) : { text: '' }))
  const on = { onStepEnd: writeStep(session), onStepFinish: writeStep(session) }
  const options = { prepareStep: prepareStep(session, { tools }), ...on }
  await generateText({ model, tools, stopWhen: stepCountIs(3), prompt: 'Look.', ...(options as object) })
  expect(requests).toHaveLength(2)
  expect(await textsOf(session)).toEqual(['user: Look.', 'assistant: text tool-call', 'tool: tool-result'])
})

it('reads and shows the messages of a chat, with a file', async () => {
  const session = sessionOf({ system: 'You are brief.' })
  const url = 'data:image/png;base64,iVBORw0KGgo='
  const messages: UIMessage[] = [
    {
      id: '1',
      role: 'user',
      parts: [
        { type: 'text', text: 'See.' },
        { type: 'file', mediaType: 'image/png', url },
      ],
    },
  ]
  const { model, requests } = scripted(() => ({ text: 'Seen.' }))
  for (let turn = 0; turn < 2; turn++) {
    const loop = await memoryLoop(session, { tools, messages })
    const result = streamText({ model, tools, ...loop })
    await result.consumeStream()
    await loop.settled()
    messages.push({ id: `r${turn}`, role: 'assistant', parts: [{ type: 'text', text: 'Seen.' }] })
    messages.push({ id: `u${turn}`, role: 'user', parts: [{ type: 'text', text: 'And now?' }] })
  }
  const [, user] = requests[0]?.prompt ?? []
  const [text, file] = (user?.content ?? []) as readonly Record<string, unknown>[]
  expect(text).toMatchObject({ type: 'text', text: 'See.' })
  expect(file).toMatchObject({ type: 'file', mediaType: 'image/png' })
  expect(JSON.stringify(file)).toContain('iVBORw0KGgo=')
  expect(await textsOf(session)).toEqual([
    'user: text media',
    'assistant: Seen.',
    'user: text',
    'assistant: Seen.',
  ])
  expect(await appendUIMessages(session, messages)).toEqual([])
})

it('compacts when it is asked to, keeps the log, and goes on from there', async () => {
  const session = sessionOf({
    use: [compaction()],
    window: { max: { tokens: 12_000 }, keep: { tokens: 1_500 } },
  })
  await session.append({ role: 'user', content: 'Read all of it.' })
  const { model, requests } = scripted((call) => (call % 12 === 11 ? { text: 'Done.' } : read(call)))
  const seen: number[] = []
  const loop = await memoryLoop(session, {
    tools,
    compactWhen: ({ tokens, stepNumber, cap }) => {
      expect(cap).toBe(16_000)
      seen[stepNumber] = Math.max(seen[stepNumber] ?? 0, tokens)
      return tokens > 3_000
    },
  })
  await generateText({ model, tools, stopWhen: stepCountIs(20), ...loop })
  expect(Math.max(...seen)).toBeLessThan(5_000)
  const before = await textsOf(session)
  const { tokensBefore, tokensAfter, omitted, summary, messages } = await compact(session, { tools })
  expect(tokensAfter).toBeLessThan(tokensBefore)
  expect(omitted.length + (summary?.covers.length ?? 0)).toBeGreaterThan(0)
  expect(messages.length).toBeGreaterThan(0)
  expect(await textsOf(session)).toEqual(before)
  await session.append({ role: 'user', content: 'And again?' })
  await generateText({ model, tools, stopWhen: stepCountIs(20), ...(await memoryLoop(session, { tools })) })
  for (const { prompt } of requests) expect(brokenRules(prompt as never)).toEqual([])
})

it('makes a model of the memory of a model of the SDK', async () => {
  const session = sessionOf()
  await session.append({ role: 'user', content: 'Hello.' })
  const { model, requests } = scripted(() => ({ text: 'Hi.' }))
  const events: object[] = []
  for await (const event of aiSdkModel(model).complete({ context: await session.context() }))
    events.push(event)
  expect(events.at(-1)).toMatchObject({
    type: 'finish',
    reason: 'stop',
    message: { role: 'assistant', content: 'Hi.' },
    usage: { inputTokens: 1, outputTokens: 1 },
  })
  expect(JSON.stringify(requests[0]?.prompt)).toContain('Hello.')
})

it.runIf(MAJOR > 5)('runs a tool that the user approved, and writes what it gave once', async () => {
  const session = sessionOf()
  await session.append({ role: 'user', content: 'Delete it.' })
  const guarded = { remove: { ...tools.read, needsApproval: true, execute: async () => 'removed' } }
  const call = { toolCallId: 'c', toolName: 'remove', input: { file: 'a' } }
  const { model, requests } = scripted((at) => (at === 0 ? { calls: [call] } : { text: 'Done.' }))
  await generateText({ model, tools: guarded, ...(await memoryLoop(session, { tools: guarded })) })
  const messages = [
    {
      id: 'a',
      role: 'assistant',
      parts: [
        {
          type: 'tool-remove',
          toolCallId: 'c',
          state: 'approval-responded',
          input: { file: 'a' },
          approval: { id: 'x', approved: true },
        },
      ],
    },
  ] as unknown as UIMessage[]
  const loop = await memoryLoop(session, { tools: guarded, messages })
  const result = streamText({ model, tools: guarded, stopWhen: stepCountIs(3), ...loop })
  await result.consumeStream()
  await loop.settled()
  expect(requests).toHaveLength(2)
  expect(brokenRules(requests[1]?.prompt as never)).toEqual([])
  expect(await textsOf(session)).toEqual([
    'user: Delete it.',
    'assistant: tool-call',
    'tool: tool-result',
    'assistant: Done.',
  ])
})
