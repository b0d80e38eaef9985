import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dateIn } from '../../../src/features/recall/question.ts'
import { runs } from '../support/runs.ts'

const MONTHS = 'january february March april May june july august september october november december'.split(
  ' ',
)
const monthOf = (word: string): number =>
  MONTHS.includes(word) ? MONTHS.indexOf(word) : MONTHS.indexOf(word.toLowerCase())

const pieces = [
  ...MONTHS,
  ...['may', 'MAY', 'June', 'AUGUST', 'march', 'é', '_', 'ſ', '٣', '８', 'th', 'rain'],
  ...['0', '00', '1', '9', '31', '32', '1900', '1901', '1999', '2000', '2026', '2099', '2100', '20260'],
]
const queries = fc
  .array(fc.tuple(fc.constantFrom(...pieces), fc.constantFrom('', ' ', ', ', '\n', '-')), { maxLength: 8 })
  .map((list) => list.flat().join(''))

describe('the date of a query', () => {
  it('is of its words, and of its numbers whatever stands beside them: the first of each', () => {
    fc.assert(
      fc.property(queries, (query) => {
        const month = query
          .split(/\W+/)
          .map(monthOf)
          .find((index) => index >= 0)
        const numbers = (query.match(/\d+/g) ?? []).map(Number)
        const year = numbers.find((number) => number > 1900 && number < 2100)
        const day = month === undefined ? undefined : numbers.find((number) => number < 32)
        expect(dateIn(query)).toEqual([year, month, day])
      }),
      runs(1000),
    )
  })

  it('is read from a long run of digits in time that is linear in it', () => {
    const [zeros, nines] = ['0'.repeat(100_000), '9'.repeat(100_000)]
    expect(dateIn(`May ${zeros}7, ${zeros}${nines}, ${zeros}2026`)).toEqual([2026, 4, 7])
    expect(dateIn(`May ${nines}${zeros}`)).toEqual([undefined, 4, undefined])
  })
})
