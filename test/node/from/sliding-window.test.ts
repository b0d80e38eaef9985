// A sliding window beside documents that are always there: the rows of examples/from/README.md.
import { expect, test } from 'vitest'
import {
  addExchange,
  createMemory,
  deleteSession,
  exportFrom,
  exportMarkdown,
  importInto,
  mapStore,
  memoryTools,
  profile,
  type Store,
  skills,
  slidingWindow,
  standard,
  toAnthropic,
  toOpenAI,
} from '../../../src/index.ts'
import { sqliteStore } from '../../../src/stores/sqlite.ts'
import { ADA, classic, databasePath, exchange, step, windowTexts } from './rows.ts'

/** As its own users would open it. */
function open(store: Store = mapStore()) {
  const memory = createMemory({ store, counter: classic, budget: 16_000, use: [profile(), skills()] })
  return { memory, session: memory.session(ADA), user: memory.user(ADA) }
}

test('1. twenty exchanges by default', async () => {
  const session = createMemory({ store: mapStore(), ...slidingWindow() }).session(ADA)
  for (let n = 1; n <= 60; n++) await session.append(exchange(n))
  const { blocks, receipt } = await session.context()
  expect([blocks.filter(({ role }) => role === 'assistant').length, receipt.cap]).toEqual([20, null])
})

test('2. an exchange is stored, and the window is given', async () => {
  const shown = await addExchange(open().session, 'q1', 'a1')
  expect(shown.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'q1'],
    ['assistant', 'a1'],
  ])
})

test('3. the last 2 N messages', async () => {
  const session = createMemory({ store: mapStore(), ...slidingWindow() }).session(ADA)
  const shown: Record<number, number> = {}
  for (let n = 1; n <= 25; n++) shown[n] = (await addExchange(session, `q${n}`, `a${n}`)).length
  expect([shown[1], shown[19], shown[20], shown[21], shown[25]]).toEqual([2, 38, 40, 40, 40])
  const [first] = await addExchange(session, 'q26', 'a26')
  expect(first?.content).toBe('q7')
})

test('4. the model sees 20 exchanges and the new message', async () => {
  const session = createMemory({ store: mapStore(), ...slidingWindow() }).session(ADA)
  for (let n = 1; n <= 25; n++) await addExchange(session, `q${n}`, `a${n}`)
  await session.append({ role: 'user', content: 'q26' })
  const shown = windowTexts(await session.context())
  expect([shown.length, shown[0], shown.at(-1)]).toEqual([41, 'q6', 'q26'])
})

test('5. an unknown user has nothing', async () => {
  expect(await open().session.history()).toEqual([])
})

test('6. messages have their times', async () => {
  const [message] = await addExchange(open().session, 'q1', 'a1')
  expect(Math.abs(Number(message?.createdAt) - Date.now())).toBeLessThan(60_000)
})

test('7. users are apart, whatever their ids', async () => {
  const ids = ['ada', 'Ada', 'a/d', '../a', 'a\u0000b', '__proto__', 'é', 'e\u0301', '%2e', '"', "'", '*']
  const memory = createMemory({ store: mapStore(), budget: 4_000 })
  const session = (userId: string) => memory.session({ userId })
  for (const id of ids) await session(id).append({ role: 'user', content: `of ${JSON.stringify(id)}` })
  for (const id of ids)
    expect((await session(id).history()).map(({ content }) => content)).toEqual([`of ${JSON.stringify(id)}`])
})

test('8. it survives a restart', async () => {
  const path = databasePath()
  const first = sqliteStore({ path })
  await addExchange(open(first).session, 'q1', 'a1')
  await first.close()
  const second = sqliteStore({ path })
  expect((await open(second).session.history()).map(({ content }) => content)).toEqual(['q1', 'a1'])
  await second.close()
})

test('9. a file that a person can read', async () => {
  const { session } = open()
  await addExchange(session, 'Which train?', 'The 9:40.')
  let text = ''
  for await (const piece of exportMarkdown(session)) text += piece
  expect(text).toMatch(/Which train\?[\s\S]*The 9:40\./)
})

test('10. deleted, it begins again', async () => {
  const { memory, session } = open()
  await addExchange(session, 'q1', 'a1')
  await deleteSession(memory, ADA, 'default')
  expect(await session.history()).toEqual([])
  expect(await addExchange(session, 'q2', 'a2')).toHaveLength(2)
})

test('11. a copy for a look elsewhere', async () => {
  const { memory, session } = open()
  await addExchange(session, 'q1', 'a1')
  const copy = createMemory({ store: mapStore(), budget: 16_000 })
  await importInto(copy, ADA, exportFrom(memory, ADA), { trust: 'user' })
  const texts = (messages: readonly { readonly content: unknown }[]) => messages.map(({ content }) => content)
  expect(texts(await copy.session(ADA).history())).toEqual(texts(await session.history()))
})

test('12. SOUL.md and MEMORY.md are always there', async () => {
  const { user, session } = open()
  const [soul, memory] = ['Be calm. '.repeat(880), 'Ada likes trains. '.repeat(440)]
  await user.profile.set('SOUL.md', soul)
  await user.profile.set('MEMORY.md', memory)
  await session.append({ role: 'user', content: 'q1' })
  const both = JSON.stringify((await session.context()).blocks)
  expect([both.includes(soul), both.includes(memory)]).toEqual([true, true])
  await user.profile.set('MEMORY.md', memory.repeat(4))
  const context = await session.context()
  const shown = JSON.stringify(context.blocks)
  expect([shown.includes(soul), shown.includes('see profile/MEMORY.md')]).toEqual([true, true])
  expect(context.receipt.failures).toMatchObject([{ part: 'profile', code: 'ERR_LIMIT' }])
})

test('13. SOUL, MEMORY, then the window', async () => {
  const { user, session } = open()
  for (const name of ['ABOUT.md', 'TASKS.md', 'MEMORY.md', 'SOUL.md'])
    await user.profile.set(name, `of ${name}`)
  await session.append({ role: 'user', content: 'q1' })
  const said = JSON.stringify((await session.context()).blocks)
  const places = ['of SOUL', 'of MEMORY', 'of TASKS', 'of ABOUT', 'q1'].map((text) => said.indexOf(text))
  expect(places).toEqual(places.toSorted((one, other) => one - other))
  expect(places[0]).toBeGreaterThan(0)
})

test('14. documents are edited by people', async () => {
  const { user, session } = open()
  await user.profile.set('SOUL.md', 'Be brief.')
  await session.append({ role: 'user', content: 'q1' })
  expect(toOpenAI(await session.context()).messages[0]?.content).toContain('Be brief.')
  await user.profile.set('SOUL.md', 'Be kind.')
  expect(toOpenAI(await session.context()).messages[0]?.content).toContain('Be kind.')
  const { facts } = {
    facts: createMemory({ store: mapStore(), budget: 4_000, use: standard() }).session(ADA),
  }
  expect(memoryTools(facts).filter(({ name }) => /profile|document|write/.test(name))).toEqual([])
})

test('15. a list of tasks', async () => {
  const { user, session } = open()
  await user.profile.set('TASKS.md', '- [ ] Book the train.')
  await session.append({ role: 'user', content: 'q1' })
  expect(toOpenAI(await session.context()).messages[0]?.content).toContain('Book the train.')
})

test('16. the payload stays flat', async () => {
  const memory = createMemory({ store: mapStore(), counter: classic, budget: 16_000, window: { rounds: 20 } })
  const session = memory.session(ADA)
  const used: number[] = []
  for (let n = 1; n <= 60; n++) {
    await session.append({ role: 'user', content: `Question ${String(n).padStart(3, '0')}.` })
    used.push((await session.context()).receipt.used)
    await session.append({ role: 'assistant', content: `An answer ${String(n).padStart(3, '0')}.` })
  }
  expect(new Set(used.slice(21)).size).toBe(1)
})

test('17. nothing is summarised', async () => {
  const { session } = open()
  for (let n = 1; n <= 100; n++) await session.append(exchange(n))
  expect((await session.context()).receipt.summary).toBeUndefined()
})

test('18. “Looks good” costs little', async () => {
  const { session } = open()
  await session.append([...exchange(1), { role: 'user', content: 'Which train?' }])
  const before = (await session.context()).receipt.used
  await session.append([
    { role: 'assistant', content: 'The 9:40.' },
    { role: 'user', content: 'Looks good' },
  ])
  expect((await session.context()).receipt.used - before).toBeLessThanOrEqual(15)
})

test('19. skills cost a line each until they are loaded', async () => {
  const { session, user } = open()
  for (let n = 0; n < 10; n++)
    await user.skills.set({ name: `skill-${n}`, description: `Does ${n}.`, text: 'x'.repeat(14_000) })
  await session.append({ role: 'user', content: 'q1' })
  expect((await session.context()).receipt.used).toBeLessThan(200)
})

test('20. outputs of tools do not pile up', async () => {
  const { session } = open()
  for (let n = 1; n <= 10; n++)
    await session.append([
      { role: 'user', content: `q${n}` },
      ...step(n, 'x'.repeat(52_000)),
      { role: 'assistant', content: `a${n}` },
    ])
  expect((await session.context()).receipt.used).toBeLessThan(12_000)
})

test('21. thinking is not sent again', async () => {
  const { session } = open()
  const thought = { type: 'reasoning' as const, text: 'Ada may prefer the window seat.' }
  await session.append([
    { role: 'user', content: 'q1' },
    { role: 'assistant', content: [thought, { type: 'text', text: 'a1' }] },
    { role: 'user', content: 'q2' },
  ])
  const context = await session.context()
  expect(JSON.stringify([toOpenAI(context), toAnthropic(context)])).not.toContain('window seat')
})

test('22. no setup', async () => {
  expect(
    await addExchange(createMemory({ store: mapStore(), budget: 16_000 }).session(ADA), 'q', 'a'),
  ).toHaveLength(2)
})

test('23. all of it is saved', async () => {
  const { session } = open()
  for (let n = 1; n <= 100; n++) await session.append(exchange(n))
  expect(await session.history({ messages: 1_000 })).toHaveLength(200)
})
