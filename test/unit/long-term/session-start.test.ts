import { expect, test } from 'vitest'
import { charsPerToken, mapStore } from '../../../src/index.ts'
import { forget } from '../../../src/operations/forget/forget.ts'
import { changeSettings } from '../../../src/operations/settings.ts'
import { start as startSession } from '../../../src/operations/start/start.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { DAY, NOON } from '../support/starts.ts'

function memoryOf() {
  let ids = 0
  return fullMemory({
    store: mapStore(),
    budget: 16_000,
    counter: charsPerToken(4),
    clock: () => NOON,
    newId: () => `id-${++ids}`,
    recall: {},
  })
}

const ada = { userId: 'ada' }

test('a session starts with what was remembered through it, through other sessions and by the app', async () => {
  const memory = memoryOf()
  const earlier = memory.session({ ...ada, sessionId: 'earlier' })
  await earlier.facts.remember({
    id: 'nuts',
    kind: 'constraint',
    text: 'Never book a table where nuts are served.',
  })
  await earlier.facts.remember({
    id: 'fair',
    kind: 'finding',
    text: 'The truffle fair is in Alba.',
    pinned: true,
  })
  await memory.user(ada).skills.set({ name: 'book-trains', description: 'Books trains.', text: '# Trains\n' })
  const session = memory.session({ ...ada, sessionId: 'trip' })
  await session.append({ id: 'm1', role: 'user', content: 'A window seat, please.' })
  await session.facts.remember({
    id: 'seat',
    kind: 'preference',
    text: 'Ada sits by the window.',
    confidence: 0.3,
  })
  const start = await startSession(session, { query: 'window' })
  expect(start.memory_count).toBe(3)
  expect(start.pinned.map(({ id }) => id)).toEqual(['nuts'])
  expect(start.skills_index.map(({ name }) => name)).toEqual(['book-trains'])
  expect(start.context_recall.map(({ id }) => id).sort()).toEqual(['m1', 'seat'])
  expect(start.low_confidence_alerts).toEqual([
    { id: 'seat', title: 'Ada sits by the window.', confidence: 0.3 },
  ])
  expect(start.overflow.pinned).toEqual({ count: 0, tokens: 0, first: [] })
  expect(await startSession(session, { query: 'window', ifNoneMatch: start.etag })).toBeUndefined()
})

test('what a start sums up is exactly what does not show, as facts are remembered, superseded and forgotten', async () => {
  const session = memoryOf().session(ada)
  const texts = ['trains', 'hotels', 'museums', 'dinners', 'taxis', 'markets'].map(
    (what) => `No ${what} on Sundays.`,
  )
  for (const [index, text] of texts.entries())
    await session.facts.remember({ id: `f${index}`, kind: 'constraint', text, priority: 9 - index })
  await session.facts.supersede('f1', { id: 'g1', kind: 'constraint', text: 'Hotels are fine.', priority: 8 })
  await forget(session, 'f2')
  const all = await startSession(session)
  expect(all.pinned.map(({ id }) => id)).toEqual(['f0', 'g1', 'f3', 'f4', 'f5'])
  const none = await startSession(session, { budgetTokens: { pin_budget_tokens: 0 } })
  const tokens = all.pinned.map((item) => item.tokens)
  expect(none.overflow.pinned).toEqual({
    count: 5,
    tokens: tokens.reduce((sum, one) => sum + one),
    first: ['f0', 'g1', 'f3', 'f4', 'f5'],
  })
})

test('a start recalls nothing of another project, and nothing that is pinned already', async () => {
  const session = memoryOf().session(ada)
  const text = (of: string) => `Send the receipts of ${of} by post.`
  await session.facts.remember({ id: 'here', kind: 'preference', text: text('Turin'), project: 'here' })
  await session.facts.remember({ id: 'there', kind: 'preference', text: text('Genoa'), project: 'there' })
  await session.facts.remember({ id: 'all', kind: 'preference', text: text('everything') })
  await session.facts.remember({ id: 'pinned', kind: 'constraint', text: text('trains') })
  const recalled = async (project?: string) => {
    const start = await startSession(session, {
      query: 'receipts',
      ...(project !== undefined && { project }),
    })
    return start.context_recall.map(({ id }) => id).sort()
  }
  expect(await recalled('here')).toEqual(['all', 'here'])
  expect(await recalled('there')).toEqual(['all', 'there'])
  expect(await recalled()).toEqual(['all'])
})

test('what ends is recalled until the day that is asked for, whatever the clock says', async () => {
  const session = memoryOf().session(ada)
  await session.facts.remember({ kind: 'finding', text: 'The fair ends soon.', expiresAt: NOON + 3 * DAY })
  const recalled = async (now: number) =>
    (await startSession(session, { query: 'fair', now })).context_recall.length
  expect(await recalled(NOON + 3 * DAY)).toBe(1)
  expect(await recalled(NOON + 4 * DAY)).toBe(0)
})

test('the settings say how large a start is', async () => {
  const memory = memoryOf()
  await changeSettings(memory, ada, { working_memory_budget_tokens: 500 })
  const session = memory.session(ada)
  expect((await startSession(session)).budget.cap).toBe(500)
  expect((await startSession(session, { budgetTokens: 600 })).budget.cap).toBe(600)
})
