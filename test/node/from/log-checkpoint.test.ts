// A log, a checkpoint and a window: the rows of examples/from/README.md, one by one.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  assertFits,
  checkpoint,
  clearLog,
  compaction,
  createMemory,
  exportFrom,
  extraction,
  facts,
  lintRequest,
  mapStore,
  recall,
  retention,
  rewind,
  runDueWork,
  type Store,
  scriptedModel,
  stringifyContext,
  toAnthropic,
  toOpenAI,
} from '../../../src/index.ts'
import { encryptedStore, secretKeys } from '../../../src/stores/encrypted/index.ts'
import { sqliteStore } from '../../../src/stores/sqlite.ts'
import { notingEmbedder, vectorsBy } from '../../everywhere/embedder.ts'
import { ADA, classic, databasePath, exchange, step, storedText, windowTexts } from './rows.ts'

const SECRET = 'the conductor is called Ilse'

function open(store: Store = mapStore()) {
  const memory = createMemory({ store, budget: 4_000, counter: classic, use: [checkpoint(), facts()] })
  return { memory, session: memory.session({ ...ADA, sessionId: 'trip' }) }
}

test('1. append-only log', async () => {
  const { memory, session } = open()
  const { messages } = await session.append([...exchange(1), ...exchange(2)])
  await rewind(session, String(messages[2]?.id))
  const lines: string[] = []
  for await (const line of exportFrom(memory, { ...ADA, sessionId: 'trip' })) lines.push(line)
  expect(lines.join('\n')).toContain('q2')
  expect((await session.history()).map(({ content }) => content)).toEqual(['q1', 'a1'])
})

test('2. optional encryption', async () => {
  const inner = mapStore()
  const { session } = open(encryptedStore(inner, secretKeys('a'.repeat(32))))
  await session.append({ role: 'user', content: SECRET })
  expect(await storedText(inner)).not.toContain('conductor')
  const other = open(encryptedStore(inner, secretKeys('b'.repeat(32))))
  await expect(other.session.history()).rejects.toMatchObject({ code: 'ERR_DECRYPT' })
})

test('3. load the newest 50', async () => {
  const { session } = open()
  for (let n = 1; n <= 30; n++) await session.append(exchange(n))
  expect(await session.history()).toHaveLength(50)
  expect(await session.history({ messages: 10 })).toHaveLength(10)
  expect((await session.history()).at(-1)?.content).toBe('a30')
})

test('4. the default of a state is a copy', async () => {
  const initial = { done: [] as number[] }
  const memory = createMemory({ store: mapStore(), budget: 4_000, use: [checkpoint({ initial })] })
  const { value } = await memory.session(ADA).checkpoint.get()
  value.done.push(1)
  expect((await memory.session(ADA).checkpoint.get()).value).toEqual({ done: [] })
})

test('5. a save is whole or not at all', async () => {
  const { session } = open()
  const { checkpoint: saved } = await session.commit({ messages: exchange(1), checkpoint: { done: 1 } })
  const state = 'x'.repeat(3_000_000)
  await expect(session.commit({ messages: exchange(2), checkpoint: state })).rejects.toMatchObject({
    code: 'ERR_ENTRY_TOO_LARGE',
  })
  expect(await session.history()).toHaveLength(2)
  expect(await session.checkpoint.get()).toEqual({ value: { done: 1 }, version: saved })
})

test('6. at most N messages', async () => {
  const memory = createMemory({ store: mapStore(), budget: 4_000, window: { messages: 6 } })
  const session = memory.session(ADA)
  for (let n = 1; n <= 12; n++) {
    await session.append({ role: 'user', content: `q${n}` })
    expect(windowTexts(await session.context()).length).toBeLessThanOrEqual(6)
    await session.append({ role: 'assistant', content: `a${n}` })
  }
  await session.append({ role: 'user', content: 'q13' })
  expect(windowTexts(await session.context())).toHaveLength(5)
})

test('7. the system text stays', async () => {
  const memory = createMemory({ store: mapStore(), budget: 200, system: 'You are Ada’s agent.' })
  const session = memory.session(ADA)
  for (let n = 1; n <= 40; n++) {
    await session.append(exchange(n))
    expect(toOpenAI(await session.context()).messages[0]?.content).toBe('You are Ada’s agent.')
  }
})

test('8. pairs are never broken', async () => {
  const memory = createMemory({ store: mapStore(), budget: 400, counter: classic })
  const session = memory.session(ADA)
  for (let n = 1; n <= 20; n++) {
    await session.append([{ role: 'user', content: `q${n}` }, ...step(n, 'seats '.repeat(40))])
    const context = await session.context()
    expect(lintRequest(toOpenAI(context), 'openai')).toEqual([])
    expect(lintRequest(toAnthropic(context), 'anthropic')).toEqual([])
  }
})

test('9. a call that waits at the end', async () => {
  const { session } = open()
  await session.append([{ role: 'user', content: 'Look.' }, ...step(1, 'seats').slice(0, 1)])
  await expect(session.context()).rejects.toMatchObject({ code: 'ERR_TOOL_PENDING' })
  const { blocks } = await session.context({ onPending: 'abandon' })
  expect(blocks.map(({ rule }) => rule)).toContain('abandoned')
})

test('10. log, window and state in one call', async () => {
  const { session } = open()
  await session.commit({ messages: exchange(1), checkpoint: { step: 1 } })
  expect(await session.history()).toHaveLength(2)
  expect(windowTexts(await session.context()).slice(0, 2)).toEqual(['q1', 'a1'])
  expect((await session.checkpoint.get()).value).toEqual({ step: 1 })
})

test('11. the context as a request', async () => {
  const { session } = open()
  await session.append(exchange(1))
  await session.append({ role: 'user', content: 'q2' })
  expect(toOpenAI(await session.context()).messages.map(({ content }) => content)).toEqual(['q1', 'a1', 'q2'])
})

test('12. a restart goes on exactly where it was', async () => {
  const path = databasePath()
  const first = sqliteStore({ path })
  const before = open(first).session
  await before.commit({
    messages: [...exchange(1), { role: 'user', content: 'q2' }],
    checkpoint: { step: 2 },
  })
  const shown = stringifyContext(await before.context())
  await first.close()
  const second = sqliteStore({ path })
  const after = open(second).session
  expect(stringifyContext(await after.context())).toBe(shown)
  expect((await after.checkpoint.get()).value).toEqual({ step: 2 })
  await second.close()
})

test('13. a session is made by itself', async () => {
  const { session } = open()
  expect(await session.history()).toEqual([])
  expect((await session.checkpoint.get()).value).toBeUndefined()
})

test('14. concurrent writers never interleave', async () => {
  const store = mapStore()
  const [one, other] = [open(store).session, open(store).session]
  await Promise.all(Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? one : other).append(exchange(n))))
  const said = (await open(store).session.history({ messages: 200 })).map(({ content }) => String(content))
  expect(said).toHaveLength(200)
  for (let at = 0; at < 200; at += 2) expect(said[at]?.slice(1)).toBe(said[at + 1]?.slice(1))
})

test('15. state beside the log', async () => {
  const { session } = open()
  await session.append(exchange(1))
  await session.checkpoint.set({ cursor: 7 })
  expect(JSON.stringify(await session.history())).not.toContain('cursor')
})

test('16. concurrent updates of the state all land', async () => {
  const memory = createMemory({ store: mapStore(), use: [checkpoint({ initial: { done: 0 } })] })
  const session = memory.session(ADA)
  const add = ({ done }: { done: number }) => ({ done: done + 1 })
  await Promise.all(Array.from({ length: 100 }, () => session.checkpoint.update(add)))
  expect((await session.checkpoint.get()).value).toEqual({ done: 100 })
})

test('17. log and state are removed apart', async () => {
  const { session } = open()
  await session.commit({ messages: exchange(1), checkpoint: { step: 1 } })
  await clearLog(session)
  expect(await session.history()).toEqual([])
  expect((await session.checkpoint.get()).value).toEqual({ step: 1 })
  await session.append(exchange(2))
  await session.checkpoint.delete()
  expect(await session.history()).toHaveLength(2)
  expect((await session.checkpoint.get()).value).toBeUndefined()
})

test('18. bounded growth', async () => {
  let now = Date.UTC(2026, 0, 1)
  const memory = createMemory({
    store: mapStore(),
    budget: 4_000,
    clock: () => now,
    use: [retention({ log: { days: 30 } })],
  })
  const session = memory.session(ADA)
  await session.append(exchange(1))
  now += 60 * 86_400_000
  await session.append(exchange(2))
  await runDueWork(memory)
  expect((await session.history()).map(({ content }) => content)).not.toContain('q1')
})

test('19. the key comes from outside and is never stored', async () => {
  const inner = mapStore()
  const secret = 'correct horse battery staple, 32 bytes and more'
  const { session } = open(encryptedStore(inner, secretKeys(secret)))
  await session.append({ role: 'user', content: SECRET })
  expect(await storedText(inner)).not.toContain(secret)
  expect(() => secretKeys('short')).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }))
})

test('20. facts are kept before they leave the window', async () => {
  const memory = createMemory({
    store: mapStore(),
    budget: 300,
    counter: classic,
    use: [facts(), extraction()],
  })
  const session = memory.session(ADA)
  await session.append([
    { role: 'user', content: 'Never book a flight for me.' },
    { role: 'assistant', content: 'I will not.' },
  ])
  for (let n = 1; n <= 20; n++) {
    await session.append([
      { role: 'user', content: `Which train leaves at ${n}:00 for Turin?` },
      { role: 'assistant', content: 'The one on platform 4, with a restaurant car.' },
    ])
    await session.context()
  }
  expect(await session.facts.list()).toMatchObject([
    { kind: 'constraint', text: 'Never book a flight for me.' },
  ])
})

test('21. tokens are verified, and what does not fit fails at once', async () => {
  const { session } = open()
  await session.append({ role: 'user', content: 'A question of some length, to be counted.' })
  const context = await session.context()
  const request = toOpenAI(context)
  expect(assertFits(request, classic, 4_000)).toBeLessThanOrEqual(context.receipt.used + 8)
  expect(() => assertFits(request, classic, 5)).toThrow(
    expect.objectContaining({ code: 'ERR_CONTEXT_TOO_LARGE' }),
  )
})

test('22. schemas of tools are counted', async () => {
  const memory = createMemory({ store: mapStore(), budget: 200, counter: classic })
  const session = memory.session(ADA)
  await session.append({ role: 'user', content: 'Look.' })
  const tools = [{ name: 'look', description: 'x'.repeat(4_000), inputSchema: { type: 'object' } }]
  await expect(session.context({ tools })).rejects.toMatchObject({ code: 'ERR_BUDGET_TOO_SMALL' })
})

test('23. outputs that are too large are cut', async () => {
  const memory = createMemory({
    store: mapStore(),
    budget: 4_000,
    counter: classic,
    toolOutput: { first: 200 },
  })
  const session = memory.session(ADA)
  await session.append([{ role: 'user', content: 'List.' }, ...step(1, 'main.ts\n'.repeat(6_000))])
  const { receipt } = await session.context()
  expect(receipt.used).toBeLessThan(300)
})

test('24. near the limit it is summarised', async () => {
  const model = scriptedModel(Array.from({ length: 20 }, () => 'Ada asked about trains to Turin.'))
  const memory = createMemory({
    store: mapStore(),
    budget: 600,
    counter: classic,
    use: [compaction({ model, ahead: 0.8 })],
  })
  const session = memory.session(ADA)
  for (let n = 1; n <= 30; n++) {
    await session.append([
      { role: 'user', content: `Which train leaves at ${n}:00 for Turin?` },
      { role: 'assistant', content: 'The one on platform 4, with a restaurant car.' },
    ])
    await session.context()
    await session.compaction.settled()
  }
  expect((await session.context()).receipt.summary?.by).toBe('scripted')
})

test('25. a table of which store and window for which app', () => {
  expect(readFileSync('docs/choosing.md', 'utf8')).toContain('| your app | store | where it runs |')
})

test('26. all settings in one place', async () => {
  const initial = { step: 0 }
  const memory = createMemory({
    store: mapStore(),
    budget: { contextWindow: 128_000, maxOutputTokens: 4_000 },
    window: { messages: 24 },
    use: [checkpoint({ initial })],
  })
  expect((await memory.session(ADA).checkpoint.get()).value).toEqual(initial)
})

test('27. search across sessions by meaning', async () => {
  const store = mapStore()
  const memory = createMemory({ store, budget: 4_000, use: [facts(), recall()] })
  await memory
    .session({ ...ADA, sessionId: 'monday' })
    .append({ role: 'user', content: 'The car broke down.' })
  const { find } = memory.user(ADA).recall
  expect(await find('car broke', { sessions: 'all' })).toHaveLength(1)
  // By words: what shares none with the query is not found.
  expect(await find('vehicle trouble', { sessions: 'all' })).toHaveLength(0)
  // By the vectors of a model of the app's own it is.
  const near = createMemory({
    store,
    budget: 4_000,
    use: [facts(), recall({ vectors: vectorsBy(notingEmbedder()) })],
  })
  expect(await near.user(ADA).recall.find('vehicle trouble', { sessions: 'all' })).toHaveLength(1)
})
