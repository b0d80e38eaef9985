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

/** The terms of a text in its order: its words without stop words, stemmed. */
export function termsIn(text: string, stemmer: Stemmer | undefined): readonly string[] {
  return termsOfWords(wordsOf(text), stemmer)
}

/** The same of its words. */
export function termsOfWords(words: readonly string[], stemmer: Stemmer | undefined): readonly string[] {
  const terms: string[] = []
  for (const word of words)
    if (!STOP_WORDS.has(word)) {
      const cut = word.length > LONGEST_WORD ? word.slice(0, LONGEST_WORD) : word
      terms.push(stemmer ? stemmer.stem(cut) : cut)
    }
  return terms
}
