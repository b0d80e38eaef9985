import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BytePairMerge } from '../../../src/counters/byte-pair-merge.ts'
import { readTables } from '../../../src/counters/o200k.ts'
import { Vocabulary } from '../../../src/counters/vocabulary.ts'
import { runs } from '../support/runs.ts'

const vocabulary = new Vocabulary(await readTables())

function merged(text: string, stretch: number, overlap?: number): number[] {
  const bytes = new TextEncoder().encode(text)
  const tokens: number[] = []
  const count = new BytePairMerge(vocabulary, stretch, overlap).merge(bytes, 0, bytes.length, tokens)
  expect(count).toBe(tokens.length)
  return tokens
}

const snippets = fc.constantFrom(
  ...[
    'a',
    'the',
    'ing',
    'tion',
    'é',
    'ß',
    'ман',
    'ا',
    'लें',
    'ก',
    '漢',
    '字',
    'ありがとう',
    '한국',
    '🚆',
    '👩‍👩‍👧',
  ],
  ...[' ', '  ', '\n', '-', '--', '==', '//', 'aaaa', '0', 'qz'],
)
/** Texts of few snippets again and again, now and then broken by another one. */
const repetitive = fc
  .tuple(fc.array(snippets, { minLength: 1, maxLength: 4 }), fc.array(snippets, { maxLength: 30 }))
  .chain(([few, others]) =>
    fc.array(fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...few) }, fc.constantFrom('x', ...others)), {
      minLength: 50,
      maxLength: 900,
    }),
  )
  .map((list) => list.join(''))

describe('merging stretch by stretch', () => {
  it('gives the tokens of merging the whole, however long the stretches are', () => {
    fc.assert(
      fc.property(repetitive, (text) => {
        const whole = merged(text, Number.MAX_SAFE_INTEGER)
        // Without an overlap many borders are wrong, and must be found to be.
        for (const stretch of [97, 150, 400, 1_000])
          for (const overlap of [0, 1, 8]) expect(merged(text, stretch, overlap)).toEqual(whole)
      }),
      runs(150),
    )
  })

  it('takes a longer stretch where nothing in it can be joined', () => {
    // Tokens of 128 spaces: a stretch of one of them has no border inside.
    const spaces = ' '.repeat(3_000)
    expect(merged(spaces, 100)).toEqual(merged(spaces, Number.MAX_SAFE_INTEGER))
  })

  it('merges a piece with a byte order mark in it whole, as its tokens are looked up otherwise', () => {
    const text = `${'漢'.repeat(200)}\ufeff名\ufeff\ufeff${'字'.repeat(200)}`
    for (const stretch of [97, 200, 500])
      expect(merged(text, stretch, 0)).toEqual(merged(text, Number.MAX_SAFE_INTEGER))
  })
})
