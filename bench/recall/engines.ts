import MiniSearch, { type Options } from 'minisearch'
import { termsOf } from '../../src/features/recall/message-terms.ts'
import { type RecallFact, rank } from '../../src/features/recall/rank.ts'
import { RecallIndex } from '../../src/features/recall/recall-index.ts'
import type { RecallDocument } from '../../src/features/recall/terms.ts'
import { englishStemmer } from '../../src/stemmer.ts'
import { stopWords } from './stop-words.ts'

/** A search engine as it is measured. */
export interface Engine {
  readonly name: string
  index(documents: readonly RecallDocument[]): Index
  /** Reads what {@link Index.encode} gave. */
  load(encoded: string | Uint8Array): Index
}

export interface Index {
  /** Ids, best first. */
  search(query: string, limit: number): readonly string[]
  add(document: RecallDocument): void
  encode(): string | Uint8Array
}

export const OURS = 'plimsoll'
export const DEFAULT = 'minisearch default'
export const TUNED = 'minisearch tuned'

export const plimsoll: Engine = {
  name: OURS,
  index(documents) {
    return ofRecallIndex(recallIndex(documents))
  },
  load(encoded) {
    const index = new RecallIndex(englishStemmer)
    index.load(encoded as Uint8Array)
    return ofRecallIndex(index)
  },
}

/** As its documentation begins: one field, no options. */
export const miniSearch: Engine = ofMiniSearch(DEFAULT, { fields: ['text'] }, ({ text }) => text)

/**
 * The same stemmer as ours, stop words left out of documents and queries, the speaker in front of
 * the text.
 */
export const tunedMiniSearch: Engine = ofMiniSearch(
  TUNED,
  { fields: ['text'], processTerm },
  ({ name, text }) => (name === undefined ? text : `${name}: ${text}`),
)

export const engines: readonly Engine[] = [plimsoll, miniSearch, tunedMiniSearch]

export function recallIndex(documents: readonly RecallDocument[]): RecallIndex {
  const index = new RecallIndex(englishStemmer)
  for (const document of documents) index.add(document.id, termsOf(document, englishStemmer))
  return index
}

/** Ids, best first, over the indexes of several sessions. */
export function search(
  indexes: readonly RecallIndex[],
  query: string,
  limit: number,
  facts: readonly RecallFact[] = [],
): string[] {
  return rank(indexes, query, { limit, stemmer: englishStemmer, facts }).map(({ id }) => id)
}

function ofRecallIndex(index: RecallIndex): Index {
  return {
    search: (query, limit) => search([index], query, limit),
    add: (document) => index.add(document.id, termsOf(document, englishStemmer)),
    encode: () => index.encode(0, index.size),
  }
}

interface Searched {
  readonly id: string
  readonly text: string
}

function ofMiniSearch(
  name: string,
  options: Options<Searched>,
  textOf: (document: RecallDocument) => string,
): Engine {
  const searched = (document: RecallDocument): Searched => ({ id: document.id, text: textOf(document) })
  const over = (index: MiniSearch<Searched>): Index => ({
    search: (query, limit) =>
      index
        .search(query)
        .slice(0, limit)
        .map(({ id }) => id as string),
    add: (document) => index.add(searched(document)),
    encode: () => JSON.stringify(index),
  })
  return {
    name,
    index(documents) {
      const index = new MiniSearch(options)
      for (const document of documents) index.add(searched(document))
      return over(index)
    },
    load: (encoded) => over(MiniSearch.loadJSON(encoded as string, options)),
  }
}

function processTerm(term: string): string | null {
  const word = term.toLowerCase()
  return stopWords.has(word) ? null : englishStemmer.stem(word)
}
