import { describe, expect, it } from 'vitest'
import { termsOf } from '../../src/features/recall/message-terms.ts'
import { type RecallFact, rank } from '../../src/features/recall/rank.ts'
import { RecallIndex } from '../../src/features/recall/recall-index.ts'
import type { RecallDocument } from '../../src/features/recall/terms.ts'
import type { Stemmer } from '../../src/ports/stemmer.ts'
import { englishStemmer } from '../../src/stemmer.ts'
import { hashText } from '../../src/text/hash.ts'
import { people, randomFrom, sentenceFrom, things } from './recall-texts.ts'

/**
 * SHA-256 of all rankings, as {@link rankings} gives them. It changes with what recall finds, so
 * only on purpose.
 */
const GOLDEN = '8deede40fb6113ccf65508f50d41bf5438b074acf77df26acce29bdb67037997'

const MESSAGES = 500
const QUERIES = 50
const FACTS = 20
const LIMIT = 30
const START = 1_700_000_000_000
const HOUR = 3_600_000

/** That a seeded conversation gives the same rankings on every platform. */
export function describeRecall(): void {
  describe('recall', () => {
    it('ranks a conversation of 500 messages as everywhere else', () => {
      const asked = [...rankings(englishStemmer), ...rankings(undefined)]
      expect(asked).toHaveLength(2 * QUERIES)
      expect(asked.filter((ranking) => ranking !== '').length).toBeGreaterThan(1.8 * QUERIES)
      expect(hashText(asked.join('\n'))).toBe(GOLDEN)
    })

    it('ranks it so when its indexes were stored and loaded', () => {
      const stored = (index: RecallIndex, stemmer: Stemmer | undefined) => {
        const loaded = new RecallIndex(stemmer)
        const middle = Math.floor(index.size / 2)
        loaded.load(index.encode(0, middle))
        loaded.load(index.encode(middle, index.size))
        return loaded
      }
      expect(rankings(englishStemmer, stored)).toEqual(rankings(englishStemmer))
    })
  })
}

/**
 * For each query, the ids of what is found, best first, over two sessions that have lost some of
 * their messages.
 */
function rankings(
  stemmer: Stemmer | undefined,
  passed: (index: RecallIndex, stemmer: Stemmer | undefined) => RecallIndex = (index) => index,
): string[] {
  const random = randomFrom(7)
  const pick = (list: readonly string[]): string => list[random(list.length)] as string
  const sentence = () => sentenceFrom(random)
  const documents = Array.from({ length: MESSAGES }, (_, number): RecallDocument => {
    const speaker = random(3) === 0 ? {} : { name: pick(people) }
    return {
      id: `m${number}`,
      text: Array.from({ length: 1 + random(4) }, sentence).join(' '),
      role: number % 2 === 0 ? 'user' : 'assistant',
      ...speaker,
      createdAt: START + number * HOUR,
      round: `m${number - (number % 2)}`,
    }
  })
  const indexOf = (part: readonly RecallDocument[]) => {
    const index = new RecallIndex(stemmer)
    for (const document of part) index.add(document.id, termsOf(document, stemmer))
    for (const { id } of part) if (random(12) === 0) index.remove(id)
    return passed(index, stemmer)
  }
  const border = Math.floor(MESSAGES * 0.6)
  const indexes = [indexOf(documents.slice(0, border)), indexOf(documents.slice(border))]
  const facts = Array.from({ length: FACTS }, (_, number): RecallFact => {
    const sources = [`m${random(MESSAGES)}`, `m${random(MESSAGES)}`]
    return { id: `f${number}`, text: sentence(), sources }
  })
  return Array.from({ length: QUERIES }, (_, number) => {
    const query = number % 2 === 0 ? sentence() : `${pick(things)} ${pick(people)}`
    const options = { limit: LIMIT, facts, ...(stemmer && { stemmer }) }
    return rank(indexes, query, options)
      .map(({ index, id }) => `${index}/${id}`)
      .join(' ')
  })
}
