import { expect, it } from 'vitest'
import { dollars } from '../../../web/race/money.ts'

/** As it is read: isolates and marks of direction show nothing, and all spaces look alike. */
const read = (text: string): string =>
  text.replaceAll(/[\u2068\u2069\u200e\u200f]/g, '').replaceAll(/\s/g, ' ')

it.each([
  ['en', '$0.85', '$1,234.50', '$0.0042'],
  ['de', '0,85 $', '1.234,50 $', '0,0042 $'],
  ['fr', '0,85 $US', '1 234,50 $US', '0,0042 $US'],
  ['es', '0,85 US$', '1234,50 US$', '0,0042 US$'],
  ['ar', '0.85 US$', '1,234.50 US$', '0.0042 US$'],
  ['ja', '$0.85', '$1,234.50', '$0.0042'],
])('dollars are written as %s writes them', (locale, cents, many, few) => {
  expect([0.85, 1_234.5, 0.0042].map((amount) => read(dollars(amount, locale)))).toEqual([cents, many, few])
})

it('the currency says whose dollars they are where others have dollars too', () => {
  expect(read(dollars(0.85, 'en-CA'))).toBe('US$0.85')
  expect(read(dollars(0.85, 'en-AU'))).toBe('USD 0.85')
})

it('the currency is one piece amid text that runs the other way', () => {
  expect(dollars(0.85, 'ar')).toContain('\u2068US$\u2069')
  // Where nothing runs the other way, nothing is copied with it.
  expect(dollars(0.85, 'en-GB')).toBe('US$0.85')
})
