import type { Stemmer } from '../../ports/stemmer.ts'
import { passagesOf } from './passages.ts'
import { type RecallDocument, termsIn } from './terms.ts'
import { tableOf } from './word-table.ts'
import { wordsOf } from './words.ts'

/** UTF-16 units of all terms beyond which no further passage is found: blocks are bounded. */
const MOST_UNITS = 256 * 1024
const MS_PER_DAY = 86_400_000

/** What a message is found by. */
export interface MessageTerms {
  /** Since 1 January 1970 (UTC). */
  readonly day: number
  /** Its role, with the words of its name, parted by spaces. */
  readonly speaker: string
  /** In the order of its text, at least one. */
  readonly passages: readonly PassageTerms[]
}

export interface PassageTerms {
  /** In the order of its text. */
  readonly terms: readonly string[]
  /** Whether it asks something. */
  readonly asks: boolean
}

/**
 * What a message is found by. Of a text with more than 256 Ki units of terms the last passages are
 * left out. Deterministic.
 */
export function termsOf(
  { text, role, name = '', createdAt }: RecallDocument,
  stemmer: Stemmer | undefined,
): MessageTerms {
  const passages: PassageTerms[] = []
  const borders = passagesOf(text)
  let units = 0
  for (const [from, to] of borders.length > 0 ? borders : [[0, 0]]) {
    if (units > MOST_UNITS) break
    const passage = text.slice(from, to)
    const terms = tableOf(stemmer).termsIn(passage.toLowerCase()) ?? termsIn(passage, stemmer)
    for (const { length } of terms) units += length + 1
    passages.push({ terms, asks: /[?？]/.test(passage) })
  }
  return { day: Math.floor(createdAt / MS_PER_DAY), speaker: [role, ...wordsOf(name)].join(' '), passages }
}
