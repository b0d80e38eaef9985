import { describe, expect, it } from 'vitest'
import { loadO200k } from '../../src/counters/o200k.ts'
import {
  type Context,
  charsPerToken,
  type Json,
  lintRequest,
  type MessageInput,
  mapStore,
  toAnthropic,
  toOpenAI,
  utf8Bound,
} from '../../src/index.ts'
import { assertFits } from '../../src/render/fits.ts'
import { type FullSession, fullMemory } from '../contract/full-memory.ts'

/** What users of other memories suffer from, one test a pain. */

const open = (options: Partial<Parameters<typeof fullMemory>[0]> = {}): FullSession =>
  fullMemory({ store: mapStore(), budget: 2_000, counter: utf8Bound, ...options }).session({
    userId: 'ada',
  })
const user = (content: string): MessageInput => ({ role: 'user', content })
const calls = (...ids: string[]): MessageInput => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool-call', id, name: 'find', input: { id } })),
})
const result = (callId: string, output: Json = 'found'): MessageInput => ({
  role: 'tool',
  content: [{ type: 'tool-result', callId, output }],
})
const lint = (context: Context): readonly unknown[] => [
  ...lintRequest(toOpenAI(context), 'openai'),
  ...lintRequest(toAnthropic(context), 'anthropic'),
]
const text = (context: Context): string => JSON.stringify(toOpenAI(context).messages)
const answered = ({
  blocks,
}: Context): { readonly calls: readonly string[]; readonly results: readonly string[] } => {
  const parts = blocks.flatMap((block) => block.parts)
  return {
    calls: parts.flatMap((part) => (part.type === 'tool-call' ? part.id : [])),
    results: parts.flatMap((part) => (part.type === 'tool-result' ? part.callId : [])),
  }
}

describe('a session is never made unusable by its tool traffic', () => {
  const broken: readonly (readonly [string, readonly MessageInput[]])[] = [
    ['a result without a call', [user('Go'), result('nobody'), user('And?')]],
    ['a log that begins with a result', [result('nobody'), user('Go')]],
    ['a call that was interrupted', [user('Go'), calls('a', 'b'), result('b'), user('Stop')]],
    ['a result that came twice', [user('Go'), calls('a'), result('a'), result('a', 'again'), user('And?')]],
    [
      'call ids that are used again in each step',
      [
        user('Go'),
        calls('c', 'c'),
        result('c', '1'),
        result('c', '2'),
        calls('c'),
        result('c', '3'),
        user('?'),
      ],
    ],
    ['a result that came after the next question', [user('Go'), calls('a'), user('And?'), result('a')]],
  ]
  for (const [name, messages] of broken)
    it(`by ${name}`, async () => {
      const session = open()
      for (const message of messages) await session.append(message)
      const context = await session.context()
      expect(lint(context)).toEqual([])
      const { calls, results } = answered(context)
      expect([...results].sort()).toEqual([...calls].sort())
      expect(new Set(calls).size).toBe(calls.length)
      expect((await session.history({ messages: 20 })).length).toBeGreaterThan(0)
    })
})

describe('trimming to the budget', () => {
  it('never takes away the result that the running agent just got, nor the question it works on', async () => {
    const session = open()
    await session.append(user('Find the train to Turin.'))
    for (let step = 0; step < 60; step++) {
      await session.append(calls(`call ${step}`))
      await session.append(result(`call ${step}`, `platform ${step} ${'.'.repeat(90)}`))
      const context = await session.context()
      expect(text(context)).toContain(`platform ${step} `)
      expect(text(context)).toContain('Find the train to Turin.')
      expect(lint(context)).toEqual([])
    }
  })

  it('never takes away all of a result that is larger than the budget', async () => {
    const session = open()
    await session.append([user('Go'), calls('a'), result('a', `begins ${'x'.repeat(100_000)}`)])
    const context = await session.context()
    expect(text(context)).toContain('begins ')
    expect(context.receipt.used).toBeLessThanOrEqual(2_000)
  })

  it('never leaves a hole in the middle: what shows is the end of the conversation, whole', async () => {
    const session = open()
    const ids = Array.from({ length: 12 }, (_, index) => `m${index}`)
    // One message that cannot stay, between small ones that could.
    for (const [index, id] of ids.entries())
      await session.append({ id, role: 'user', content: index === 5 ? 'x'.repeat(1_500) : `small ${index}` })
    const context = await session.context({ newEpoch: true })
    const shown = context.blocks.flatMap(({ from }) => from)
    expect(shown.length).toBeGreaterThan(3)
    expect(shown).toEqual(ids.slice(-shown.length))
    expect(context.receipt.omitted).toEqual([
      { from: 'm0', to: ids.at(-1 - shown.length), count: ids.length - shown.length, reason: 'window' },
    ])
  })

  it('by a number of messages cuts no pair of call and result', async () => {
    for (const messages of [2, 3, 4, 5, 7]) {
      const session = open({ budget: 100_000, window: { max: { messages } } })
      await session.append(user('Go'))
      for (let step = 0; step < 9; step++) {
        await session.append([calls('a'), result('a')])
        const context = await session.context()
        expect(lint(context)).toEqual([])
        const { calls: made, results } = answered(context)
        expect(results).toEqual(made)
        expect(made.length).toBeGreaterThan(0)
      }
    }
  })
})

describe('a budget that can never hold the request', () => {
  it('is refused at once, with the floor part by part, and nothing is written or tried again', async () => {
    const store = mapStore()
    const session = open({ store, budget: 300, system: 'x'.repeat(250) })
    await session.append(user('A question that is longer than what is left of the budget.'))
    const log = store.open({ userId: 'ada', sessionId: 'default' })
    const { seq } = await log.head()
    for (let attempt = 0; attempt < 3; attempt++) {
      const error = await session.context().catch((error: unknown) => error)
      expect(error).toMatchObject({
        code: 'ERR_BUDGET_TOO_SMALL',
        breakdown: { cap: 300, system: 254, user: 62 },
      })
      const { cap, floor, ...parts } = (error as { breakdown: { [part: string]: number } }).breakdown
      expect(floor).toBeGreaterThan(cap as number)
      expect(Object.values(parts).reduce((sum, tokens) => sum + tokens, 0)).toBe(floor)
    }
    expect((await log.head()).seq).toBe(seq)
    // The conversation is not lost: with more room it goes on.
    expect((await open({ store, budget: 2_000 }).context()).blocks.length).toBe(1)
  })

  it('is refused for its tools alone, too', async () => {
    const session = open({ budget: 300 })
    await session.append(user('Hello'))
    const tools = [{ name: 'find', description: 'x'.repeat(400), inputSchema: { type: 'object' } }]
    await expect(session.context({ tools })).rejects.toMatchObject({ code: 'ERR_BUDGET_TOO_SMALL' })
    expect((await session.context()).blocks.length).toBe(1)
  })
})

describe('tokens are counted', () => {
  it('of Chinese, Japanese and Korean text too: no request is larger than the model takes', async () => {
    const o200k = await loadO200k()
    for (const content of [
      '预订去都灵的火车票。',
      '旅行の予約をお願いします。',
      '여행 계획을 세워 주세요.',
      '🚆🧳🗺️',
    ])
      for (const counter of [o200k, utf8Bound]) {
        const session = open({ budget: 1_000, counter })
        for (let round = 0; round < 40; round++) {
          await session.append([user(content.repeat(6)), { role: 'assistant', content: content.repeat(3) }])
          assertFits(toOpenAI(await session.context()), o200k, 1_000)
        }
      }
  })

  it('of tools and system text too, in one sum that an estimate keeps a margin below', async () => {
    const tools = [
      { name: 'find', description: 'Finds trains. '.repeat(20), inputSchema: { type: 'object' } },
    ]
    const session = open({ budget: 1_000, counter: charsPerToken(4), system: 'Be kind. '.repeat(40) })
    for (let round = 0; round < 30; round++) await session.append(user(`${round} ${'word '.repeat(40)}`))
    const { receipt } = await session.context({ tools })
    const tokens = Object.fromEntries(receipt.sections.map((section) => [section.name, section.tokens]))
    expect(tokens.tools).toBeGreaterThan(70)
    expect(tokens.system).toBe(4 + 90)
    expect(receipt.margin).toBe(120)
    expect(receipt.used).toBe(Object.values(tokens).reduce((sum, one) => sum + one, 0))
    expect(receipt.used + receipt.margin).toBeLessThanOrEqual(1_000)
  })
})

describe('the prompt cache', () => {
  it('is kept though recalled text changes at every call: it goes to the end, never to the front', async () => {
    const session = open({ budget: 50_000, system: 'Be kind.' })
    let last: readonly string[] = []
    for (let call = 0; call < 12; call++) {
      await session.append(user(`Question ${call}`))
      const context = await session.context({ tail: `recalled: ${call * 7}` })
      const sent = toOpenAI(context).messages.map((message) => JSON.stringify(message))
      expect(sent.slice(0, last.length)).toEqual(last)
      expect(sent.at(-1)).toContain(`recalled: ${call * 7}`)
      last = sent.slice(0, -1)
      await session.append({ role: 'assistant', content: `Answer ${call}` })
    }
  })

  it('is lost once for many calls, not at every call, when the window is full', async () => {
    const session = open()
    const epochs = new Set<string>()
    for (let call = 0; call < 60; call++) {
      await session.append(user(`Question ${call} ${'.'.repeat(80)}`))
      epochs.add((await session.context()).epoch)
    }
    expect(epochs.size).toBeLessThanOrEqual(8)
  })
})

describe('structured outputs', () => {
  it('are shown as JSON, not as [object Object]', async () => {
    const session = open()
    const output = { trains: [{ platform: 4, at: '9:40' }], more: null }
    await session.append([user('Go'), calls('a', 'b'), result('a', output), result('b', [1, [2]])])
    const context = await session.context()
    for (const request of [toOpenAI(context), toAnthropic(context)]) {
      expect(JSON.stringify(request)).not.toContain('object Object')
      expect(JSON.stringify(request).replaceAll('\\', '')).toContain(JSON.stringify(output))
    }
  })

  it('are shown as JSON when they are capped, too', async () => {
    const session = open()
    const output = Array.from({ length: 400 }, (_, id) => ({ id, city: 'Torino' }))
    await session.append([user('Go'), calls('a'), result('a', output)])
    const context = await session.context()
    expect(context.blocks.at(-1)?.rule).toBe('capped')
    expect(text(context)).not.toContain('object Object')
    expect(text(context)).toContain('Torino')
  })
})
