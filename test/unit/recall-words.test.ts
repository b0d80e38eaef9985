import { describe, expect, it } from 'vitest'
import { termsOf } from '../../src/features/recall/message-terms.ts'
import { type RecallDocument, termsIn } from '../../src/features/recall/terms.ts'
import { wordsOf } from '../../src/features/recall/words.ts'
import { englishStemmer } from '../../src/stemmer.ts'

const document = (text: string): RecallDocument => ({
  id: 'm',
  text,
  role: 'user',
  name: 'Ada Lovelace',
  createdAt: Date.UTC(2026, 4, 8, 23, 59),
})

describe('the words of a text', () => {
  it('are in lower case, of one form, and without accents', () => {
    expect(wordsOf('Crème BRÛLÉE, ﬁne １２３')).toEqual(['creme', 'brulee', 'fine', '123'])
    expect(wordsOf('src/core/plan.ts a_b')).toEqual(['src', 'core', 'plan', 'ts', 'a', 'b'])
  })

  it('are pairs of characters where a script has no spaces, and Han characters by themselves', () => {
    expect(wordsOf('我喜欢猫')).toEqual(['我', '我喜', '喜', '喜欢', '欢', '欢猫', '猫'])
    expect(wordsOf('カメラ')).toEqual(['カメ', 'メラ', 'ラ'])
    expect(wordsOf('서울에서')).toEqual(['서울', '울에', '에서', '서'])
    expect(wordsOf('mixed日本text')).toEqual(['mixed', '日', '日本', '本', 'text'])
  })

  it('keep what tells kana and Hangul apart', () => {
    expect(wordsOf('が')).toEqual(['が'])
    expect(wordsOf('한')).toEqual(['한'])
  })

  it('are read from the first 8 Ki and the last 2 Ki units of a long text', () => {
    const words = wordsOf(`first ${'x '.repeat(10_000)}middle ${'y '.repeat(10_000)}last`)
    expect(words[0]).toBe('first')
    expect(words.at(-1)).toBe('last')
    expect(words).not.toContain('middle')
    expect(words.length).toBeLessThan(5200)
  })
})

describe('the terms of a document', () => {
  it('are its words without stop words, stemmed', () => {
    expect(termsIn('walking to the dogs', englishStemmer)).toEqual(['walk', 'dog'])
    expect(termsIn('walking to the dogs', undefined)).toEqual(['walking', 'dogs'])
  })

  it('stand beside its day and who speaks, by passage, with whether that asks', () => {
    const traits = { day: Date.UTC(2026, 4, 8) / 86_400_000, speaker: 'user ada lovelace' }
    const found = (text: string, ...passages: readonly object[]) =>
      expect(termsOf(document(text), undefined)).toEqual({ ...traits, passages })
    found('Rain, rain, snow?', { terms: ['rain', 'rain', 'snow'], asks: true })
    found('', { terms: [], asks: false })
    const [rain, hail] = [Array(60).fill('rain'), Array(30).fill('hail')]
    found(
      `${rain.join(' ')} \n\n${hail.join(' ')} `,
      { terms: rain, asks: false },
      { terms: hail, asks: false },
    )
  })

  it('are the beginnings of runs of data', () => {
    expect(termsIn(`${'a'.repeat(64)} ${'b'.repeat(65)}`, undefined)).toEqual([
      'a'.repeat(64),
      'b'.repeat(64),
    ])
  })
})

describe('the English stemmer', () => {
  it('brings forms of a word together, in its cache and beyond', () => {
    for (let number = 0; number < 20_000; number++) englishStemmer.stem(`walking${number}`)
    expect(englishStemmer.stem('walking')).toBe('walk')
    expect(englishStemmer.stem('walking')).toBe('walk')
  })
})
