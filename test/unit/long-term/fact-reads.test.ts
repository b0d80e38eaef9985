import { describe, expect, it } from 'vitest'
import { factKey } from '../../../src/features/facts/fact.ts'
import { indexOf } from '../../../src/features/facts/fact-index.ts'
import { bandsOf } from '../../../src/features/facts/near-duplicates.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import type { Fact } from '../../../src/ports/fact.ts'
import type { Json } from '../../../src/ports/message.ts'
import type { ScopeStore } from '../../../src/ports/store.ts'
import { size } from '../../everywhere/runs.ts'
import { bench, DAY, finding, NOON, openScope } from '../support/facts.ts'

/**
 * Most rows that remembering one fact reads: 3 bands of 16, 8 that ended, the fact's own row, the
 * marks of these and of what it supersedes, and the two sums.
 */
const MOST_REMEMBERED = 3 * 16 + 8 + 1 + (8 + 2) + 2
const MANY = size(100_000)

/** Facts of which 50 begin alike, and of which each hundredth has ended. */
function factAt(index: number): Fact {
  const isOver = index % 100 === 0
  const text = index < 50 ? `deploy the site ${index}` : `number ${index} of ${index * 7}`
  return {
    id: `f${String(index).padStart(6, '0')}`,
    kind: 'finding',
    title: text,
    text,
    pinned: false,
    priority: 3,
    confidence: 1,
    trust: 'user',
    sources: [],
    // Falling, so that each fact goes to the end of its lists.
    createdAt: NOON - 2 * DAY - index,
    reviewAt: NOON + index,
    ...(isOver && { expiresAt: NOON - DAY + index }),
  }
}

async function fill(store: ScopeStore): Promise<void> {
  for (let from = 0; from < MANY; from += 5_000) {
    const ops = Array.from({ length: 5_000 }, (_, at) => {
      const fact = factAt(from + at)
      const index = indexOf(fact, fact.text.length, bandsOf(fact))
      const key = factKey(fact.id)
      return sealOp({ kind: 'put', opId: fact.id, key, base: null, value: fact as unknown as Json, index })
    })
    await store.commit(ops, decide)
  }
}

/** The store, and how many rows its reads gave. */
function counted(store: ScopeStore) {
  const count = { rows: 0, calls: 0 }
  const note = <Result>(result: Result, rows: number): Result => {
    count.calls++
    count.rows += rows
    return result
  }
  const reads: Partial<ScopeStore> = {
    register: async (key) => note(await store.register(key), 1),
    registers: async (...given) => {
      const rows = await store.registers(...given)
      return note(rows, rows.length)
    },
    indexed: async (...given) => {
      const rows = await store.indexed(...given)
      return note(rows, rows.length)
    },
    sums: async (groups) => note(await store.sums(groups), groups.length),
    entries: async () => {
      throw new Error('facts read no log')
    },
  }
  const target = store as unknown as { readonly [key: string]: unknown }
  const counting = new Proxy(store, {
    get: (_, key: string) => {
      const own = reads[key as keyof ScopeStore]
      if (own !== undefined) return own
      const value = target[key]
      return typeof value === 'function' ? value.bind(store) : value
    },
  })
  return { store: counting, count }
}

describe('among a hundred thousand facts, of which a push has a tenth', () => {
  it('remembering, changing and listing read a bounded number of rows', async () => {
    const inner = openScope()
    await fill(inner)
    const { store, count } = counted(inner)
    const { facts } = bench({ store })
    const cost = async (work: Promise<unknown>): Promise<number> => {
      count.rows = 0
      count.calls = 0
      await work
      return count.rows
    }
    expect(await cost(facts.remember(finding('Something quite new.')))).toBeLessThanOrEqual(MOST_REMEMBERED)
    expect(await cost(facts.remember(finding('deploy the site')))).toBeLessThanOrEqual(MOST_REMEMBERED)
    const again = facts.remember(finding('Number 7000 of 49000!', { priority: 9 }))
    expect(await cost(again)).toBeLessThanOrEqual(MOST_REMEMBERED)
    expect(await again).toMatchObject({ status: 'new' })
    const merged = facts.remember(finding('Number 7001 of 49007!', { priority: 9 }))
    expect(await cost(merged)).toBeLessThanOrEqual(MOST_REMEMBERED)
    expect(await merged).toMatchObject({ status: 'merged', fact: { id: 'f007001' } })
    // And the marks of the fact and of those that ended.
    expect(count.calls).toBeLessThanOrEqual(6 + 9)
    expect(await cost(facts.pin('f000777'))).toBeLessThanOrEqual(1 + 8 + 9)
    expect(await cost(facts.list({ first: 20 }))).toBeLessThanOrEqual(2 * 20)
    expect(await cost(facts.top('shown', 'site', 20, NOON))).toBeLessThanOrEqual(2 * 2 * 20)
    expect(await cost(facts.top('low', 'site', 20, NOON))).toBe(0)
    expect(count.calls).toBe(2)
    expect(await cost(facts.list({ first: 20, after: 'f005001' }))).toBeLessThanOrEqual(1 + 2 * 20)
  }, 60_000)

  it('a list reads eight pages at most to get past those that have ended', async () => {
    const { store, count } = counted(openScope())
    const { facts } = bench({ store, caps: { perHour: 1_000 } })
    for (let index = 0; index < 150; index++)
      await facts.remember(finding(`Ends ${index}.`, { expiresAt: NOON + DAY, priority: 9 }))
    await facts.remember(finding('Stays.'))
    count.rows = 0
    expect(await facts.top('shown', undefined, 1, NOON + 2 * DAY)).toEqual([])
    expect(count.rows).toBe(8 * 16)
    const [first] = await facts.top('shown', undefined, 512, NOON + 2 * DAY)
    expect(first?.fact.text).toBe('Stays.')
  })
})

it('facts of other projects are not read where those of one are listed', async () => {
  const { store, count } = counted(openScope())
  const { facts } = bench({ store, caps: { perHour: 10_000 } })
  for (let at = 0; at < 600; at++) await facts.remember(finding(`Berth ${at}.`, { project: 'boats' }))
  for (let at = 0; at < 30; at++)
    await facts.remember(
      finding(`Platform ${at}.`, {
        priority: at % 4,
        pinned: at % 3 === 0,
        ...(at % 2 === 0 && { project: 'trains' }),
      }),
    )
  count.rows = 0
  const listed = await facts.list({ project: 'trains' })
  expect(listed).toHaveLength(30)
  expect(count.rows).toBe(30)
  const whole = (await facts.list()).filter(({ project }) => project !== 'boats')
  const paged: Fact[] = []
  for (let page = await facts.list({ project: 'trains', first: 7 }); page.length > 0; ) {
    paged.push(...page)
    page = await facts.list({ project: 'trains', first: 7, after: page.at(-1)?.id ?? '' })
  }
  expect(paged).toEqual(listed)
  expect(listed.slice(0, whole.length)).toEqual(whole)
})
