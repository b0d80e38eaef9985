// Budget and compaction in one class: the rows of examples/from/README.md, one by one.
import { expect, test } from 'vitest'
import { calculate, classicCount, tokensOf } from '../../../examples/calculator-run.ts'
import {
  type AgentTool,
  type CompactEvent,
  type Context,
  charsPerToken,
  compaction,
  count,
  countMessage,
  createMemory,
  lintRequest,
  mapStore,
  overBudget,
  runAgent,
  scriptedModel,
  toAnthropic,
  tokens,
} from '../../../src/index.ts'
import { ADA, classic, exchange, step, windowTexts } from './rows.ts'

const SUMMARY = 'Ada asked about trains to Turin.'

function open(budget: number, options: object = {}, use: object = {}) {
  const model = scriptedModel([], { summaries: Array.from({ length: 30 }, () => SUMMARY) })
  const memory = createMemory({
    store: mapStore(),
    counter: classic,
    budget: { contextWindow: budget, maxOutputTokens: 0, margin: 0 },
    use: [compaction({ model, ...use })],
    ...options,
  })
  return { session: memory.session(ADA), model }
}

const long = (n: number) => [
  { role: 'user' as const, content: `Which train leaves at ${n}:00 for Turin?` },
  { role: 'assistant' as const, content: 'The one on platform 4, with a restaurant car.' },
]

async function talk(session: ReturnType<typeof open>['session'], rounds: number) {
  const events: CompactEvent[] = []
  session.compaction.subscribe((event) => events.push(event))
  for (let n = 1; n <= rounds; n++) {
    await session.append(long(n))
    await session.context()
    await session.compaction.settled()
  }
  return events
}

test('1. tokens of a text are estimated', () => {
  expect(['', 'a', 'abcdefgh', 'abcd'].map((text) => classic.count(text))).toEqual([0, 1, 2, 1])
})

test('2. tokens of a message are counted', () => {
  expect(countMessage(classic, { content: 'abcd' })).toBe(5)
})

test('3. 11, 18, 26, 37; length, tokens, over budget', async () => {
  // Eleven and what follows are the seed's own figures: a quarter of the letters, and four each.
  const counter = { ...classic, kind: 'exact' as const }
  const memory = createMemory({ store: mapStore(), counter, budget: 40, system: 'x'.repeat(28) })
  const session = memory.session(ADA)
  const sizes = [await tokens(session)]
  for (const [role, length] of [
    ['user', 12],
    ['assistant', 16],
    ['user', 28],
  ] as const) {
    await session.append({ role, content: 'y'.repeat(length) })
    sizes.push(await tokens(session))
  }
  expect(sizes).toEqual([11, 18, 26, 37])
  expect([await count(session), await overBudget(session)]).toEqual([4, false])
  await session.append({ role: 'assistant', content: 'z'.repeat(40) })
  expect(await overBudget(session)).toBe(true)
})

test('4. nothing happens under the budget', async () => {
  const { session, model } = open(4_000)
  for (let n = 1; n <= 60; n++) await session.append(long(n))
  const { receipt, blocks } = await session.context()
  expect(blocks.filter(({ rule }) => rule === 'verbatim')).toHaveLength(120)
  expect([receipt.omitted, model.requests]).toEqual([[], []])
})

test('5. a soft ceiling', async () => {
  const { session } = open(400)
  for (let n = 1; n <= 30; n++) {
    await session.append(long(n))
    expect((await session.context()).receipt.used).toBeLessThanOrEqual(400)
  }
})

test('6. a budget of 400, four messages kept', async () => {
  // Without a budget and a window there is one of 16 000.
  const memory = createMemory({ store: mapStore(), counter: classic })
  const session = memory.session(ADA)
  await session.append({ role: 'user', content: 'q1' })
  expect((await session.context()).receipt.cap).toBe(16_000)
})

test('7. the first system message is pinned', async () => {
  const { session } = open(400)
  const model = scriptedModel(
    Array.from({ length: 30 }, () => 'The one on platform 4, with a restaurant car.'),
  )
  for (let n = 1; n <= 30; n++)
    await runAgent({
      input: `Which train leaves at ${n}:00 for Turin?`,
      system: 'You are calm.',
      model,
      session,
    })
  expect((await session.context()).receipt.summary?.covers.length).toBeGreaterThan(0)
  for (const { blocks } of model.requests) expect(JSON.stringify(blocks[0])).toContain('You are calm.')
})

test('8. what is kept stays verbatim', async () => {
  const { session } = open(400)
  await talk(session, 30)
  const { blocks } = await session.context()
  const shown = blocks.filter(({ section }) => section === 'window')
  expect(shown.length).toBeGreaterThan(2)
  expect(new Set(shown.map(({ rule }) => rule))).toEqual(new Set(['verbatim']))
})

test('9. under the budget compaction does nothing', async () => {
  const { session, model } = open(4_000)
  await session.append(long(1))
  expect(await session.compaction.run()).toEqual({ status: 'none' })
  expect(model.requests).toHaveLength(0)
})

test('10. nothing between, no call', async () => {
  const { session, model } = open(60)
  await session.append({ role: 'user', content: 'Which train? '.repeat(30) })
  await expect(session.context()).rejects.toMatchObject({ code: 'ERR_BUDGET_TOO_SMALL' })
  expect(model.requests).toHaveLength(0)
})

test('11. one request, without tools, in a few sentences', async () => {
  const { session, model } = open(400)
  await talk(session, 20)
  const [request] = model.requests
  expect(request?.tools).toBeUndefined()
  expect(JSON.stringify(request?.blocks.at(-1))).toContain('Summarize the following')
})

test('12. the summary is a system message', async () => {
  const { session } = open(400)
  await talk(session, 20)
  const block = (await session.context()).blocks.find(({ section }) => section === 'memory')
  expect(block).toMatchObject({ role: 'user', trust: 'assistant' })
  expect(JSON.stringify(block?.parts)).toMatch(/<ctx-[0-9a-f]{8}.*summary #\d+ of \d+ earlier messages/)
})

test('13. a model that says nothing', async () => {
  const { session, model } = open(400, {}, { model: scriptedModel(Array.from({ length: 99 }, () => '')) })
  const [event] = await talk(session, 20)
  expect(event).toMatchObject({ status: 'summarised', by: 'extract' })
  expect(model.requests).toHaveLength(0)
})

test('14. one pass a call', async () => {
  const silent = scriptedModel(Array.from({ length: 99 }, () => ''))
  const { session } = open(400, {}, { model: silent, ahead: false })
  for (let n = 1; n <= 30; n++) {
    const before = silent.requests.length
    await session.append(long(n))
    await session.context()
    expect(silent.requests.length - before).toBeLessThanOrEqual(2)
  }
})

test('15. summaries are counted', async () => {
  const { session } = open(400)
  const events = await talk(session, 20)
  expect(events.length).toBeGreaterThan(0)
  expect((await session.context()).receipt.summary?.place).toBe(events.at(-1)?.summaryCount)
})

test('16. the second summary folds the first', async () => {
  const { session, model } = open(400)
  await talk(session, 30)
  const second = model.requests[1]
  expect(JSON.stringify(second?.blocks)).toContain(SUMMARY)
  expect((await session.context()).receipt.summary?.place).toBeGreaterThan(1)
})

test('17. without a memory it is unbounded, byte for byte', async () => {
  const model = scriptedModel([...Array.from({ length: 4 }, (_, n) => ({ calls: [call(n)] })), 'Done.'])
  const { answer } = await runAgent({ input: 'Add.', model, tools: [add] })
  expect(answer).toBe('Done.')
  expect(model.requests.at(-1)?.blocks.filter(({ role }) => role === 'assistant')).toHaveLength(4)
})

test('18. compaction comes before a call, not within one', async () => {
  const { session } = open(400)
  const events = await talk(session, 20)
  expect(events.length).toBeGreaterThan(0)
  expect(session.compaction.isRunning).toBe(false)
})

test('19. an event with sizes before and after', async () => {
  const { session } = open(400)
  const [event] = await talk(session, 20)
  expect(event?.tokensBefore).toBeGreaterThan(Number(event?.tokensAfter))
  expect(event?.tokensAfter).toBeLessThanOrEqual(400)
})

test('20. the worked run', async () => {
  const { result, calls: requests } = await calculate({ contextWindow: 148 })
  const [last] = requests.slice(-1) as [Context]
  expect(result).toMatchObject({ steps: 5, summaries: 1 })
  expect(classicCount(last)).toBeLessThanOrEqual(100)
  const shown = JSON.stringify(last.blocks)
  for (const sum of ['1+2=3', '10+20=30', '100+200=300', '3000']) expect(shown).toContain(sum)
})

test('21. the same run without a budget', async () => {
  const { result, calls } = await calculate({ contextWindow: 1_000_000 })
  const whole = calls.at(-1) as Context
  expect(result).toMatchObject({ steps: 5, summaries: 0 })
  expect(whole.blocks).toHaveLength(10)
  expect(classicCount(whole) + tokensOf(result.answer)).toBe(126)
})

test('22. one model answers and summarises', async () => {
  const model = scriptedModel(['It leaves at 9:40.'], { summaries: Array.from({ length: 9 }, () => SUMMARY) })
  const memory = createMemory({
    store: mapStore(),
    counter: classic,
    budget: 400,
    use: [compaction({ model })],
  })
  const session = memory.session(ADA)
  await talk(session, 12)
  expect((await runAgent({ input: 'When?', model, session })).answer).toBe('It leaves at 9:40.')
})

test('23. the policy can be changed', async () => {
  const { session } = open(4_000, { window: { messages: 4 } })
  for (let n = 1; n <= 9; n++) await session.append(exchange(n))
  await session.append({ role: 'user', content: 'q10' })
  expect(windowTexts(await session.context())).toHaveLength(3)
})

test('24. the counter can be changed', async () => {
  const memory = createMemory({ store: mapStore(), budget: 4_000, counter: charsPerToken(1) })
  const session = memory.session(ADA)
  await session.append({ role: 'user', content: 'x'.repeat(100) })
  expect((await session.context()).receipt.used).toBeGreaterThanOrEqual(100)
})

test('25. requests for Anthropic keep its rules', async () => {
  const { session } = open(400)
  for (let n = 1; n <= 9; n++) {
    await session.append([{ role: 'user', content: `q${n}` }, ...step(n, 'seats')])
    expect(lintRequest(toAnthropic(await session.context()), 'anthropic')).toEqual([])
  }
})

test('26. turns have a bound', async () => {
  const model = scriptedModel(Array.from({ length: 30 }, (_, n) => ({ calls: [call(n)] })))
  expect(await runAgent({ input: 'Add.', model, tools: [add], maxSteps: 10 })).toMatchObject({
    reason: 'max-steps',
    steps: 10,
  })
})

test('27. a run gives its answer, its turns and its summaries', async () => {
  const { session } = open(400)
  const model = scriptedModel(['Done.'])
  expect(await runAgent({ input: 'Add.', model, session })).toMatchObject({
    answer: 'Done.',
    steps: 1,
    summaries: 0,
  })
})

const add: AgentTool<{ n: number }> = {
  name: 'add',
  inputSchema: { type: 'object', properties: { n: { type: 'number' } } },
  execute: ({ n }) => n + 1,
}

function call(n: number) {
  return { id: `c${n}`, name: 'add', input: { n } }
}
