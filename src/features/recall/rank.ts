import type { Stemmer } from '../../ports/stemmer.ts'
import { asksIn, dateIn, dateOf, weightedTerms } from './question.ts'
import { countOf, placeOf, type RecallIndex } from './recall-index.ts'
import { termsIn } from './terms.ts'
import { wordsOf } from './words.ts'

/** Something that is remembered, and where it was said. */
export interface RecallFact {
  readonly id: string
  readonly text: string
  /** Ids of the messages that it was taken from. */
  readonly sources: readonly string[]
}

export interface RankOptions {
  /** Most results. Default 200. */
  readonly limit?: number
  /** The one that the terms of the indexes were made with. */
  readonly stemmer?: Stemmer
  /**
   * Facts whose sources are in the indexes. Their words are read in every call, which takes some
   * microseconds for each.
   */
  readonly facts?: readonly RecallFact[]
  /**
   * Contract: pure. How near a message is in meaning: the cosine of its vector and the query's,
   * both by the app's model; 0 where there is none.
   */
  readonly vectors?: (id: string, index: number) => number
}

/** A message that was found. */
export interface Ranked {
  /** Which of the indexes it is in. */
  readonly index: number
  readonly id: string
  /** Higher is better. Only scores of one call compare. */
  readonly score: number
}

/**
 * How many neighbours on each side a message is scored with: for a question, and for a query that
 * is none.
 */
const REACHES = [
  [0, 2, 4],
  [0, 2],
]
/** How much a message alone counts beside it with its neighbours. */
const ALONE = 1.5
/** How much neighbours count where the query is no question. */
const NEIGHBOURS = 0.1
/** They do not count at all for a term that more messages of an index hold. */
const MOST_NEAR = 64
/** Documents that are farther apart than this are no neighbours. */
export const FARTHEST = Math.max(...REACHES.flat())
/**
 * BM25: how soon a term that occurs again says nothing new, and how much of a text's length counts
 * against it.
 */
const SATURATION = 1.2
const LENGTH_SHARE = 0.9
/**
 * Bits that a term is worth beside its rarity: one conversation tells little of how rare its own
 * topics are elsewhere.
 */
const LEAST_RARITY = 2

/*
 * What else counts, in bits as well. Fitted on two-person chats, and rounded. Each of these moves
 * what was found up or down; none hides anything.
 */
/** The question names who speaks. */
const NAMED = 12
/** It names the role of who speaks, which may mean something else. */
const ROLE = 2
/** The year, the month, the day of the month is the one of the question. */
const DATE = [8, 16, 8]
/** Times what a message scores alone, if it holds all terms; soon less, if it lacks some. */
const WHOLE = 16
/** For a vector that says the same as the query's. */
const VECTOR = 10

/**
 * One ranking over the messages of several sessions, best first; of two with the same score, the
 * one whose index comes first, then the older one. Pure, and the same on every engine: it computes
 * with +, -, × and ÷ alone.
 *
 * A message is scored by BM25 alone, and again with its neighbours: two, and four, on each side. To
 * that come whether it holds all terms, who speaks, its day, facts that were taken from it, and its
 * vector; for a question, whether it answers one like it, or says when. A query that is no question
 * looks for a message by its own words, and its neighbours count little. How rare a term is, is
 * computed over all indexes together. A message is found by a term in it or near it, its speaker,
 * its date, a fact or its vector; a query that has none of these finds nothing.
 */
export function rank(
  indexes: readonly RecallIndex[],
  query: string,
  { limit = 200, stemmer, facts = [], vectors }: RankOptions,
): readonly Ranked[] {
  const isQuestion = asksIn(query)
  const terms = weightedTerms(query, stemmer, isQuestion)
  const words = wordsOf(query)
  const speakers = new Map<string, number>()
  for (const speaker of indexes.flatMap((index) => [...index.speakers])) {
    const [role = '', ...name] = speaker.split(' ')
    speakers.set(speaker, name.some((word) => words.includes(word)) ? NAMED : words.includes(role) ? ROLE : 0)
    // A name says who speaks; as a word it would find those who speak to them.
    for (const term of termsIn(name.join(' '), stemmer)) terms.delete(term)
  }
  const mean = weigh(indexes, terms)
  let whole = 0
  for (const rarity of terms.values()) whole += rarity
  for (const { scores, size } of indexes) scores.begin(size)
  for (const { text, sources } of facts) {
    const held = new Set(termsIn(text, stemmer))
    let score = 0
    for (const [term, rarity] of terms) if (held.has(term)) score += rarity
    for (const source of sources)
      for (const index of indexes) {
        const place = index.placeOf(source)
        if (place !== undefined) index.scores.add(place, 0, score)
      }
  }
  const asked = dateIn(query)
  const anywhere =
    vectors || asked.some((part) => part !== undefined) || [...speakers.values()].some((score) => score > 0)
  const best: Ranked[] = []
  indexes.forEach((index, number) => {
    const { scores } = index
    for (const [term, rarity] of terms)
      for (const reach of REACHES[isQuestion ? 0 : 1] as readonly number[])
        score(index, term, reach, rarity * (reach === 0 ? ALONE : isQuestion ? 1 : NEIGHBOURS), rarity, mean)
    const judge = (place: number): void => {
      const entry = index.at(place)
      if (!entry) return
      const alone = scores.of(place, 1)
      let score = scores.of(place, 0)
      if (anywhere) {
        score += speakers.get(entry[4]) as number
        dateOf(entry[2]).forEach((part, which) => {
          if (part === asked[which]) score += DATE[which] as number
        })
        score += VECTOR * Math.max(0, vectors?.(entry[0], number) ?? 0)
      }
      if (score <= 0) return
      if (isQuestion) {
        const before = place > 0 && index.at(place - 1)
        if (before && before[4] !== entry[4]) score += before[3] * scores.of(place - 1, 1)
      }
      if (alone > 0) {
        let part = scores.of(place, 2) / whole
        part *= part
        part *= part
        score += WHOLE * alone * part * part
      }
      let rank = best.length
      for (; rank > 0; rank--) {
        const other = best[rank - 1] as Ranked
        if (other.score > score) break
        if (other.score === score && (other.index < number || (index.placeOf(other.id) as number) < place))
          break
      }
      if (rank < limit) {
        best.splice(rank, 0, { index: number, id: entry[0], score })
        if (best.length > limit) best.pop()
      }
    }
    if (anywhere) for (let place = 0; place < index.size; place++) judge(place)
    else scores.touched.forEach(judge)
  })
  return best
}

/**
 * Turns the share of each term into its rarity times that share. Gives the mean length of the
 * documents.
 */
function weigh(indexes: readonly RecallIndex[], terms: Map<string, number>): number {
  let documents = 0
  let length = 0
  for (const index of indexes) {
    documents += index.documents
    length += index.lengthOf(0, index.size)
  }
  for (const [term, share] of terms) {
    const holding = indexes.reduce((sum, index) => sum + index.postings(term).length, 0)
    terms.set(term, share * (LEAST_RARITY + logarithm((documents + 1) / (holding + 0.5))))
  }
  return length / documents
}

/** BM25 of one term in one reach. Touches only messages that hold it, and their neighbours. */
function score(
  index: RecallIndex,
  term: string,
  reach: number,
  weight: number,
  rarity: number,
  mean: number,
): void {
  const { scores, size } = index
  const postings = index.postings(term)
  if (weight < rarity && postings.length > MOST_NEAR) return
  const share = LENGTH_SHARE / (mean * (2 * reach + 1))
  // Those from first up to and without end are in reach of the place.
  let [first, end, count, place] = [0, 0, 0, 0]
  for (; ; place++) {
    if (count === 0) {
      if (end === postings.length) return
      place = Math.max(place, placeOf(postings[end] as number) - reach)
    }
    if (place >= size) return
    for (; end < postings.length && placeOf(postings[end] as number) <= place + reach; end++)
      count += countOf(postings[end] as number)
    for (; first < end && placeOf(postings[first] as number) < place - reach; first++)
      count -= countOf(postings[first] as number)
    if (count === 0) continue
    const within = index.lengthOf(place - reach, place + reach + 1)
    const score = (weight * count) / (count + SATURATION * (1 - LENGTH_SHARE + share * within))
    scores.add(place, 0, score)
    if (reach === 0) {
      scores.add(place, 1, score)
      scores.add(place, 2, rarity)
    }
  }
}

/**
 * A logarithm to base 2 that every engine computes alike: straight between powers of two, at most
 * 0.09 below the true one.
 *
 * @param value from 1 to 2^31
 */
function logarithm(value: number): number {
  const power = 31 - Math.clz32(value)
  return power + value / (1 << power) - 1
}
