import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lexicalRecall } from '../../../src/features/recall/lexical-recall.ts'
import { termsOf } from '../../../src/features/recall/message-terms.ts'
import { WordTable } from '../../../src/features/recall/word-table.ts'
import { wordsOf } from '../../../src/features/recall/words.ts'
import type { Message } from '../../../src/ports/message.ts'
import type { Stemmer } from '../../../src/ports/stemmer.ts'
import { englishStemmer } from '../../../src/stemmer.ts'
import { codePoint } from '../../everywhere/code-point.ts'
import { runs } from '../support/runs.ts'

const same = (word: string): string => word

/** Words of few letters, so that they come again, long ones, and what stands between words. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'b', 'z', '0', '9', 'K'), minLength: 1, maxLength: 14 }),
      fc.constantFrom(' ', '.', '_', '\n', '’', '—', '…', '\u200d', '\u203e', '\u0000', '\u007f', '{"a":'),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''))

describe('a table of words', () => {
  it('gives the words of a text as they are found without it', () => {
    const table = new WordTable(same)
    fc.assert(
      fc.property(text, (text) => {
        expect(table.termsIn(text.toLowerCase())).toEqual(wordsOf(text))
      }),
      runs(100),
    )
  })

  it('says where a text has other characters, for which it knows no words', () => {
    const table = new WordTable(same)
    fc.assert(
      fc.property(fc.string({ unit: codePoint, maxLength: 40 }), (text) => {
        const found = table.termsIn(text.toLowerCase())
        if (found) expect(found).toEqual(wordsOf(text))
      }),
      runs(100),
    )
    for (const other of ['café', '日本', '🚢', 'ﬁne', '\u1fff', '\u2070', '\u2139'])
      expect(table.termsIn(other)).toBeUndefined()
  })

  it('asks once what becomes of a word, and leaves out what becomes of nothing', () => {
    const asked: string[] = []
    const table = new WordTable((word) => {
      asked.push(word)
      return word === 'the' ? '' : word.toUpperCase()
    })
    expect(table.termsIn('the cat, the dog; the cat')).toEqual(['CAT', 'DOG', 'CAT'])
    expect(table.termsIn('dog the')).toEqual(['DOG'])
    expect(asked).toEqual(['the', 'cat', 'dog'])
  })

  it('finds the same when it has met more words than it keeps', () => {
    const table = new WordTable(same)
    for (let lap = 0; lap < 2; lap++)
      for (let at = 0; at < 40_000; at += 100) {
        const words = Array.from({ length: 100 }, (_, index) => `w${at + index}`)
        expect(table.termsIn(words.join(' '))).toEqual(words)
      }
  })
})

describe('the terms of a message', () => {
  const messageOf = (text: string): Message => ({
    id: 'm',
    role: 'user',
    content: text,
    createdAt: 0,
    trust: 'user',
  })
  const suffixed = (id: string): Stemmer => ({ id, stem: (word) => word + id })

  it('are those of its text, of whatever characters and length, by the stemmer that was given', () => {
    const [one, other] = [suffixed('1'), suffixed('2')]
    const long = `first ${'x '.repeat(10_000)}middle ${'y '.repeat(10_000)}last`
    for (const stemmer of [one, other, englishStemmer, undefined])
      for (const text of [
        'Red: the bikes',
        'réd the “bikes”',
        '“quoted”—red',
        long,
        'red '.repeat(300),
        '',
      ]) {
        const { termsOf: made } = lexicalRecall(stemmer && { stemmer })
        expect(made(messageOf(text))).toEqual(termsOf({ id: 'm', text, role: 'user', createdAt: 0 }, stemmer))
      }
  })
})
