// One bounded JSON at the start of a session: the rows of examples/from/README.md, one by one.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import {
  type Counter,
  changeSettings,
  createMemory,
  type FactInput,
  mapStore,
  readSettings,
  recall,
  type Store,
  standard,
  start,
} from '../../../src/index.ts'
import { sqliteStore } from '../../../src/stores/sqlite.ts'
import { ADA, classic, databasePath } from './rows.ts'

function open(store: Store = mapStore(), sessionId = 'monday', counter: Counter = classic) {
  const memory = createMemory({ store, counter, budget: 16_000, use: [...standard(), recall()] })
  return {
    memory,
    user: memory.user(ADA),
    session: memory.session({ ...ADA, sessionId }, { project: 'turin' }),
  }
}

const rule = (n: number, more: Partial<FactInput> = {}): FactInput => ({
  kind: 'constraint',
  text: `Rule number ${n}: platform ${n * 7} is closed to guests of house ${n}.`,
  ...more,
})

/** A memory with pins, skills and findings of two projects. */
async function filled(store: Store = mapStore()) {
  const opened = open(store)
  await opened.session.facts.remember(rule(1, { project: 'turin' }))
  await opened.session.facts.remember(rule(2, { project: 'oslo' }))
  await opened.user.facts.remember(rule(3))
  await opened.user.skills.set({ name: 'rebook', description: 'Rebooks a train.', text: 'Ask first.' })
  await opened.session.facts.remember({ kind: 'finding', text: 'The 9:40 to Turin has a restaurant car.' })
  return opened
}

const size = (payload: unknown) => classic.count(JSON.stringify(payload))

test('1. one call, one JSON', async () => {
  const { session } = await filled()
  const payload = await start(session)
  expect(JSON.parse(JSON.stringify(payload))).toEqual(payload)
  expect(Object.keys(payload).slice(0, 7)).toEqual([
    'memory_count',
    'pinned',
    'skills_index',
    'context_recall',
    'due_for_review',
    'low_confidence_alerts',
    'budget',
  ])
})

test('2. the same bytes for the same memory', async () => {
  const store = mapStore()
  const { session } = await filled(store)
  // It stores what the etag is keyed by.
  await session.context()
  expect(JSON.stringify(await start(open(store).session))).toBe(JSON.stringify(await start(session)))
})

test('3. the pins of a project', async () => {
  const { session } = await filled()
  const texts = (await start(session, { project: 'turin' })).pinned.map(({ content }) => content)
  expect(texts.map((text) => text.slice(0, 13)).sort()).toEqual(['Rule number 1', 'Rule number 3'])
})

test('4. memory_count', async () => {
  const store = mapStore()
  const { session } = await filled(store)
  expect((await start(session)).memory_count).toBe(4)
  expect((await start(open(store, 'tuesday').session)).memory_count).toBe(4)
})

test('5. pinned, as id, title, content and tokens', async () => {
  const { session } = await filled()
  for (const item of (await start(session)).pinned) {
    expect(Object.keys(item)).toEqual(['id', 'title', 'content', 'tokens'])
    expect(item.tokens).toBeGreaterThan(0)
  }
})

test('6. skills_index, as name and description', async () => {
  const { session } = await filled()
  expect((await start(session)).skills_index).toEqual([{ name: 'rebook', description: 'Rebooks a train.' }])
})

test('7. context_recall, as id, title and score', async () => {
  const { session } = await filled()
  const [found] = (await start(session, { query: 'restaurant' })).context_recall
  expect(found).toMatchObject({ title: 'The 9:40 to Turin has a restaurant car.', trust: 'user' })
  expect([typeof found?.id, typeof found?.score]).toEqual(['string', 'number'])
})

test('8. recall from the project alone', async () => {
  const { session } = await filled()
  expect((await start(session, { project: 'turin' })).context_recall.map(({ text }) => text)).toContain(
    'The 9:40 to Turin has a restaurant car.',
  )
})

test('9. recall of what earlier sessions remembered', async () => {
  const store = mapStore()
  await filled(store)
  const { session } = open(store, 'tuesday')
  const [earlier] = (await start(session)).context_recall
  expect(earlier).toMatchObject({ kind: 'finding', session: 'monday' })
  expect((await start(session, { sessions: 'own' })).context_recall).toEqual([])
})

test('10. due_for_review, a number', async () => {
  const { session } = await filled()
  const now = Date.now() + 40 * 86_400_000
  expect((await start(session, { now })).due_for_review).toBeGreaterThan(0)
  expect((await start(session)).due_for_review).toBe(0)
})

test('11. low_confidence_alerts, a list', async () => {
  const { session } = await filled()
  expect((await start(session)).low_confidence_alerts).toEqual([])
  await session.facts.remember(rule(4, { confidence: 0.3 }))
  expect((await start(session)).low_confidence_alerts).toMatchObject([{ confidence: 0.3 }])
})

test('12. budget, as used and cap', async () => {
  const { session } = await filled()
  const payload = await start(session)
  expect(payload.budget).toEqual({ used: size(payload), cap: 3_000 })
})

test('13. the cap holds for the whole payload', async () => {
  const { session } = await filled()
  for (let n = 10; n < 60; n++) await session.facts.remember(rule(n))
  for (let cap = 300; cap <= 1_500; cap += 7)
    expect(size(await start(session, { budgetTokens: cap }))).toBeLessThanOrEqual(cap)
})

test('14. settings with 3000, 1500, 800 and 700', async () => {
  const { memory } = open()
  expect(await readSettings(memory, ADA)).toMatchObject({
    working_memory_budget_tokens: 3_000,
    pin_budget_tokens: 1_500,
    skills_index_budget_tokens: 800,
    recall_budget_tokens: 700,
  })
})

test('15. each cap can be changed', async () => {
  const { memory, session } = await filled()
  await changeSettings(memory, ADA, { working_memory_budget_tokens: 2_000, pin_budget_tokens: 10 })
  const payload = await start(session)
  expect([payload.budget.cap, payload.pinned.length]).toEqual([2_000, 0])
})

test('16. caps of the parts are caps', async () => {
  const { user, session } = open()
  for (let n = 10; n < 70; n++)
    await user.skills.set({ name: `skill-${n}`, description: `Does what house ${n} needs.`, text: 'x' })
  const payload = await start(session, { budgetTokens: 1_000 })
  expect(payload.skills_index.length).toBeGreaterThan(30)
})

test('17. pins before skills before recall', async () => {
  const { user, session } = await filled()
  for (let n = 10; n < 16; n++) await user.facts.remember(rule(n))
  for (let n = 10; n < 40; n++)
    await user.skills.set({ name: `skill-${n}`, description: `Does what house ${n} needs.`, text: 'x' })
  const payload = await start(session, { budgetTokens: 700 })
  expect(payload.pinned).toHaveLength(8)
  expect(payload.overflow.pinned.count).toBe(0)
  expect(payload.overflow.skills_index.count).toBeGreaterThan(0)
})

test('18. pins by priority, then by strength', async () => {
  const { user, session } = open()
  await user.facts.remember(rule(10))
  const { fact } = await user.facts.remember(rule(11))
  await user.facts.remember(rule(12))
  await user.facts.remember(rule(13, { priority: 9 }))
  await user.facts.review(fact.id, 'easy')
  const numbers = (await start(session)).pinned.map(({ content }) => content.slice(12, 14))
  expect(numbers.slice(0, 2)).toEqual(['13', '11'])
})

test('19. an estimate without a library', async () => {
  const { session } = await filled()
  const payload = await start(session)
  expect(payload.budget.used).toBe(Math.floor(JSON.stringify(payload).length / 4))
})

test('20. counted once, when written', async () => {
  let texts = 0
  const counter: Counter = {
    ...classic,
    count: (text) => {
      texts++
      return classic.count(text)
    },
  }
  const { session } = open(mapStore(), 'monday', counter)
  for (let n = 10; n < 40; n++) await session.facts.remember(rule(n))
  await start(session)
  texts = 0
  await start(session)
  expect(texts).toBeLessThan(10)
})

test('21. what had no room is reported', async () => {
  const { session } = await filled()
  for (let n = 10; n < 60; n++) await session.facts.remember(rule(n))
  const { pinned, overflow } = await start(session, { budgetTokens: 600 })
  expect(overflow.pinned.count + pinned.length).toBe(52)
  expect(overflow.pinned.first).toHaveLength(5)
  expect(overflow.pinned.tokens).toBeGreaterThan(0)
})

test('22. a larger total removes nothing', async () => {
  const { session } = await filled()
  for (let n = 10; n < 40; n++) await session.facts.remember(rule(n))
  let before: readonly string[] = []
  for (let cap = 300; cap <= 1_500; cap += 50) {
    const { pinned, skills_index } = await start(session, { budgetTokens: cap })
    const shown = [...pinned.map(({ id }) => id), ...skills_index.map(({ name }) => name)]
    expect(shown).toEqual(expect.arrayContaining([...before]))
    before = shown
  }
})

test('23. the best at both ends', async () => {
  const { session } = open()
  for (let n = 9; n > 0; n--)
    await session.facts.remember({ kind: 'finding', text: `House ${n} has ${n * 3} rooms.`, priority: n })
  const ranks = (await start(session)).context_recall.map(({ text }) => 10 - Number(text?.slice(6, 7)))
  expect(ranks).toEqual([1, 3, 5, 7, 9, 8, 6, 4, 2])
})

test('24. pins are constraints, and silent', async () => {
  const { session } = await filled()
  await session.facts.remember({ kind: 'preference', text: 'A window seat.' })
  const payload = await start(session)
  expect(payload.pinned.every(({ content }) => content.startsWith('Rule'))).toBe(true)
  expect(JSON.stringify(payload)).not.toContain('Ask first.')
})

test('25. a command with a project', async () => {
  const path = databasePath()
  const store = sqliteStore({ path })
  await filled(store)
  const args = ['dist/src/cli/main.js', 'start', '--db', path, '--user', 'ada', '--project', 'turin']
  const payload = JSON.parse(execFileSync('node_modules/.bin/node', args, { encoding: 'utf8' }))
  expect(payload.pinned).toHaveLength(2)
  await store.close()
})
