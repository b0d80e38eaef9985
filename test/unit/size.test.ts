import { expect, it } from 'vitest'
import {
  charsPerToken,
  compaction,
  count,
  createMemory,
  type MessageInput,
  mapStore,
  overBudget,
  profile,
  rewind,
  scriptedModel,
  tokens,
} from '../../src/index.ts'

const said = (role: 'user' | 'assistant', tokens: number): MessageInput => ({
  role,
  content: 'word'.repeat(tokens - 4),
})
const open = (budget: number, store = mapStore()) => {
  const model = scriptedModel([], { summaries: ['They said words, again and again.'] })
  const counter = charsPerToken(4)
  const system = 'word'.repeat(7)
  const line = { contextWindow: budget, maxOutputTokens: 0, margin: 0 }
  const use = [profile(), compaction({ model })]
  return createMemory({ store, system, counter, budget: line, use }).session({ userId: 'ada' })
}

it('is counted after each message, and no “Continue.” with it', async () => {
  const session = open(400)
  const sizes = [[await tokens(session), await count(session)]]
  for (const message of [said('user', 7), said('assistant', 8), said('user', 11)]) {
    await session.append(message)
    sizes.push([await tokens(session), await count(session)])
  }
  expect(sizes).toEqual([
    [11, 1],
    [18, 2],
    [26, 3],
    [37, 4],
  ])
})

it('is over the budget until the next context has cut it', async () => {
  const store = mapStore()
  const session = open(400, store)
  for (let size = 11; size <= 400; size += 20) {
    expect([await tokens(session), await overBudget(session)]).toEqual([size, false])
    await session.append(said('user', 20))
    if (size === 191) await session.context()
  }
  expect([await tokens(session), await overBudget(session)]).toEqual([411, true])
  const { seq } = await store.open({ userId: 'ada', sessionId: 'default' }).head()
  expect(await count(session)).toBe(21)
  // Another object of the session says the same, and neither writes.
  expect(await tokens(open(400, store))).toBe(411)
  expect((await store.open({ userId: 'ada', sessionId: 'default' }).head()).seq).toBe(seq)
  const { receipt, blocks } = await session.context()
  expect(receipt.summary?.place).toBe(1)
  expect([await tokens(session), await count(session)]).toEqual([receipt.used, blocks.length])
  expect(await overBudget(session)).toBe(false)
})

it('is what shows again where a rewind hid all of the window', async () => {
  const session = open(400)
  const { messages } = await session.append(Array.from({ length: 20 }, () => said('user', 20)))
  const { blocks } = await session.context({ newEpoch: true })
  const first = blocks.find(({ section }) => section === 'window')?.from[0] as string
  await rewind(session, first)
  const left = messages.findIndex(({ id }) => id === first)
  expect([await tokens(session), await count(session)]).toEqual([11 + 20 * left, 1 + left])
})

it.each([tokens, count, overBudget])('is asked of a session of this library: %o', async (ask) => {
  await expect(ask({} as never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT', argument: 'session' })
})
