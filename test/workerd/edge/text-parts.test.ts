import { evictDurableObject } from 'cloudflare:test'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NO_SEAL, newSealKey, openSeal } from '../../../src/edge/rows/object-seal.ts'
import { MAX_PART_BYTES, TextParts } from '../../../src/edge/rows/text-parts.ts'
import type { SqlStorageLike } from '../../../src/stores/sql-schema.ts'
import { codePoint } from '../../everywhere/code-point.ts'
import { runs } from '../../everywhere/runs.ts'
import { counted, inObject, newObject, TestClock } from './in-object.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const MIB = 2 ** 20

const codeOf = (run: () => unknown): unknown => {
  try {
    run()
    return undefined
  } catch (error) {
    return (error as { code?: unknown }).code
  }
}

const SECRET = 'a-secret-of-these-tests-of-32-bytes-or-more'
const TRIP = { userId: 'ada', sessionId: 'trip' }

describe.each([
  ['in the clear', NO_SEAL],
  ['encrypted', openSeal([SECRET], TRIP, newSealKey(SECRET, TRIP))],
])('parts of a long text, %s', (_, seal) => {
  const partsOver = (storage: SqlStorageLike, now: () => number): TextParts =>
    new TextParts(storage, now, () => seal)

  const withParts = <Result>(
    run: (parts: TextParts, clock: TestClock, storage: DurableObjectStorage) => Result,
  ): Promise<Result> =>
    inObject((storage) => {
      const clock = new TestClock()
      return run(partsOver(storage, clock.now), clock, storage)
    })

  it('are put together in their order, whatever the order in which they came, also after an eviction', async () => {
    const object = newObject()
    await inObject((storage) => {
      const parts = partsOver(storage, () => 0)
      parts.put('m1', 2, 'c"}')
      parts.put('m1', 0, '{"a')
      parts.put('m2', 0, 'other')
      parts.put('m1', 1, '":"b')
    }, object)
    await evictDurableObject(object)
    await inObject((storage) => {
      const parts = partsOver(storage, () => 0)
      expect(parts.take('m1', 3)).toBe('{"a":"bc"}')
      expect(parts.take('m1', 3)).toBe('{"a":"bc"}')
      expect(parts.take('m2', 1)).toBe('other')
    }, object)
  })

  it('of 8 MiB in all scripts come back as they were, no row above 256 KiB', async () => {
    await withParts((parts, _, storage) => {
      // A pair of surrogates lies across each border of 65 536 units.
      const slice = `x${'😀'.repeat(MIB / 4 - 1)}é.`.slice(0, -1)
      expect(new TextEncoder().encode(slice).length).toBeLessThanOrEqual(MIB)
      for (let part = 0; part < 8; part++) parts.put('m1', part, slice)
      expect(parts.take('m1', 8) === slice.repeat(8)).toBe(true)
      const [row] = storage.sql
        .exec('SELECT MAX(LENGTH(CAST(content AS BLOB))) AS most FROM plimsoll_edge_part')
        .toArray()
      expect(row?.most).toBeLessThanOrEqual(2 ** 18)
    })
  })

  it('of any text, cut anywhere, come back as they were', async () => {
    await withParts((parts) => {
      fc.assert(
        fc.property(
          fc.array(fc.string({ unit: codePoint, minLength: 1 }), { minLength: 1, maxLength: 16 }),
          (slices) => {
            slices.forEach((slice, part) => {
              parts.put('m1', part, slice)
            })
            expect(parts.take('m1', slices.length)).toBe(slices.join(''))
            parts.release('m1')
          },
        ),
        runs(50),
      )
    })
  })

  it('may be put again, but not with another text', async () => {
    await withParts((parts, _, storage) => {
      parts.put('m1', 0, 'one')
      expect(codeOf(() => parts.put('m1', 0, 'two'))).toBe('ERR_CONFLICT')
      parts.put('m1', 0, 'one')
      expect(parts.take('m1', 1)).toBe('one')
      const { count } = storage.sql
        .exec<{ count: number }>('SELECT COUNT(*) AS count FROM plimsoll_edge_part')
        .one()
      expect(count).toBe(1)
      parts.release('m1')
      parts.put('m1', 0, 'two')
      expect(parts.take('m1', 1)).toBe('two')
    })
  })

  it('that are missing are named, before anything came, in the middle, and after a release', async () => {
    await withParts((parts) => {
      const missing = (count: number) => {
        try {
          parts.take('m1', count)
        } catch (error) {
          const { code, argument } = error as { code?: string; argument?: string }
          return [code, argument]
        }
      }
      expect(missing(1)).toEqual(['ERR_INVALID_ARGUMENT', 'parts[0]'])
      parts.put('m1', 0, 'a')
      parts.put('m1', 2, 'c')
      expect(missing(3)).toEqual(['ERR_INVALID_ARGUMENT', 'parts[1]'])
      parts.put('m1', 1, 'b')
      expect(parts.take('m1', 3)).toBe('abc')
      parts.release('m1')
      parts.release('m1')
      expect(missing(3)).toEqual(['ERR_INVALID_ARGUMENT', 'parts[0]'])
    })
  })

  it('are refused before anything is written: too long, too many, empty, half a character, no number, no id', async () => {
    await withParts((parts, _, storage) => {
      const cases: [string, number, string, string][] = [
        ['m1', 0, 'x'.repeat(MAX_PART_BYTES + 1), 'ERR_ENTRY_TOO_LARGE'],
        ['m1', 0, 'é'.repeat(MAX_PART_BYTES / 2 + 1), 'ERR_ENTRY_TOO_LARGE'],
        ['m1', 16, 'x', 'ERR_INVALID_ARGUMENT'],
        ['m1', -1, 'x', 'ERR_INVALID_ARGUMENT'],
        ['m1', 0.5, 'x', 'ERR_INVALID_ARGUMENT'],
        ['m1', 0, '', 'ERR_INVALID_ARGUMENT'],
        ['m1', 0, 'a\ud83d', 'ERR_INVALID_ARGUMENT'],
        ['', 0, 'x', 'ERR_INVALID_ARGUMENT'],
        ['m'.repeat(257), 0, 'x', 'ERR_INVALID_ARGUMENT'],
      ]
      for (const [entry, part, text, code] of cases)
        expect(codeOf(() => parts.put(entry, part, text))).toBe(code)
      for (const count of [0, 17, 1.5])
        expect(codeOf(() => parts.take('m1', count))).toBe('ERR_INVALID_ARGUMENT')
      expect(storage.sql.exec('SELECT name FROM sqlite_master').toArray()).toEqual([])
    })
  })

  it('may not have more than 8 MiB and a little together, nor more than 16 texts wait', async () => {
    await withParts((parts) => {
      const slice = 'x'.repeat(MIB)
      for (let part = 0; part < 8; part++) parts.put('m1', part, slice)
      parts.put('m1', 8, 'x'.repeat(2 ** 16))
      expect(codeOf(() => parts.put('m1', 9, 'x'))).toBe('ERR_ENTRY_TOO_LARGE')
      parts.put('m1', 0, slice)
      for (let index = 2; index <= 16; index++) parts.put(`m${index}`, 0, 'x')
      expect(codeOf(() => parts.put('m17', 0, 'x'))).toBe('ERR_LIMIT')
      parts.put('m16', 1, 'x')
      parts.release('m2')
      parts.put('m17', 0, 'x')
    })
  })

  it('are written all or not at all, also where storage fails between two pieces', async () => {
    await inObject((storage) => {
      let left = 3
      const parts = partsOver(
        {
          transactionSync: (closure) => storage.transactionSync(closure),
          sql: {
            exec: (query, ...bindings) => {
              if (query.startsWith('INSERT') && left-- === 0) throw new Error('disk I/O error: SQLITE_IOERR')
              return storage.sql.exec(query, ...bindings)
            },
          },
        },
        () => 0,
      )
      const text = 'x'.repeat(MIB)
      expect(codeOf(() => parts.put('m1', 0, text))).toBe('ERR_STORAGE')
      expect(codeOf(() => parts.take('m1', 1))).toBe('ERR_INVALID_ARGUMENT')
      parts.put('m1', 0, text)
      expect(parts.take('m1', 1) === text).toBe(true)
    })
  })

  it('are purged a day after the last of them came, each text by itself', async () => {
    await withParts((parts, clock) => {
      expect(parts.purge()).toBeUndefined()
      const { at } = clock
      expect(parts.put('m1', 0, 'a')).toBe(at + DAY)
      clock.move(HOUR)
      parts.put('m2', 0, 'b')
      clock.move(HOUR)
      parts.put('m1', 1, 'c')
      // A repetition says that somebody is still at it.
      clock.move(HOUR)
      expect(parts.put('m2', 0, 'b')).toBe(at + 3 * HOUR + DAY)
      clock.move(DAY - 2 * HOUR)
      expect(parts.purge()).toBe(at + 2 * HOUR + DAY)
      expect(parts.take('m1', 2)).toBe('ac')
      clock.move(HOUR)
      expect(parts.purge()).toBe(at + 3 * HOUR + DAY)
      expect(codeOf(() => parts.take('m1', 1))).toBe('ERR_INVALID_ARGUMENT')
      expect(parts.take('m2', 1)).toBe('b')
      clock.move(HOUR)
      expect(parts.purge()).toBeUndefined()
    })
  })

  it('are looked for without reading through what they hold', async () => {
    await inObject((storage) => {
      const counting = counted(storage)
      const parts = partsOver(counting.storage, () => 0)
      const slice = 'x'.repeat(MIB)
      for (let part = 0; part < 8; part++) parts.put('m1', part, slice)
      counting.since()
      parts.purge()
      expect(counting.since().read).toBeLessThanOrEqual(40)
      parts.put('m2', 0, 'x')
      expect(counting.since()).toMatchObject({ written: 3 })
    })
  })
})
