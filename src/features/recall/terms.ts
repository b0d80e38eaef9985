import type { Role } from '../../ports/message.ts'
import type { Stemmer } from '../../ports/stemmer.ts'
import { wordsOf } from './words.ts'

/** A message, as much of it as recall reads. */
export interface RecallDocument {
  readonly id: string
  readonly text: string
  /** Empty: nobody said it, so no question names who did. */
  readonly role: Role | ''
  readonly name?: string
  /** Unix milliseconds (UTC). Only its day counts. */
  readonly createdAt: number
  /**
   * The round that it belongs to. Nothing is made of it: a message's place says who its neighbours
   * are.
   */
  readonly round?: string
}

/** Words that say least and cost most, since texts are full of them; English. */
const STOP_WORDS = new Set('a the of and to in is for'.split(' '))

/** Of longer runs (base64, keys) the beginning counts. */
const LONGEST_WORD = 64
/** A count beyond this is no stronger sign. */
export const MOST_COUNT = 15
/** Few terms occur twice in a short text: counting them takes longer than it saves. */
const MOST_PLAIN = 100
const MS_PER_DAY = 86_400_000

/**
 * What a document is found by, beside its terms: how many these are, its day since 1 January 1970
 * (UTC), whether it asks something (1, or 0), and its role with the words of its name, parted by
 * spaces.
 */
export type Traits = readonly [length: number, day: number, asks: number, speaker: string]

/**
 * What a document is found by, as text to be kept beside its entry: its {@link Traits} as JSON on
 * the first line, then its terms. Up to 100 terms stand as they come. Of more, those that occur
 * once are on the second line, those that occur twice on the third, and so on (15 times and more on
 * the last). Deterministic.
 *
 * @param terms what {@link termsIn} gives, where that is known
 */
export function termsOf(
  { text, role, name = '', createdAt }: RecallDocument,
  stemmer: Stemmer | undefined,
  terms: readonly string[] = termsIn(text, stemmer),
): string {
  const traits: Traits = [
    terms.length,
    Math.floor(createdAt / MS_PER_DAY),
    /[?？]/.test(text) ? 1 : 0,
    [role, ...wordsOf(name)].join(' '),
  ]
  const lines = [JSON.stringify(traits), terms.join(' ')]
  if (terms.length > MOST_PLAIN) {
    const counts = new Map<string, number>()
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
    lines.pop()
    for (const [term, count] of counts) {
      const line = Math.min(count, MOST_COUNT)
      lines[line] = lines[line] === undefined ? term : `${lines[line]} ${term}`
    }
  }
  return lines.join('\n')
}

/** The terms of a text in its order: its words without stop words, stemmed. */
export function termsIn(text: string, stemmer: Stemmer | undefined): readonly string[] {
  const terms: string[] = []
  for (const word of wordsOf(text))
    if (!STOP_WORDS.has(word)) {
      const cut = word.length > LONGEST_WORD ? word.slice(0, LONGEST_WORD) : word
      terms.push(stemmer ? stemmer.stem(cut) : cut)
    }
  return terms
}
