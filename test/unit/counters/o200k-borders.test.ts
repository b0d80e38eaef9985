import fc from 'fast-check'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, it } from 'vitest'
import { loadO200k } from '../../../src/counters/o200k.ts'
import { runs } from '../support/runs.ts'

const reference = (text: string): number[] => encode(text, { disallowedSpecial: new Set() })

it.each([
  "I'd",
  "I'm",
  "it's",
  "don't",
  "DON'T",
  "漢'title",
  "WE'Tx",
  "we'VEx",
  "WE'REx",
  "we'l x",
  "we'v x",
  "we'r x",
  "\u0301's",
  '\u07ff',
  '\u0800',
  '\ufeff名',
])('parts %j as the expression does', async (text) => {
  expect((await loadO200k()).encode(text)).toEqual(reference(text))
})
it('never reads what an earlier text left behind the end of this one', async () => {
  const o200k = await loadO200k()
  for (const text of ["it's", "it'", "in'll", "in'l", "in'"])
    expect(o200k.encode(text)).toEqual(reference(text))
})
it('takes no piece for the token that has its hash', async () => {
  // Their rolling hashes are those of " couldn" and "umelela".
  for (const text of ['vstmmuo', 'zsbyzwh']) expect((await loadO200k()).encode(text)).toEqual(reference(text))
})
it('has room for a text of three bytes a unit on either side of the memory that it keeps', async () => {
  for (const text of ['漢、'.repeat(16_384), '漢、'.repeat(16_385)])
    expect((await loadO200k()).encode(text)).toEqual(reference(text))
})
it('merges long words of random letters', async () => {
  const o200k = await loadO200k()
  const letters = fc.string({ unit: fc.constantFrom(...'etaoinshrdlu'), minLength: 97, maxLength: 200 })
  fc.assert(
    fc.property(letters, (text) => {
      expect(o200k.encode(text)).toEqual(reference(text))
    }),
    runs(300),
  )
})
