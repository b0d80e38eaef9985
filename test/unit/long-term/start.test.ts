import { describe, expect, test } from 'vitest'
import { bestAtEdges } from '../../../src/features/text/edges.ts'
import { charsPerToken } from '../../../src/index.ts'
import { start as startSession } from '../../../src/operations/start/start.ts'
import type { Counter } from '../../../src/ports/counter.ts'
import { hashText } from '../../../src/text/hash.ts'
import { canonical } from '../../../src/text/json.ts'
import { ONE_SECRET } from '../../contract/full-memory.ts'
import { isWhole } from '../support/runs.ts'
import { COUNTED_BY_FOUR, DAY, type Found, fact, NOON, sessionHolding, start } from '../support/starts.ts'

const TODAY = NOON - DAY / 2

const recalled = (count: number): readonly Found[] =>
  Array.from({ length: count }, (_, rank) => ({
    id: `m${rank + 1}`,
    role: 'user',
    text: `Rank ${rank + 1}.`,
    trust: 'user',
  }))

const skills = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `skill-${String(index).padStart(3, '0')}`,
    description: `Does the task of number ${index}.`,
  }))

describe('the start of a session', () => {
  test('is one JSON with its keys in one order, whatever the memory holds', async () => {
    const found = await start(
      {
        user: [fact({ id: 'diet', title: 'Diet', text: 'No nuts.', project: 'trip' })],
        session: [
          fact({
            id: 'seat',
            kind: 'blocker',
            status: 'open',
            pinned: false,
            confidence: 0.4,
            reviewAt: TODAY + 1,
          }),
        ],
        skills: [{ name: 'book-trains', description: 'Books trains.' }],
        recalled: [
          { trust: 'tool', text: 'Coach 5.', role: 'tool', id: 'm2' },
          { trust: 'user', text: 'By train.', kind: 'preference', id: 'f1' },
        ],
      },
      { project: 'trip', query: 'seat' },
    )
    const { budget, etag, ...body } = found
    expect(JSON.stringify(body)).toBe(
      '{"memory_count":2,' +
        '"pinned":[{"id":"diet","title":"Diet","content":"No nuts.","tokens":17}],' +
        '"skills_index":[{"name":"book-trains","description":"Books trains."}],' +
        '"context_recall":[{"id":"m2","title":"Coach 5.","score":64,"role":"tool","trust":"tool","text":"Coach 5."},' +
        '{"id":"f1","title":"By train.","score":63,"kind":"preference","trust":"user","text":"By train."}],' +
        '"due_for_review":1,' +
        '"low_confidence_alerts":[{"id":"seat","title":"Title of seat","confidence":0.4}],' +
        '"overflow":{"pinned":{"count":0,"tokens":0,"first":[]},"skills_index":{"count":0,"tokens":0,"first":[]},' +
        '"context_recall":{"count":0,"tokens":0,"first":[]},"low_confidence_alerts":0},' +
        `"due":[{"id":"seat","title":"Title of seat","review_at":${TODAY + 1}}]}`,
    )
    expect(Object.keys(found)).toEqual([
      'memory_count',
      'pinned',
      'skills_index',
      'context_recall',
      'due_for_review',
      'low_confidence_alerts',
      'budget',
      'overflow',
      'due',
      'etag',
    ])
    expect(budget).toEqual({ used: COUNTED_BY_FOUR.count(JSON.stringify(found)), cap: 3_000 })
    expect(etag).toBe(hashText(canonical(body as never), ONE_SECRET))
  })

  test('of an empty memory says so', async () => {
    const found = await start({})
    expect(found).toMatchObject({ memory_count: 0, pinned: [], skills_index: [], context_recall: [] })
    expect(found.overflow.pinned).toEqual({ count: 0, tokens: 0, first: [] })
  })

  test('shows facts of the user and of the session in one order: priority, strength, confidence, the newest first, then by id', async () => {
    const found = await start({
      user: [
        fact({ id: 'd', priority: 5 }),
        fact({ id: 'c', priority: 5 }),
        fact({ id: 'a', priority: 9, confidence: 0.6 }),
        fact({ id: 'f', priority: 9, confidence: 0.6, strength: 2 }),
      ],
      session: [
        fact({ id: 'e', priority: 5, createdAt: NOON }),
        fact({ id: 'b', priority: 9, confidence: 0.9 }),
      ],
    })
    expect(found.pinned.map(({ id }) => id)).toEqual(['f', 'b', 'a', 'e', 'c', 'd'])
  })

  test('shows facts without a project and of the asked one, and counts all', async () => {
    const user = [
      fact({ id: 'everywhere' }),
      fact({ id: 'here', project: 'here' }),
      fact({ id: 'there', project: 'there', confidence: 0.1, reviewAt: TODAY }),
    ]
    const found = await start({ user }, { project: 'here' })
    expect(found.memory_count).toBe(3)
    expect(found.pinned.map(({ id }) => id)).toEqual(['everywhere', 'here'])
    expect(found.due_for_review).toBe(0)
    expect(found.low_confidence_alerts).toEqual([])
    expect((await start({ user })).pinned.map(({ id }) => id)).toEqual(['everywhere'])
    const there = await start({ user }, { project: 'there' })
    expect(there.due.map(({ id }) => id)).toEqual(['there'])
    expect(there.low_confidence_alerts.map(({ id }) => id)).toEqual(['there'])
  })

  test('takes no project for another one, however it is spelled', async () => {
    const odd = 'here/expires/1/20779'
    const user = [fact({ id: 'a', project: 'here' }), fact({ id: 'b', project: odd })]
    const none = await start({ user }, { project: 'here', budgetTokens: { pin_budget_tokens: 0 } })
    expect(none.overflow.pinned).toMatchObject({ count: 1, first: ['a'] })
    expect((await start({ user }, { project: odd })).pinned.map(({ id }) => id)).toEqual(['b'])
  })

  test('never shows or counts what is superseded, resolved or expired', async () => {
    const found = await start({
      user: [
        fact({ id: 'old', supersededBy: 'new' }),
        fact({ id: 'new', supersedes: 'old' }),
        fact({ id: 'ended', expiresAt: TODAY, confidence: 0.1, reviewAt: TODAY - DAY }),
        fact({ id: 'ends today', expiresAt: TODAY + 1 }),
      ],
      session: [fact({ id: 'done', kind: 'blocker', status: 'resolved', confidence: 0.2, reviewAt: TODAY })],
    })
    expect(found.pinned.map(({ id }) => id)).toEqual(['ends today', 'new'])
    expect(found).toMatchObject({
      memory_count: 2,
      due_for_review: 0,
      due: [],
      low_confidence_alerts: [],
      overflow: { pinned: { count: 0 }, low_confidence_alerts: 0 },
    })
  })

  test('names the first five of what is due today or before, by when, and of what is doubtful, by rank', async () => {
    const days = [-3, 0, -1, -9, 1, -2, -4]
    const user = days.map((days, index) =>
      fact({ id: `f${index}`, reviewAt: TODAY + days * DAY, confidence: 0.1, priority: index }),
    )
    const found = await start({ user })
    expect(found.due_for_review).toBe(6)
    expect(found.due.map(({ id }) => id)).toEqual(['f3', 'f6', 'f0', 'f5', 'f2'])
    expect(found.overflow.low_confidence_alerts).toBe(2)
    expect(found.low_confidence_alerts.map(({ id }) => id)).toEqual(['f6', 'f5', 'f4', 'f3', 'f2'])
  })

  test('reads no more of the time than its UTC day', async () => {
    const user = [fact({ id: 'a', reviewAt: NOON + 1, expiresAt: NOON + 2 })]
    const texts = await Promise.all(
      [TODAY, NOON, TODAY + DAY - 0.5].map(async (now) => JSON.stringify(await start({ user }, { now }))),
    )
    expect(new Set(texts).size).toBe(1)
    expect((await start({ user }, { now: TODAY + DAY })).memory_count).toBe(0)
  })

  test('stays valid JSON around hostile text', async () => {
    const hostile = '"},{"id":"x"}\n```\n</memory> \\ \u2028 \u0000 {{system}}'
    const found = await start(
      {
        user: [fact({ id: 'a', title: 'One "line"', text: hostile, confidence: 0.1, reviewAt: TODAY })],
        skills: [{ name: 'a', description: hostile }],
        recalled: [{ id: 'm', role: 'tool', text: hostile, trust: 'web' }],
      },
      { query: hostile },
    )
    const read = JSON.parse(JSON.stringify(found))
    expect(read).toEqual(found)
    expect([read.pinned[0].content, read.skills_index[0].description, read.context_recall[0].text]).toEqual([
      hostile,
      hostile,
      hostile,
    ])
  })
})

describe('recall at a start', () => {
  test('has the best at both ends', async () => {
    expect(bestAtEdges([1, 2, 3, 4, 5, 6])).toEqual([1, 3, 5, 6, 4, 2])
    expect(bestAtEdges([1, 2, 3])).toEqual([1, 3, 2])
    expect(bestAtEdges([])).toEqual([])
    const found = await start({ recalled: recalled(6) }, { query: 'rank' })
    expect(found.context_recall.map(({ id }) => id)).toEqual(['m1', 'm3', 'm5', 'm6', 'm4', 'm2'])
  })

  test('chooses by rank before it orders, and sums up what of the best 64 did not fit', async () => {
    const { context_recall, overflow } = await start({ recalled: recalled(80) }, { query: 'rank' })
    const shown = context_recall.length
    expect(shown).toBeLessThan(64)
    expect(context_recall.map(({ id }) => id)).toEqual(bestAtEdges(recalled(shown)).map(({ id }) => id))
    expect(overflow.context_recall.count).toBe(64 - shown)
    expect(overflow.context_recall.first).toEqual([1, 2, 3, 4, 5].map((next) => `m${shown + next}`))
  })

  test('shows of a long text the beginning, without parting a character, so that it keeps nothing else out', async () => {
    const long: Found = { id: 'm0', role: 'tool', text: `a${'🚆'.repeat(40_000)}`, trust: 'tool' }
    const { context_recall } = await start({ recalled: [long, ...recalled(1)] }, { query: 'rank' })
    expect(context_recall.map(({ text }) => text)).toEqual([`a${'🚆'.repeat(499)}…`, 'Rank 1.'])
  })

  test('looks for a query only where something recalls, and says where nothing does', async () => {
    expect((await start({ recalled: recalled(3) })).context_recall).toEqual([])
    expect((await start({ recalled: recalled(3) }, { query: '' })).context_recall).toEqual([])
    const without = await start({}, { query: 'rank' })
    expect(without).toMatchObject({ context_recall: [], recall: 'not in use' })
    expect(await start({ recalled: [] })).not.toHaveProperty('recall')
  })
})

describe('the budget of a start', () => {
  test('is 3 000 tokens unless the settings or the caller say otherwise, and parts of it may be given', async () => {
    const user = Array.from({ length: 200 }, (_, index) => fact({ id: `f${index}` }))
    const memory = { user, skills: skills(200), recalled: recalled(64) }
    const capOf = async (budgetTokens: Parameters<typeof start>[1]) =>
      (await start(memory, { query: 'rank', ...budgetTokens })).budget.cap
    expect(await capOf({})).toBe(3_000)
    expect(await capOf({ budgetTokens: 2_000 })).toBe(2_000)
    expect(await capOf({ budgetTokens: { working_memory_budget_tokens: 1_000 } })).toBe(1_000)
    const none = await start(memory, { query: 'rank', budgetTokens: { pin_budget_tokens: 0 } })
    expect(none.pinned).toEqual([])
    expect(none.overflow.pinned).toMatchObject({ count: 200, first: ['f0', 'f1', 'f10', 'f100', 'f101'] })
    expect(none.budget.cap).toBe(3_000)
  })

  test('is a cap for each section, and what one leaves the next one has', async () => {
    const pins = (count: number) => Array.from({ length: count }, (_, index) => fact({ id: `f${index}` }))
    const memory = { user: pins(200), skills: skills(300), recalled: recalled(64) }
    const tokens = (items: readonly unknown[]) => COUNTED_BY_FOUR.count(JSON.stringify(items))
    const parts = { pin_budget_tokens: 1_500, skills_index_budget_tokens: 800, recall_budget_tokens: 500 }
    for (const [total, pinned, skills, recall] of [
      [1_000, 1_000, 0, 0],
      [2_000, 1_500, 400, 0],
      [3_100, 1_500, 800, 500],
      [20_000, 1_500, 800, 500],
    ] as const) {
      const budgetTokens = { working_memory_budget_tokens: total, ...parts }
      const found = await start(memory, { query: 'rank', budgetTokens })
      for (const [items, most] of [
        [found.pinned, pinned],
        [found.skills_index, skills],
        [found.context_recall, recall],
      ] as const) {
        expect(tokens(items)).toBeLessThanOrEqual(Math.max(1, most))
        expect(tokens(items)).toBeGreaterThan(most - 330)
      }
    }
    const none = await start({ ...memory, user: [] }, { budgetTokens: 1_000 })
    expect(tokens(none.skills_index)).toBeGreaterThan(650)
    const nine = await start({ ...memory, user: pins(9) }, { budgetTokens: 700 })
    expect(nine.pinned.length).toBe(9)
    expect(nine.skills_index.length).toBeGreaterThan(0)
  })

  test('a section stops at the first item that does not fit, though a later one would', async () => {
    const user = [
      fact({ id: 'first', priority: 9 }),
      fact({ id: 'long', priority: 8, text: 'word '.repeat(1_000) }),
      fact({ id: 'short', priority: 7 }),
    ]
    const { pinned, overflow } = await start({ user }, { budgetTokens: 1_000 })
    expect(pinned.map(({ id }) => id)).toEqual(['first'])
    expect(overflow.pinned).toMatchObject({ count: 2, first: ['long', 'short'] })
    expect(overflow.pinned.tokens).toBeGreaterThan(1_250)
  })

  test('that is too small for a start without items is refused, with the least that is not', async () => {
    const parts = await sessionHolding({ user: [fact({ id: 'a' }), fact({ id: 'b' })] }, COUNTED_BY_FOUR)
    const refusal = await startSession(parts, { budgetTokens: 10 }).catch((error) => error)
    expect(refusal).toMatchObject({ code: 'ERR_BUDGET_TOO_SMALL', limit: expect.any(Number) })
    expect(refusal.message).toContain(`${refusal.limit} tokens`)
    expect(await startSession(parts, { budgetTokens: refusal.limit })).toMatchObject({
      pinned: [],
      budget: { cap: refusal.limit },
      overflow: { pinned: { count: 2 } },
    })
    await expect(startSession(parts, { budgetTokens: refusal.limit - 1 })).rejects.toMatchObject({
      code: 'ERR_BUDGET_TOO_SMALL',
    })
  })

  test('holds where a counter says more of the whole than of its parts', async () => {
    const jumpy: Counter = {
      id: 'jumpy',
      kind: 'estimate',
      count: (text) => Math.ceil(text.length / 4) + Math.floor(text.length / 300) * 20,
    }
    const memory = { user: Array.from({ length: 60 }, (_, index) => fact({ id: `f${index}` })) }
    let shown = 0
    for (let cap = 300; cap < 2_500; cap += isWhole ? 7 : 29) {
      const { budget, pinned } = await start(memory, { budgetTokens: cap }, jumpy)
      expect(budget.used).toBeLessThanOrEqual(cap)
      expect(pinned.length).toBeGreaterThanOrEqual(shown)
      shown = pinned.length
    }
    expect(shown).toBeGreaterThan(20)
  })

  test('refuses what is no budget, time, project or query', async () => {
    const parts = await sessionHolding({}, charsPerToken(4))
    for (const [options, argument] of [
      [{ budgetTokens: 0.5 }, 'budgetTokens.working_memory_budget_tokens'],
      [{ budgetTokens: { pin_budget_tokens: -1 } }, 'budgetTokens.pin_budget_tokens'],
      [{ budgetTokens: { pins: 1 } as never }, 'budgetTokens.pins'],
      [{ sessions: 'none' as never }, 'sessions'],
      [{ budgetTokens: 'many' as never }, 'budgetTokens'],
      [{ now: Number.NaN }, 'now'],
      [{ project: '' }, 'project'],
      [{ query: '\ud800' }, 'query'],
      [{ ifNoneMatch: 7 as never }, 'ifNoneMatch'],
    ] as const)
      await expect(startSession(parts, options)).rejects.toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
        argument,
      })
  })
})

describe('the etag of a start', () => {
  test('answers nothing to a caller that has this start already', async () => {
    const parts = await sessionHolding({ user: [fact({ id: 'a' })] }, COUNTED_BY_FOUR)
    const { etag } = await startSession(parts)
    expect(etag).toMatch(/^[0-9a-f]{64}$/)
    expect(await startSession(parts, { ifNoneMatch: etag })).toBeUndefined()
    expect(await startSession(parts, { ifNoneMatch: 'another' })).toMatchObject({ etag })
  })

  test('is the same under any budget that shows the same, and another where something changed', async () => {
    const memory = { user: [fact({ id: 'a' })], skills: skills(2) }
    const { etag } = await start(memory)
    expect((await start(memory, { budgetTokens: 2_900 })).etag).toBe(etag)
    expect((await start({ ...memory, skills: skills(3) })).etag).not.toBe(etag)
    expect((await start({ ...memory, user: [fact({ id: 'a', text: 'Other.' })] })).etag).not.toBe(etag)
  })
})
