import { evictDurableObject } from 'cloudflare:test'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Budgets, TokenBuckets } from '../../../src/edge/rows/token-buckets.ts'
import { isPlimsollError } from '../../../src/ports/errors.ts'
import { runs } from '../../everywhere/runs.ts'
import { counted, inObject, newObject, TestClock } from './in-object.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const BUDGETS = {
  appends: { capacity: 120, perMs: MINUTE },
  bytes: { capacity: 64 * 2 ** 20, perMs: DAY },
  tokens: { capacity: 1_000_000, perMs: HOUR, debt: 200_000 },
  sessions: undefined,
} satisfies Budgets

const limited = (run: () => void): { code: string; retryAfter?: number; limit?: number } | undefined => {
  try {
    run()
    return undefined
  } catch (error) {
    if (!isPlimsollError(error)) throw error
    const { code, retryAfter, limit } = error
    return { code, ...(retryAfter !== undefined && { retryAfter }), ...(limit !== undefined && { limit }) }
  }
}

/** Buckets in a new object. */
function withBuckets<Result>(
  run: (buckets: TokenBuckets, clock: TestClock, storage: DurableObjectStorage) => Result,
): Promise<Result> {
  return inObject((storage) => {
    const clock = new TestClock()
    return run(new TokenBuckets(storage, BUDGETS, clock.now), clock, storage)
  })
}

describe('token buckets', () => {
  it('give a capacity at once, then as much as comes back, and say after how many seconds', async () => {
    await withBuckets((buckets, clock) => {
      for (let index = 0; index < 120; index++) buckets.take('appends', 1)
      expect(limited(() => buckets.take('appends', 1))).toEqual({
        code: 'ERR_RATE_LIMIT',
        retryAfter: 1,
        limit: 120,
      })
      expect(limited(() => buckets.take('appends', 60))?.retryAfter).toBe(30)
      clock.move(30 * SECOND - 1)
      expect(limited(() => buckets.take('appends', 60))?.retryAfter).toBe(1)
      clock.move(1)
      expect(limited(() => buckets.take('appends', 60))).toBeUndefined()
      expect(buckets.left('appends')).toBe(0)
      clock.move(DAY)
      expect(buckets.left('appends')).toBe(120)
    })
  })

  it('give all of a capacity in fractions, whatever these sum up to', async () => {
    await inObject((storage) => {
      const buckets = new TokenBuckets(storage, { money: { capacity: 0.3, perMs: HOUR } }, () => 0)
      for (let index = 0; index < 3; index++) buckets.take('money', 0.1)
      expect(buckets.left('money')).toBe(0)
      expect(limited(() => buckets.take('money', 0.001))?.code).toBe('ERR_RATE_LIMIT')
    })
  })

  it('take from several at once, all or nothing, and wait for the slowest', async () => {
    await withBuckets((buckets) => {
      buckets.takeAll({ appends: 120, bytes: 64 * 2 ** 20 })
      const refused = limited(() => buckets.takeAll({ appends: 60, bytes: 2 ** 20, tokens: 5 }))
      expect(refused).toEqual({ code: 'ERR_RATE_LIMIT', retryAfter: 1350, limit: 64 * 2 ** 20 })
      expect(limited(() => buckets.takeAll({ bytes: 2 ** 20, tokens: 5, appends: 60 }))).toEqual(refused)
      expect(buckets.left('tokens')).toBe(1_000_000)
      expect(buckets.left('appends')).toBe(0)
    })
  })

  it('refuse at once what is above a capacity, and what is no amount', async () => {
    await withBuckets((buckets) => {
      expect(limited(() => buckets.takeAll({ appends: 121, bytes: 1 }))).toEqual({
        code: 'ERR_LIMIT',
        limit: 120,
      })
      for (const amount of [-1, Number.NaN])
        expect(limited(() => buckets.take('appends', amount))?.code).toBe('ERR_INVALID_ARGUMENT')
      expect(limited(() => buckets.settle('appends', Number.NaN))?.code).toBe('ERR_INVALID_ARGUMENT')
      expect([buckets.left('appends'), buckets.left('bytes')]).toEqual([120, 64 * 2 ** 20])
    })
  })

  it('refuse budgets that make no sense', async () => {
    await inObject((storage) => {
      for (const budget of [
        { capacity: 0, perMs: 1 },
        { capacity: 1, perMs: 0 },
        { capacity: 1, perMs: 1, debt: -1 },
        { capacity: Number.POSITIVE_INFINITY, perMs: 1 },
      ])
        expect(limited(() => new TokenBuckets(storage, { budget }, () => 0))?.code).toBe(
          'ERR_INVALID_ARGUMENT',
        )
    })
  })

  it('cost nothing where a budget is unlimited or nothing is taken', async () => {
    await inObject((storage) => {
      const counting = counted(storage)
      const buckets = new TokenBuckets(counting.storage, BUDGETS, () => 0)
      buckets.takeAll({ sessions: 1e9, unheardOf: 1, appends: 0 })
      buckets.settle('sessions', 5)
      buckets.settle('appends', 0)
      expect(buckets.left('sessions')).toBe(Number.POSITIVE_INFINITY)
      expect(counting.since()).toEqual({ statements: 0, read: 0, written: 0 })
      expect(storage.sql.exec('SELECT name FROM sqlite_master').toArray()).toEqual([])
    })
  })

  it('cost one statement and one row written a take, and one row read where it is refused', async () => {
    await inObject((storage) => {
      const counting = counted(storage)
      const buckets = new TokenBuckets(counting.storage, BUDGETS, () => 0)
      buckets.takeAll({ appends: 1, bytes: 1 })
      counting.since()
      buckets.takeAll({ appends: 1, bytes: 1_000, tokens: 5 })
      expect(counting.since()).toMatchObject({ statements: 1, written: 1 })
      buckets.settle('tokens', 5)
      expect(counting.since()).toMatchObject({ statements: 1, written: 1 })
      limited(() => buckets.take('appends', 120))
      expect(counting.since()).toEqual({ statements: 1, read: 1, written: 0 })
    })
  })

  it('are settled into a bounded debt, and never above the capacity', async () => {
    await withBuckets((buckets, clock) => {
      buckets.take('tokens', 1_000_000)
      buckets.settle('tokens', 50_000)
      expect(buckets.left('tokens')).toBe(-50_000)
      expect(limited(() => buckets.take('tokens', 1))?.retryAfter).toBe(181)
      buckets.settle('tokens', 1e9)
      expect(buckets.left('tokens')).toBe(-200_000)
      clock.move(0.2 * HOUR)
      expect(buckets.left('tokens')).toBe(0)
      buckets.settle('tokens', -1e9)
      expect(buckets.left('tokens')).toBe(1_000_000)
      buckets.settle('appends', 1e9)
      expect(buckets.left('appends')).toBe(-120)
    })
  })

  it('keep what was taken when the object is evicted', async () => {
    const object = newObject()
    const clock = new TestClock()
    const use = (amount: number) =>
      inObject((storage) => {
        const buckets = new TokenBuckets(storage, BUDGETS, clock.now)
        buckets.take('appends', amount)
        return buckets.left('appends')
      }, object)
    expect(await use(100)).toBe(20)
    await evictDurableObject(object)
    expect(await use(15)).toBe(5)
  })

  it('count once what two instances over one storage take, and give what the other gave back', async () => {
    await withBuckets((one, clock, storage) => {
      const other = new TokenBuckets(storage, BUDGETS, clock.now)
      for (let index = 0; index < 60; index++) for (const buckets of [one, other]) buckets.take('appends', 1)
      for (const buckets of [one, other]) {
        expect(limited(() => buckets.take('appends', 1))?.retryAfter).toBe(1)
        expect(buckets.left('appends')).toBe(0)
      }
      other.settle('appends', -10)
      one.take('appends', 10)
      expect(other.left('appends')).toBe(0)
    })
  })

  it('forget what was taken in a transaction that was undone, the first of all too', async () => {
    await withBuckets((buckets, _, storage) => {
      const undone = () =>
        storage.transactionSync(() => {
          buckets.take('appends', 30)
          throw new Error('undone')
        })
      expect(undone).toThrow('undone')
      buckets.take('appends', 1)
      expect(undone).toThrow('undone')
      buckets.take('appends', 1)
      expect(buckets.left('appends')).toBe(118)
    })
  })

  it('are full again when the database was emptied', async () => {
    await inObject(async (storage) => {
      const buckets = new TokenBuckets(storage, BUDGETS, () => 0)
      buckets.take('appends', 100)
      await storage.deleteAll()
      buckets.take('appends', 1)
      expect(buckets.left('appends')).toBe(119)
    })
  })

  it('go by the budgets of today: lowered, raised, dropped and added ones', async () => {
    await withBuckets((buckets, clock, storage) => {
      buckets.takeAll({ appends: 100, bytes: 1 })
      const later = new TokenBuckets(
        storage,
        { appends: { capacity: 10, perMs: MINUTE }, fresh: { capacity: 5, perMs: SECOND } },
        clock.now,
      )
      expect([later.left('appends'), later.left('fresh')]).toEqual([10, 5])
      later.take('fresh', 1)
      const [row] = storage.sql.exec('SELECT state FROM plimsoll_edge_bucket').toArray()
      expect(Object.keys(JSON.parse(row?.state as string))).toEqual(['appends', 'fresh'])
    })
  })

  it('never go beyond their bounds nor get stuck, whatever is taken and however the clock jumps (T37)', async () => {
    const budget = { capacity: 100, perMs: MINUTE, debt: 40 }
    const step = fc.oneof(
      fc.record({ take: fc.integer({ min: 1, max: 100 }) }),
      fc.record({ take: fc.double({ min: 0.001, max: 100, noNaN: true }) }),
      fc.record({ settle: fc.integer({ min: -150, max: 150 }) }),
      fc.record({ move: fc.integer({ min: 0, max: 2 * MINUTE }) }),
      fc.record({ move: fc.constantFrom(-DAY, DAY, -HOUR, -1) }),
      fc.record({ evict: fc.constant(true) }),
    )
    await inObject((storage) => {
      fc.assert(
        fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
          storage.sql.exec('DROP TABLE IF EXISTS plimsoll_edge_bucket')
          const clock = new TestClock()
          const open = () => new TokenBuckets(storage, { budget }, clock.now)
          let buckets = open()
          for (const step of steps) {
            const before = buckets.left('budget')
            if ('move' in step) clock.move(step.move)
            else if ('evict' in step) buckets = open()
            else if ('settle' in step) buckets.settle('budget', step.settle)
            else {
              const refused = limited(() => buckets.take('budget', step.take))
              // It gives what is there, and exactly that.
              expect(refused === undefined).toBe(before >= step.take - 1e-6)
              if (refused) {
                expect(refused.code).toBe('ERR_RATE_LIMIT')
                expect(Number.isInteger(refused.retryAfter)).toBe(true)
                expect(refused.retryAfter).toBeGreaterThanOrEqual(1)
                expect(refused.retryAfter).toBeLessThanOrEqual((1.4 * MINUTE) / SECOND + 1)
                expect(buckets.left('budget')).toBe(before)
                // A client that waits for so long is served, but not much sooner.
                clock.move(((refused.retryAfter ?? 0) - 1) * SECOND)
                const sooner = step.take - buckets.left('budget')
                expect(sooner).toBeGreaterThan(-1e-6)
                clock.move(SECOND)
                expect(limited(() => buckets.take('budget', step.take))).toBeUndefined()
              }
            }
            const left = buckets.left('budget')
            expect(left).toBeGreaterThanOrEqual(-40)
            expect(left).toBeLessThanOrEqual(100)
            if ('take' in step) expect(left).toBeGreaterThanOrEqual(Math.min(0, before))
          }
        }),
        runs(400),
      )
    })
  })
})
