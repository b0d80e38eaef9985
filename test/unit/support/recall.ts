import fc from 'fast-check'
import { termsOf } from '../../../src/features/recall/message-terms.ts'
import { type RankOptions, rank } from '../../../src/features/recall/rank.ts'
import { RecallIndex } from '../../../src/features/recall/recall-index.ts'
import type { RecallDocument } from '../../../src/features/recall/terms.ts'
import { codePoint } from '../../everywhere/code-point.ts'

/** A message, in which what does not matter has a default. */
export type Said = Partial<RecallDocument> & Pick<RecallDocument, 'id' | 'text'>

export const NOON = Date.UTC(2026, 4, 8, 12)

export function indexOf(said: readonly Said[]): RecallIndex {
  const index = new RecallIndex()
  addTo(index, said)
  return index
}

export function addTo(index: RecallIndex, said: readonly Said[]): void {
  for (const one of said)
    index.add(one.id, termsOf({ role: 'user', createdAt: NOON, ...one } as RecallDocument, undefined))
}

/** Ids of what is found, best first. */
export function idsFor(index: RecallIndex, query: string, options: RankOptions = {}): readonly string[] {
  return rank([index], query, options).map(({ id }) => id)
}

const words = [
  'rain',
  'snow',
  'Rom',
  'トマト',
  '旅行',
  'constructor',
  '__proto__',
  'the',
  '?',
  'may',
  '2026',
  'Ada',
]
const sentence = fc.array(fc.constantFrom(...words), { maxLength: 8 }).map((list) => list.join(' '))

/** Some messages by two people over some days, and a query. */
export const conversations: fc.Arbitrary<{ readonly said: readonly Said[]; readonly query: string }> =
  fc.record({
    said: fc
      .array(
        fc.record({
          text: fc.oneof(sentence, fc.string({ unit: codePoint, maxLength: 20 })),
          name: fc.constantFrom('Ada', 'Bob'),
          createdAt: fc.integer({ min: -3, max: 900 }).map((days) => NOON + days * 86_400_000),
        }),
        { maxLength: 14 },
      )
      .map((list) => list.map((one, place) => ({ ...one, id: `m${place}` }))),
    query: sentence,
  })
