// Two tiers, tools and five middleware: the rows of examples/from/README.md, one by one.
import { expect, test } from 'vitest'
import {
  type AgentEvent,
  type AgentTool,
  budget,
  type CallRecord,
  contextFilter,
  createMemory,
  factSheet,
  facts,
  type Json,
  type Middleware,
  mapStore,
  memoryTools,
  observability,
  runAgent,
  scriptedModel,
  standardMiddleware,
} from '../../../src/index.ts'
import { ADA, classic, exchange, step, windowTexts } from './rows.ts'

const look: AgentTool<{ n: number }> = {
  name: 'look',
  inputSchema: { type: 'object', properties: { n: { type: 'number' } } },
  execute: ({ n }) => `seat ${n}`,
}

const calls = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ calls: [{ name: 'look', input: { n } }] }))

function open(store = mapStore(), options: object = {}) {
  const memory = createMemory({ store, counter: classic, budget: 4_000, use: [facts()], ...options })
  return { memory, session: memory.session({ ...ADA, sessionId: 'turin' }) }
}

/** Notes when its hooks run. */
function noting(name: string, order: number, told: string[]): Middleware {
  return {
    name,
    order,
    kind: 'enricher',
    start: () => ({
      beforeModelCall: () => {
        told.push(`before ${name}`)
      },
      afterModelCall: () => {
        told.push(`after ${name}`)
      },
    }),
  }
}

test('1. the last N rounds before each model call', async () => {
  const { session } = open()
  for (let n = 1; n <= 9; n++) await session.append(exchange(n))
  const model = scriptedModel([...calls(2), 'Done.'])
  const middleware = [contextFilter({ rounds: 4, keep: 4 })]
  await runAgent({ input: 'q10', model, tools: [look], session, middleware })
  for (const request of model.requests)
    expect(windowTexts(request).filter((text) => text.startsWith('q'))).toEqual(['q7', 'q8', 'q9', 'q10'])
})

test('2. the filter stands at 15', () => {
  expect(contextFilter({ rounds: 4 })).toMatchObject({ name: 'context-filter', order: 15, kind: 'enricher' })
})

test('3. an enricher that fails is passed over', async () => {
  const failing: Middleware = {
    name: 'enricher',
    order: 15,
    kind: 'enricher',
    start: () => ({
      beforeModelCall: () => {
        throw new Error('boom')
      },
    }),
  }
  const events: AgentEvent[] = []
  const { reason } = await runAgent({
    input: 'Look.',
    model: scriptedModel(['Done.']),
    session: open().session,
    middleware: [failing],
    onEvent: (event) => void events.push(event),
  })
  expect(reason).toBe('answer')
  expect(events.find(({ type }) => type === 'middleware-failure')).toMatchObject({ by: 'enricher' })
})

test('4. system messages are always kept', async () => {
  const { session } = open(mapStore(), { budget: 900, system: 'Be brief.' })
  const model = scriptedModel([...calls(20), 'Done.'])
  const large: AgentTool<{ n: number }> = { ...look, execute: ({ n }) => `line ${n} `.repeat(100) }
  const system = 'You are a coding agent.'
  await runAgent({ input: 'Look.', system, model, session, tools: [large], maxSteps: 30 })
  for (const { blocks } of model.requests)
    expect(JSON.stringify(blocks[0])).toMatch(/Be brief\..*You are a coding agent\./)
  expect((await session.history()).map(({ role }) => role)).not.toContain('system')
})

test('5. what is older is left out', async () => {
  const { session } = open(mapStore(), { window: { rounds: 4 } })
  for (let n = 1; n <= 9; n++) await session.append(exchange(n))
  await session.append({ role: 'user', content: 'q10' })
  const context = await session.context()
  expect(windowTexts(context)[0]).toBe('q6')
  expect(context.receipt.omitted.reduce((sum, { count }) => sum + count, 0)).toBe(10)
})

test('6. outputs beyond a threshold are cut', async () => {
  const { session } = open(mapStore(), { toolOutput: { first: 200 } })
  await session.append([{ role: 'user', content: 'List.' }, ...step(1, 'main.ts\n'.repeat(6_000))])
  expect((await session.context()).receipt.used).toBeLessThan(300)
})

test('7. a memory outlives the conversation', async () => {
  const store = mapStore()
  const { session } = open(store)
  for (const kind of ['finding', 'blocker', 'correction'] as const)
    await session.facts.remember({ kind, text: `The ${kind} of Monday.` })
  for (let n = 1; n <= 80; n++) await session.append(exchange(n))
  const later = open(store).session
  await later.append({ role: 'user', content: 'Go on.' })
  const shown = JSON.stringify((await later.context()).blocks)
  for (const kind of ['finding', 'blocker', 'correction']) expect(shown).toContain(`The ${kind} of Monday.`)
})

test('8. memory_finding', async () => {
  const { session } = open()
  await note(session, 'memory_finding', { text: 'The 9:40 has a restaurant car.' })
  expect(await session.facts.list()).toMatchObject([{ kind: 'finding', trust: 'assistant' }])
})

test('9. memory_blocker, with its status', async () => {
  const { session } = open()
  await note(session, 'memory_blocker', { text: 'The staging key has expired.' })
  const shown = JSON.stringify((await session.context()).blocks)
  const [, reference = ''] = /\[(f\d+) · open\] blocker/.exec(shown) ?? []
  await note(session, 'memory_blocker', { resolve: reference })
  expect(await session.facts.list()).toEqual([])
})

test('10. memory_correction', async () => {
  const { session } = open()
  await note(session, 'memory_correction', { text: 'The 9:40 leaves from platform 7.' })
  expect(await session.facts.list()).toMatchObject([{ kind: 'correction', trust: 'assistant' }])
})

test('12. facts outlive sessions and processes', async () => {
  const store = mapStore()
  await open(store).session.facts.remember({ kind: 'constraint', text: 'Never book a flight.' })
  const session = open(store).memory.session({ ...ADA, sessionId: 'oslo' })
  await session.append({ role: 'user', content: 'Go on.' })
  expect(JSON.stringify((await session.context()).blocks)).toContain('Never book a flight.')
})

test('13. the last 16 turns when a session is resumed', async () => {
  const { session } = open()
  for (let n = 1; n <= 40; n++) await session.append(exchange(n))
  const model = scriptedModel(['Done.'])
  await runAgent({ input: 'Go on.', model, session, resume: { messages: 16 } })
  const [request] = model.requests
  expect(request && windowTexts(request)).toEqual([
    ...Array.from({ length: 8 }, (_, n) => [`q${n + 33}`, `a${n + 33}`]).flat(),
    'Go on.',
  ])
})

test('14. going on needs a session', async () => {
  await expect(
    runAgent({ input: 'Look.', model: scriptedModel(['Done.']), resume: true }),
  ).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
})

test('15. five stages in their order', async () => {
  expect(standardMiddleware().map(({ name, order }) => [name, order])).toEqual([
    ['observability', 5],
    ['budget', 10],
    ['context-filter', 15],
    ['fact-sheet', 20],
    ['progress', 50],
  ])
  const told: string[] = []
  const middleware = [noting('second', 20, told), noting('first', 10, told)]
  await runAgent({ input: 'Look.', model: scriptedModel(['Done.']), middleware })
  expect(told).toEqual(['before first', 'before second', 'after second', 'after first'])
})

test('16. spans of a trace, with token counts', async () => {
  const records: CallRecord[] = []
  const usage = { inputTokens: 30, outputTokens: 2 }
  await runAgent({
    input: 'Look.',
    model: scriptedModel([
      { calls: [{ name: 'look', input: { n: 1 } }], usage },
      { text: 'Done.', usage },
    ]),
    tools: [look],
    middleware: [observability({ sink: (record) => void records.push(record) })],
  })
  expect(records.map(({ type }) => type)).toEqual(['model', 'tool', 'model'])
  const [asked, tool] = records
  expect(tool).toMatchObject({ traceId: asked?.traceId, parentId: asked?.spanId })
  expect(asked).toMatchObject({ usage: { reported: { uncached: 30, output: 2 } } })
  expect(Number(tool?.end)).toBeGreaterThanOrEqual(Number(tool?.start))
})

test('17. a budget stops the run before the next call', async () => {
  const model = scriptedModel(
    calls(9).map((reply) => ({ ...reply, usage: { inputTokens: 300, outputTokens: 20 } })),
  )
  const { reason, stoppedBy } = await runAgent({
    input: 'Look.',
    model,
    tools: [look],
    middleware: [budget({ limit: 1_000 })],
  })
  expect([reason, stoppedBy]).toEqual(['stopped', 'budget'])
  expect(model.requests).toHaveLength(4)
})

test('18. it is told to come to an end', async () => {
  const model = scriptedModel([
    ...calls(3).map((reply) => ({ ...reply, usage: { inputTokens: 270, outputTokens: 0 } })),
    'Done.',
  ])
  const events: AgentEvent[] = []
  await runAgent({
    input: 'Look.',
    model,
    tools: [look],
    middleware: [budget({ limit: 1_000 })],
    onEvent: (event) => void events.push(event),
  })
  expect(JSON.stringify(model.requests.at(-1)?.blocks)).toMatch(/budget|tokens/)
})

test('19. the runner knows the tokens used', async () => {
  const usage = { inputTokens: 600, outputTokens: 20 }
  const model = scriptedModel(calls(9).map((reply) => ({ ...reply, usage })))
  // Nothing but the limit is given.
  const middleware = [budget({ limit: 1_000 })]
  await runAgent({ input: 'Look.', model, tools: [look], middleware })
  expect(model.requests).toHaveLength(2)
})

test('20. the fact sheet at 20', async () => {
  const { session } = open()
  const text = 'The staging key has expired.'
  await session.facts.remember({ kind: 'finding', text })
  const middleware = [factSheet({ facts: () => session.facts.list() })]
  expect(middleware[0]?.order).toBe(20)
  const model = scriptedModel(['Done.'])
  await runAgent({ input: 'Look.', model, session, middleware })
  expect(JSON.stringify(model.requests[0]?.blocks).split(text)).toHaveLength(2)
})

test('21. a run that stands still ends, one that gets on does not', async () => {
  const same = scriptedModel(({ tools }) =>
    tools.length > 0 ? { calls: [{ name: 'look', input: { n: 1 } }] } : 'It is taken.',
  )
  const middleware = standardMiddleware()
  const stuck = await runAgent({ input: 'Look.', model: same, tools: [look], middleware })
  expect(stuck).toMatchObject({ reason: 'answer', answer: 'It is taken.', stoppedBy: 'progress' })
  const many = scriptedModel([...calls(10), 'Done.'])
  expect(await runAgent({ input: 'Look.', model: many, tools: [look], middleware })).toMatchObject({
    reason: 'answer',
    answer: 'Done.',
    steps: 11,
  })
})

test('22. each middleware has a state of its own', async () => {
  const middleware = [budget({ limit: 1_000 })]
  for (let run = 0; run < 3; run++) {
    const model = scriptedModel([{ text: 'Done.', usage: { inputTokens: 900, outputTokens: 20 } }])
    expect((await runAgent({ input: 'Look.', model, middleware })).reason).toBe('answer')
  }
})

test('23. a middleware changes the messages', async () => {
  const last: Middleware = {
    name: 'last',
    order: 30,
    kind: 'enricher',
    start: () => ({ beforeModelCall: ({ messages = [] }) => ({ messages: messages.slice(-1) }) }),
  }
  const input = [...exchange(1), { role: 'user' as const, content: 'q2' }]
  const alone = scriptedModel(['Done.'])
  await runAgent({ input, model: alone, middleware: [last] })
  expect(alone.requests[0]?.blocks).toHaveLength(1)
  const events: AgentEvent[] = []
  const kept = scriptedModel(['Done.'])
  const { session } = open()
  await runAgent({
    input,
    model: kept,
    middleware: [last],
    session,
    onEvent: (event) => void events.push(event),
  })
  expect(kept.requests[0]?.blocks).toHaveLength(3)
  expect(events.map(({ type }) => type)).toContain('middleware-failure')
})

test('24. the pipeline runs on every turn', async () => {
  const model = scriptedModel(['Done.'])
  const input = [...exchange(1), ...exchange(2), { role: 'user' as const, content: 'q3' }]
  await runAgent({ input, model, middleware: [contextFilter({ rounds: 1, keep: 1 })] })
  expect(model.requests[0] && windowTexts(model.requests[0])).toEqual(['q3'])
})

test('25. at turn 30 a request is a fraction of the conversation', async () => {
  const { session } = open(mapStore(), { budget: 8_000 })
  const model = scriptedModel([...calls(30), 'Done.'])
  const large: AgentTool<{ n: number }> = { ...look, execute: ({ n }) => `line ${n} `.repeat(1_200) }
  await runAgent({ input: 'Look.', model, tools: [large], session, maxSteps: 40 })
  expect(Math.max(...model.requests.map(({ receipt }) => receipt.used))).toBeLessThanOrEqual(8_000)
  expect(JSON.stringify(await session.history({ messages: 100 })).length / 4).toBeGreaterThan(60_000)
})

test('11. preferences and constraints of a workspace', async () => {
  const { memory, session } = open()
  await note(session, 'memory_preference', { text: 'Ada likes the window seat.' })
  await session.facts.remember({ kind: 'preference', text: 'A quiet coach.' })
  const other = memory.session({ ...ADA, sessionId: 'oslo' })
  await other.append({ role: 'user', content: 'Go on.' })
  const shown = JSON.stringify((await other.context()).blocks)
  expect([shown.includes('A quiet coach.'), shown.includes('window seat')]).toEqual([true, false])
})

/** A model calls a tool of the memory. */
async function note(session: ReturnType<typeof open>['session'], name: string, input: Json) {
  const model = scriptedModel([{ calls: [{ name, input }] }, 'Noted.'])
  await runAgent({ input: 'Note it.', model, session, tools: memoryTools(session) })
}
