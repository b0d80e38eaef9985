import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadO200k } from '../../../src/counters/o200k.ts'
import { factTokens } from '../../../src/features/facts/fact-item.ts'
import { skillTokens } from '../../../src/features/skills/skill-item.ts'
import { charsPerToken, defaultCounter, isPlimsollError, utf8Bound } from '../../../src/index.ts'
import { start as startSession } from '../../../src/operations/start/start.ts'
import type { Counter } from '../../../src/ports/counter.ts'
import type { Fact } from '../../../src/ports/fact.ts'
import type { SessionStart } from '../../../src/ports/start.ts'
import { texts } from '../support/histories.ts'
import { isWhole, runs } from '../support/runs.ts'
import { DAY, fact, NOON, type Remembered, sessionHolding } from '../support/starts.ts'

const TODAY = NOON - DAY / 2
const COUNTERS: readonly Counter[] = [charsPerToken(4), utf8Bound, await loadO200k(), defaultCounter]

const project = fc.constantFrom(undefined, 'a', 'b', 'a/expires/1/20779')
/** Around today, and at the very borders of days. */
const times = fc
  .tuple(fc.integer({ min: -90, max: 5 }), fc.constantFrom(0, 1, DAY / 2, DAY - 1))
  .map(([days, more]) => TODAY + days * DAY + more)

const facts = (most: number): fc.Arbitrary<readonly Fact[]> =>
  fc.uniqueArray(
    fc
      .record({
        id: fc.oneof(fc.nat(200).map(String), fc.string({ minLength: 1, maxLength: 40 })),
        kind: fc.constantFrom('finding', 'blocker', 'correction', 'preference', 'constraint'),
        title: texts.map((text) => text.slice(0, 80)),
        text: texts,
        project,
        status: fc.constantFrom(undefined, undefined, 'open', 'resolved'),
        pinned: fc.constantFrom(true, true, false),
        priority: fc.nat(9),
        strength: fc.constantFrom(undefined, undefined, 1, 99),
        confidence: fc.integer({ min: 0, max: 1_000 }).map((thousandths) => thousandths / 1_000),
        supersededBy: fc.constantFrom(undefined, undefined, undefined, 'another'),
        createdAt: fc.integer({ min: TODAY - 3, max: TODAY }),
        reviewAt: times,
        expiresAt: fc.option(times, { nil: undefined }),
      })
      .map((given) =>
        fact(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never),
      ),
    { maxLength: most, size: 'max', selector: ({ id }) => id },
  )

const memories: fc.Arbitrary<Remembered> = fc.record({
  user: facts(60),
  session: facts(30),
  skills: fc.uniqueArray(fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), description: texts }), {
    maxLength: 40,
    size: 'max',
    selector: ({ name }) => name,
  }),
  recalled: fc.array(
    fc.record({
      id: fc.uuid(),
      role: fc.constantFrom('user' as const, 'assistant' as const, 'tool' as const),
      text: texts,
      trust: fc.constantFrom('user' as const, 'web' as const),
    }),
    { maxLength: 70, size: 'max' },
  ),
})

/** The facts that hold, in their strict order, as one would write it down without any index. */
function holding({ user = [], session = [] }: Remembered): readonly Fact[] {
  const hold = (one: Fact) =>
    one.supersededBy === undefined &&
    one.status !== 'resolved' &&
    (one.expiresAt === undefined || one.expiresAt > TODAY)
  const percent = ({ confidence }: Fact) => Math.round(confidence * 100)
  return [...user, ...session]
    .filter(hold)
    .sort(
      (one, other) =>
        other.priority - one.priority ||
        (other.strength ?? 0) - (one.strength ?? 0) ||
        percent(other) - percent(one) ||
        other.createdAt - one.createdAt ||
        (one.id < other.id ? -1 : Number(one.id > other.id)),
    )
}

const ids = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id)
const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)

function itemsOf({ pinned, skills_index, context_recall }: SessionStart): readonly string[] {
  // A recalled item that has its text keeps it, and what is shown without one may get it.
  const recalled = context_recall.flatMap(({ text, ...item }) => [
    JSON.stringify(item),
    ...(text === undefined ? [] : [JSON.stringify({ ...item, text })]),
  ])
  return [...[...pinned, ...skills_index].map((item) => JSON.stringify(item)), ...recalled]
}

describe('a start of any memory', () => {
  test('counts and names what a plain list of the facts says', async () => {
    await fc.assert(
      fc.asyncProperty(
        memories,
        project,
        fc.integer({ min: 2_000, max: 12_000 }),
        fc.constantFrom(...COUNTERS),
        async (memory, asked, total, counter) => {
          const parts = await sessionHolding(memory, counter)
          const options = {
            query: 'any',
            sessions: 'own' as const,
            ...(asked !== undefined && { project: asked }),
          }
          const found = await startSession(parts, { ...options, budgetTokens: total }).catch(leastOf)
          if (typeof found === 'number') return
          const all = holding(memory)
          const here = all.filter((one) => one.project === undefined || one.project === asked)
          expect(found.memory_count).toBe(all.length)

          const pinned = here.filter((one) => one.pinned)
          const shown = found.pinned.length
          expect(ids(found.pinned)).toEqual(ids(pinned.slice(0, shown)))
          const left = pinned.slice(shown)
          expect(found.overflow.pinned).toEqual({
            count: left.length,
            tokens: sum(left.map((one) => factTokens(counter, one))),
            first: ids(left.slice(0, 5)),
          })

          const skills = [...(memory.skills ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1))
          const unlisted = skills.slice(found.skills_index.length)
          expect(found.skills_index).toEqual(skills.slice(0, found.skills_index.length))
          expect(found.overflow.skills_index).toEqual({
            count: unlisted.length,
            tokens: sum(unlisted.map((skill) => skillTokens(counter, skill))),
            first: unlisted.slice(0, 5).map(({ name }) => name),
          })

          const due = here
            .filter(({ reviewAt }) => reviewAt < TODAY + DAY)
            .filter(({ reviewAt, expiresAt }) => expiresAt === undefined || reviewAt < expiresAt)
          expect(found.due_for_review).toBe(due.length)
          const byTime = [...due].sort((a, b) => a.reviewAt - b.reviewAt || (a.id < b.id ? -1 : 1))
          expect(ids(found.due)).toEqual(ids(byTime.slice(0, 5)))

          const low = here.filter(({ confidence }) => confidence < 0.5)
          expect(found.overflow.low_confidence_alerts).toBe(Math.max(0, low.length - 5))
          expect(ids(found.low_confidence_alerts)).toEqual(ids(low.slice(0, 5)))
        },
      ),
      runs(60),
    )
  })

  test('is never over its cap, and a larger cap never removes an item', async () => {
    await fc.assert(
      fc.asyncProperty(
        memories,
        fc.constantFrom(...COUNTERS),
        fc.array(fc.nat(10_000), { minLength: 12, maxLength: 12 }),
        async (memory, counter, caps) => {
          const parts = await sessionHolding(memory, counter)
          const least = await startSession(parts, { query: 'any', budgetTokens: 1 }).catch(leastOf)
          if (typeof least !== 'number') throw new Error('one token is enough')
          let before: readonly string[] = []
          const steps = caps.map((cap) => least + Math.floor((cap * (10_000 - least)) / 10_000))
          for (const cap of [least, ...steps.sort((a, b) => a - b)].filter((cap) => cap >= least)) {
            const start = await startSession(parts, { query: 'any', budgetTokens: cap })
            expect(start.budget.cap).toBe(cap)
            expect(counter.count(JSON.stringify(start))).toBeLessThanOrEqual(start.budget.used)
            expect(start.budget.used).toBeLessThanOrEqual(cap)
            const { pinned, skills_index, context_recall } = start
            expect(counter.count(JSON.stringify(pinned))).toBeLessThanOrEqual(1_500)
            expect(counter.count(JSON.stringify(skills_index))).toBeLessThanOrEqual(800)
            expect(counter.count(JSON.stringify(context_recall))).toBeLessThanOrEqual(700)
            const items = itemsOf(start)
            expect(before.filter((item) => !items.includes(item))).toEqual([])
            before = items
          }
        },
      ),
      runs(40),
    )
  })

  test.each(COUNTERS)('only grows from the least cap to 10 000 tokens, counted by $id', async (counter) => {
    const of = (count: number) => Array.from({ length: count }, (_, index) => index)
    const said = (index: number) => `No. ${index}${': trains, not planes'.repeat((index * 7) % 5)}`
    const parts = await sessionHolding(
      {
        user: of(80).map((index) => fact({ id: 'f'.repeat((index % 9) + 1) + index, text: said(index) })),
        skills: of(60).map((index) => ({ name: `s-${index}`, description: said(index) })),
        recalled: of(64).map((index) => ({
          id: `m${index}`,
          role: 'user' as const,
          text: said(index),
          trust: 'user' as const,
        })),
      },
      counter,
    )
    const budgetOf = (total: number) => ({
      working_memory_budget_tokens: total,
      pin_budget_tokens: 6_000,
      skills_index_budget_tokens: 3_000,
      recall_budget_tokens: 3_000,
    })
    const least = await startSession(parts, { query: 'any', budgetTokens: budgetOf(1) }).catch(leastOf)
    let before: readonly string[] = []
    for (let cap = Number(least); cap <= 10_000; cap += isWhole ? 17 : 61) {
      const start = await startSession(parts, { query: 'any', budgetTokens: budgetOf(cap) })
      expect(start.budget.used).toBeLessThanOrEqual(cap)
      const items = itemsOf(start)
      expect(before.every((item) => items.includes(item))).toBe(true)
      before = items
    }
    expect(before.length).toBeGreaterThan(80)
  })

  test('is the same bytes in whatever order the facts were written', async () => {
    const shuffled = memories.chain((memory) =>
      fc.record({
        memory: fc.constant(memory),
        user: fc.shuffledSubarray([...(memory.user ?? [])], { minLength: memory.user?.length ?? 0 }),
        session: fc.shuffledSubarray([...(memory.session ?? [])], { minLength: memory.session?.length ?? 0 }),
        skills: fc.shuffledSubarray([...(memory.skills ?? [])], { minLength: memory.skills?.length ?? 0 }),
      }),
    )
    await fc.assert(
      fc.asyncProperty(shuffled, project, async ({ memory, ...other }, asked) => {
        const counter = charsPerToken(4)
        const options = { query: 'any', budgetTokens: 4_000, ...(asked !== undefined && { project: asked }) }
        const one = await startSession(await sessionHolding(memory, counter), options)
        const two = await startSession(await sessionHolding({ ...memory, ...other }, counter), options)
        expect(JSON.stringify(two)).toBe(JSON.stringify(one))
      }),
      runs(60),
    )
  })
})

/** The least total that is no error. */
function leastOf(error: unknown): number {
  if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL') || error.limit === undefined) throw error
  return error.limit
}
