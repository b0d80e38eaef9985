import fc from 'fast-check'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import type { O200k } from '../../src/counters/o200k.ts'
import { runs } from './runs.ts'

/** gpt-tokenizer's own encoding; special tokens as plain text. */
const reference = (text: string): number[] => encode(text, { disallowedSpecial: new Set() })

/** Stretches of Unicode between whose characters the pre-tokenizer draws its borders. */
const stretches = [
  [0x20, 0x7e], // ASCII
  [0x09, 0x0d], // tabs and line breaks
  [0x30, 0x39], // digits
  [0x41, 0x5a], // capitals
  [0x21, 0x2f], // signs, the apostrophe and the slash among them
  [0xa0, 0x24f], // Latin with accents, and the no-break space
  [0x1c4, 0x1cc], // title case
  [0x2b0, 0x2ff], // modifier letters
  [0x300, 0x36f], // combining marks
  [0x370, 0x5ff], // Greek, Cyrillic, Armenian, Hebrew
  [0x600, 0x6ff], // Arabic, with its digits
  [0x900, 0x97f], // Devanagari
  [0xe00, 0xe7f], // Thai
  [0x2000, 0x206f], // spaces and general punctuation
  [0x2460, 0x24ff], // enclosed numbers
  [0x3040, 0x30ff], // kana
  [0x4e00, 0x9fff], // Han
  [0xac00, 0xd7a3], // Hangul
  [0xd800, 0xdfff], // lone surrogates
  [0xfe00, 0xffff], // presentation forms, the byte order mark
  [0x1_0400, 0x1_044f], // letters beyond the first plane
  [0x1_f300, 0x1_faff], // emoji
  [0, 0x10_ffff],
] as const

const runOfCharacters = fc
  .constantFrom(...stretches)
  .chain(([from, to]) => fc.array(fc.integer({ min: from, max: to }), { maxLength: 6 }))
  .map((codes) => String.fromCodePoint(...codes))

const snippets = fc.constantFrom(
  "'s",
  "'LL",
  "'Ve",
  "'re ",
  'ab',
  'Word',
  'HTTPServer',
  ' ',
  '   ',
  '\r\n',
  ' \n ',
  '//\n/',
  '<|endoftext|>',
  '<|im_start|>',
  '\ufeff',
  '\ufeffusing',
  '\ufeff名',
  'e\u0301',
  '!\u0301A',
  '👩‍👩‍👧',
)

/** Texts full of borders. */
const texts = fc.array(fc.oneof(runOfCharacters, snippets), { maxLength: 10 }).map((list) => list.join(''))

const notebook = `# Notes, 4 May
The ferry doesn't sail before 07:45; we'll board at Gate 12B ("upper deck").

    const fare = legs.reduce((sum, { price }) => sum + price, 0) // €1,234.50
{"id":"7f3a","stops":[{"name":"Zürich HB","at":"2026-05-04T07:45:00Z"},{"name":"Torino PN","platform":null}]}
出発は七時四十五分です。切符を忘れないでください。 배는 일곱 시 사십오 분에 떠납니다. 船七点四十五分开。
Паром отходит утром. يغادر المركب صباحا. नाव सुबह निकलती है. เรือออกตอนเช้า 🚢🌊👨‍👩‍👧‍👦
`

/** That the counter is gpt-tokenizer's o200k, whatever the platform's own Unicode tables are. */
export function describeO200k(load: () => Promise<O200k>, count: number): void {
  describe('the o200k counter', () => {
    it('encodes prose, code, JSON and six scripts as gpt-tokenizer does', async () => {
      const o200k = await load()
      expect(o200k.encode(notebook)).toEqual(reference(notebook))
    })

    it('encodes every text as gpt-tokenizer does, and counts as many tokens', async () => {
      const o200k = await load()
      fc.assert(
        fc.property(texts, (text) => {
          const tokens = reference(text)
          expect(o200k.encode(text)).toEqual(tokens)
          expect(o200k.count(text)).toBe(tokens.length)
        }),
        runs(count),
      )
    })

    it('merges long pieces as it merges short ones', async () => {
      const o200k = await load()
      const unbroken = fc
        .tuple(
          fc.array(fc.oneof(runOfCharacters, fc.constantFrom('a', 'the', '漢字', '🚆')), { minLength: 1 }),
          fc.integer({ min: 97, max: 700 }),
        )
        .map(([list, length]) => {
          // One class of characters only, so that the pre-tokenizer leaves the run whole.
          const letters = list.join('').replaceAll(/[^\p{Lo}\p{Ll}]/gu, '') || 'x'
          return letters.repeat(Math.ceil(length / letters.length)).slice(0, length)
        })
      fc.assert(
        fc.property(unbroken, (text) => {
          expect(o200k.encode(text)).toEqual(reference(text))
        }),
        runs(count / 10),
      )
    })

    it('takes special tokens in a text for plain text', async () => {
      const { encode: tokensOf } = await load()
      expect(tokensOf('<|endoftext|>').length).toBeGreaterThan(1)
      expect(tokensOf('<|endoftext|>')).toEqual(reference('<|endoftext|>'))
    })

    it('gives 0 for the empty text', async () => {
      const o200k = await load()
      expect(o200k.count('')).toBe(0)
      expect(o200k.encode('')).toEqual([])
    })

    it('is not stalled by a quarter of a megabyte without a break', async () => {
      // With a merge whose time grows with the square of a run, each of these would take longer
      // than a test may.
      const o200k = await load()
      const length = 2 ** 18
      for (const [unit, perToken] of [
        ['a', 8],
        ['-', 64],
        [' ', 128],
        ['漢', 1],
      ] as const)
        expect([unit, o200k.count(unit.repeat(length))]).toEqual([unit, length / perToken])
    })
  })
}
