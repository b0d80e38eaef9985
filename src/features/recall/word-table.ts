import type { Stemmer } from '../../ports/stemmer.ts'
import { termsIn } from './terms.ts'

/** Words that are kept. A text of any size has few that are not among the newest of these. */
const MOST_WORDS = 16_384
const SLOTS = 2 * MOST_WORDS
/** A longer piece of a text is no copy: engines would keep the whole text with it. */
const LONGEST_KEPT = 12

/**
 * What words become, kept for when they come again: found by their characters where they stand in a
 * text, so that nothing is made of a word that is known. That is most of what a long text costs.
 */
export class WordTable {
  readonly #termOf: (word: string) => string
  /** By hash: the number of a word, from 1; 0, where there is none. */
  readonly #slots = new Int32Array(SLOTS)
  readonly #words: string[] = []
  readonly #terms: string[] = []

  /**
   * @param termOf Contract: pure. What becomes of a word; the empty text, where it becomes nothing
   */
  constructor(termOf: (word: string) => string) {
    this.#termOf = termOf
  }

  /**
   * What the words of a text become, in its order, where words are runs of ASCII letters and
   * digits.
   *
   * @param text in lower case
   * @returns undefined, where it holds anything else than ASCII and general punctuation (U+2000 to
   * U+206F: quotation marks, dashes)
   */
  termsIn(text: string): readonly string[] | undefined {
    const terms: string[] = []
    let start = 0
    let hash = 0
    for (let at = 0; at <= text.length; at++) {
      const code = at < text.length ? text.charCodeAt(at) : 0
      if ((code > 96 && code < 123) || (code > 47 && code < 58)) {
        hash = (Math.imul(hash, 31) + code) | 0
        continue
      }
      if (code > 127 && (code < 0x2000 || code > 0x206f)) return undefined
      const term = at > start ? this.#find(text, start, at, hash) : ''
      if (term !== '') terms.push(term)
      start = at + 1
      hash = 0
    }
    return terms
  }

  #find(text: string, start: number, end: number, hash: number): string {
    const length = end - start
    if (length > LONGEST_KEPT) return this.#termOf(text.slice(start, end))
    // The high 15 bits, one slot of 2^15: the low ones would put words with the same end together.
    let slot = Math.imul(hash, 0x9e3779b1) >>> 17
    for (let number = this.#slots[slot]; number; number = this.#slots[slot]) {
      const word = this.#words[number - 1] as string
      if (word.length === length && text.startsWith(word, start)) return this.#terms[number - 1] as string
      slot = (slot + 1) % SLOTS
    }
    const word = text.slice(start, end)
    const term = this.#termOf(word)
    this.#terms.push(term)
    this.#slots[slot] = this.#words.push(word)
    if (this.#words.length === MOST_WORDS) this.#clear()
    return term
  }

  #clear(): void {
    this.#slots.fill(0)
    this.#words.length = 0
    this.#terms.length = 0
  }
}

const NO_STEMMER = {}
const tables = new WeakMap<object, WordTable>()

/** Of the terms that a stemmer makes: one for all callers. */
export function tableOf(stemmer: Stemmer | undefined): WordTable {
  const key = stemmer ?? NO_STEMMER
  const table = tables.get(key) ?? new WordTable((word) => termsIn(word, stemmer)[0] ?? '')
  tables.set(key, table)
  return table
}
