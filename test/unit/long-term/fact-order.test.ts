import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { groupsUntil, listOf } from '../../../src/features/facts/fact-index.ts'
import { LIVE } from '../../../src/features/facts/live.ts'
import type { FactInput, FactKind, FactList } from '../../../src/ports/fact.ts'
import { bench, DAY, NOON } from '../support/facts.ts'
import { runs } from '../support/runs.ts'

const LISTS: readonly FactList[] = ['pinned', 'shown', 'low', 'due', 'recent']
const KINDS: readonly FactKind[] = ['finding', 'blocker', 'correction', 'preference', 'constraint']
const time = fc.integer({ min: NOON - 9 * DAY, max: NOON + 9 * DAY })
const inputs = fc
  .array(
    fc.record(
      {
        kind: fc.constantFrom(...KINDS),
        project: fc.constantFrom('site', 'shop'),
        pinned: fc.boolean(),
        priority: fc.integer({ min: 0, max: 9 }),
        confidence: fc.double({ min: 0, max: 1, noNaN: true }),
        reviewAt: time,
        expiresAt: time,
        createdAt: time,
      },
      { requiredKeys: ['kind', 'createdAt'] },
    ),
    { maxLength: 20 },
  )
  .map((all): FactInput[] =>
    all.map((one, index) => ({ ...one, id: `f${index}`, text: `Fact number ${index}.` })),
  )

async function look(given: readonly FactInput[]) {
  const { facts, store } = bench()
  for (const one of given) await facts.remember(one)
  const lists = []
  for (const list of LISTS)
    for (const project of [undefined, 'site']) {
      const rows = await facts.top(list, project, 7, NOON)
      lists.push(rows.map(({ fact }) => fact))
    }
  const groups = LISTS.flatMap((list) => [listOf(list), listOf(list, 'site'), listOf(list, 'shop')])
  const days = [LIVE, ...groups].flatMap((group) => groupsUntil(`${group}/expires`, NOON))
  const sums = await store.sums([LIVE, ...groups, ...days, ...groupsUntil(listOf('due'), NOON)])
  return { lists, all: await facts.list(), sums: [...sums].sort(([one], [other]) => (one < other ? -1 : 1)) }
}

describe('the order in which facts were remembered', () => {
  it('changes neither lists nor sums', async () => {
    await fc.assert(
      fc.asyncProperty(
        inputs.chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
        ),
        async ([one, other]) => {
          expect(await look(other)).toEqual(await look(one))
        },
      ),
      runs(100),
    )
  })

  it('does not change what a page holds: pages together hold each live fact once, in strict order', async () => {
    await fc.assert(
      fc.asyncProperty(inputs, fc.integer({ min: 1, max: 5 }), async (all, first) => {
        const { facts } = bench()
        for (const one of all) await facts.remember(one)
        for (const query of [
          {},
          { all: true },
          { project: 'site' },
          { kinds: ['finding', 'blocker'] as const },
        ]) {
          const whole = await facts.list(query)
          const paged = []
          for (let page = await facts.list({ ...query, first }); page.length > 0; ) {
            paged.push(...page)
            page = await facts.list({ ...query, first, after: page.at(-1)?.id ?? '' })
          }
          expect(paged).toEqual(whole)
        }
        expect(await facts.list({ all: true })).toHaveLength(all.length)
      }),
      runs(50),
    )
  })
})
