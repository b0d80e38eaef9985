import type { Stemmer } from '../../ports/stemmer.ts'
import type { Corpus } from './others.ts'
import { asksIn, dateIn, dateOf, ofSelfIn, VAGUE_SHARE, weightedTerms } from './question.ts'
import { countOf, type Posting, placeOf, type RecallEntry, type RecallIndex } from './recall-index.ts'
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
  /** By index, ids of messages whose words count nowhere, not even near others. */
  readonly hidden?: readonly ReadonlySet<string>[]
  /** Of messages elsewhere, to rank with: then scores are as if they were in the indexes. */
  readonly beside?: Corpus
}

/** A message that was found. */
export interface Ranked {
  /** Which of the indexes it is in. */
  readonly index: number
  readonly id: string
  /** That of its best passage. Higher is better. Only scores of one call compare. */
  readonly score: number
  /** What each of its passages scores, in their order; 0: nothing was found in it. */
  readonly passages: readonly number[]
}

/**
 * How many neighbours on each side a passage is scored with: for a question, and for a query that
 * is none.
 */
const REACHES = [
  [0, 2, 4],
  [0, 2],
]
/** How much a passage alone counts beside it with its neighbours. */
const ALONE = 1.5
/** How much neighbours count where the query is no question, and how much the whole message. */
const NEIGHBOURS = 0.1
const MESSAGE = 2
/** They do not count at all for a term that more passages of an index hold. */
const MOST_NEAR = 16
/** Passages that are farther apart than this are no neighbours. */
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
 * What else counts, in bits as well. Fitted over chats of people and of assistants together, and
 * rounded. Each of these moves what was found up or down; none hides anything.
 */
/** The question names who speaks. */
const NAMED = 12
/** It names the role of who speaks, which may mean something else. */
const ROLE = 2
/** Who asks speaks of themselves, and it is the user who speaks, without a name. */
const SELF = 8
/** The year, the month, the day of the month is the one of the question. */
const DATE = [8, 16, 8]
/**
 * Times what a passage scores alone, if it holds all terms of a question, or its message those of
 * another query; soon less there, if it lacks some.
 */
const WHOLE = 16

/**
 * One ranking over the messages of several sessions, best first, each by its best passage; of two
 * with the same score, the one whose index comes first, then the older one. Pure, and the same on
 * every engine: it computes with +, -, × and ÷ alone.
 *
 * A passage is scored by BM25 alone, and again with its neighbours: two, and four, on each side. To
 * that come whether it holds all terms, who speaks, its day, and facts that were taken from its
 * message; for a question, whether it answers one like it by somebody
 * else, or says when. A query that is no question looks for a message by its own words, which count
 * in the passage and in all of the message; neighbours count little. How rare a term is, is
 * computed over all indexes together. A passage is found by a term in it or near it, its speaker,
 * its date or a fact; a query that has none of these finds nothing.
 */
export function rank(
  indexes: readonly RecallIndex[],
  query: string,
  { limit = 200, stemmer, facts = [], hidden = [], beside }: RankOptions,
): readonly Ranked[] {
  const isQuestion = asksIn(query)
  const terms = weightedTerms(query, stemmer, isQuestion)
  const isOfSelf = ofSelfIn(query)
  const corpora = [countsOf(indexes, terms.keys()), ...(beside ? [beside] : [])]
  const speakers = weightedSpeakers(corpora, query)
  // A name says who speaks; as a word it finds those who speak to them as well.
  for (const speaker of speakers.keys())
    for (const term of termsIn(nameOf(speaker), stemmer)) if (terms.has(term)) terms.set(term, VAGUE_SHARE)
  const [mean, messages] = weigh(corpora, terms)
  let whole = 0
  for (const rarity of terms.values()) whole += rarity
  for (const { scores, places } of indexes) scores.begin(places)
  for (const { text, sources } of facts) {
    const held = new Set(termsIn(text, stemmer))
    let score = 0
    for (const [term, rarity] of terms) if (held.has(term)) score += rarity
    for (const source of sources)
      for (const index of indexes) {
        const number = index.numberOf(source)
        if (number === undefined) continue
        for (let place = index.startOf(number); place < index.startOf(number + 1); place++)
          index.scores.add(place, 0, score)
      }
  }
  const asked = dateIn(query)
  const anywhere =
    asked.some((part) => part !== undefined) || [...speakers.values()].some((score) => score > 0)
  const best: Candidate[] = []
  indexes.forEach((index, which) => {
    const { scores } = index
    const isByScores = !isQuestion && !isOfSelf && !anywhere && index.documents === index.size
    for (const [term, rarity] of terms) {
      const postings = shownPostings(index, term, hidden[which])
      for (const reach of REACHES[isQuestion ? 0 : 1] as readonly number[]) {
        const weight = rarity * (reach === 0 ? ALONE : isQuestion ? 1 : NEIGHBOURS)
        score(index, postings, reach, weight, rarity, mean)
      }
      if (!isQuestion) scoreMessages(index, postings, rarity, messages)
    }
    /** Messages of which a passage was found. */
    const found: number[] = []
    const judge = (place: number): void => {
      // Of most queries a passage needs no more than its scores.
      const entry = isByScores ? undefined : index.at(place)
      if (entry === null) return
      const number = index.numberAt(place)
      const first = index.startOf(number)
      const alone = scores.of(place, 1)
      let score = scores.of(place, 0)
      if (entry && anywhere) {
        score += speakers.get(entry[2]) as number
        dateOf(entry[1]).forEach((part, which) => {
          if (part === asked[which]) score += DATE[which] as number
        })
      }
      if (score <= 0) return
      if (isOfSelf && entry?.[2] === 'user') score += SELF
      if (entry && isQuestion && place > 0) {
        const before = index.at(place - 1)
        // An assistant answers whatever is asked.
        if (before && before[2] !== entry[2] && roleOf(before[2]) === roleOf(entry[2]))
          score += index.asksAt(place - 1) * scores.of(place - 1, 1)
      }
      if (isQuestion) {
        // Added up in the same order, all terms are as much as the whole, to the last bit.
        if (scores.of(place, 2) === whole) score += WHOLE * alone
      } else if (alone > 0) {
        score += MESSAGE * scores.of(first, 5)
        let part = scores.of(first, 4) / whole
        part *= part
        part *= part
        score += WHOLE * alone * part * part
      }
      scores.set(place, 3, score)
      const before = scores.of(first, 6)
      if (before === 0) found.push(number)
      if (score > before) scores.set(first, 6, score)
    }
    if (anywhere) for (let place = 0; place < index.places; place++) judge(place)
    // What this touches itself scores nothing.
    else for (const place of scores.touched) judge(place)
    for (const number of found) {
      const score = scores.of(index.startOf(number), 6)
      const last = best[limit - 1]
      // Most are not among the best.
      if (last && last.score > score) continue
      const isBefore = (other: Candidate): boolean =>
        other.score > score || (other.score === score && (other.index < which || other.number < number))
      if (last && isBefore(last)) continue
      let [rank, high] = [0, best.length]
      while (rank < high) {
        const middle = (rank + high) >> 1
        if (isBefore(best[middle] as Candidate)) rank = middle + 1
        else high = middle
      }
      best.splice(rank, 0, { index: which, number, score })
      if (best.length > limit) best.pop()
    }
  })
  return best.map(({ index: which, number, score }) => {
    const index = indexes[which] as RecallIndex
    const first = index.startOf(number)
    const passages: number[] = []
    for (let place = first; place < index.startOf(number + 1); place++)
      passages.push(index.scores.of(place, 3))
    return { index: which, id: (index.at(first) as RecallEntry)[0], score, passages }
  })
}

/** A message of which a passage was found. */
interface Candidate {
  readonly index: number
  readonly number: number
  readonly score: number
}

const roleOf = (speaker: string): string => speaker.slice(0, `${speaker} `.indexOf(' '))
const nameOf = (speaker: string): string => speaker.slice(roleOf(speaker).length)

/** How much each who spoke counts, by name or by role. */
function weightedSpeakers(corpora: readonly Corpus[], query: string): Map<string, number> {
  const words = wordsOf(query)
  const weights = new Map<string, number>()
  for (const speaker of corpora.flatMap(({ speakers }) => speakers)) {
    const [role, name] = [roleOf(speaker), wordsOf(nameOf(speaker))]
    const isNamed = name.some((word) => words.includes(word))
    weights.set(speaker, isNamed ? NAMED : words.includes(role) ? ROLE : 0)
  }
  return weights
}

/** What a query counts in indexes, to rank messages elsewhere with these. */
export function corpusOf(
  indexes: readonly RecallIndex[],
  query: string,
  { stemmer }: Pick<RankOptions, 'stemmer'>,
): Corpus {
  return countsOf(indexes, weightedTerms(query, stemmer, asksIn(query)).keys())
}

function countsOf(indexes: readonly RecallIndex[], terms: Iterable<string>): Corpus {
  let [passages, messages, length] = [0, 0, 0]
  const speakers = new Set<string>()
  for (const index of indexes) {
    passages += index.passages
    messages += index.documents
    length += index.lengthOf(0, index.places)
    for (const speaker of index.speakers) speakers.add(speaker)
  }
  const holding = new Map<string, number>()
  for (const term of terms)
    holding.set(
      term,
      indexes.reduce((sum, index) => sum + index.postings(term).length, 0),
    )
  return { passages, messages, length, holding, speakers: [...speakers] }
}

/**
 * Turns the share of each term into its rarity times that share. Gives the mean lengths of a
 * passage and of a message.
 */
function weigh(
  corpora: readonly Corpus[],
  terms: Map<string, number>,
): readonly [passage: number, message: number] {
  const sumOf = (count: (corpus: Corpus) => number) => corpora.reduce((sum, one) => sum + count(one), 0)
  const passages = sumOf((one) => one.passages)
  const length = sumOf((one) => one.length)
  for (const [term, share] of terms) {
    const holding = sumOf((one) => one.holding.get(term) ?? 0)
    terms.set(term, share * (LEAST_RARITY + logarithm((passages + 1) / (holding + 0.5))))
  }
  return [length / passages, length / sumOf((one) => one.messages)]
}

/** Where a term occurs in what shows: what is hidden is found by nothing, nor what is near it. */
function shownPostings(
  index: RecallIndex,
  term: string,
  hidden: ReadonlySet<string> | undefined,
): readonly Posting[] {
  const postings = index.postings(term)
  if (!hidden?.size) return postings
  return postings.filter((posting) => !hidden.has(index.at(placeOf(posting))?.[0] ?? ''))
}

/** BM25 of one term in one reach. Touches only passages that hold it, and their neighbours. */
function score(
  index: RecallIndex,
  postings: readonly Posting[],
  reach: number,
  weight: number,
  rarity: number,
  mean: number,
): void {
  const { scores, places } = index
  if (weight < rarity && postings.length > MOST_NEAR) return
  const share = LENGTH_SHARE / (mean * (2 * reach + 1))
  if (reach === 0) {
    for (const posting of postings) {
      const [place, count] = [placeOf(posting), countOf(posting)]
      const within = index.lengthOf(place, place + 1)
      const score = (weight * count) / (count + SATURATION * (1 - LENGTH_SHARE + share * within))
      scores.add(place, 0, score)
      scores.add(place, 1, score)
      scores.add(place, 2, rarity)
    }
    return
  }
  // Those from first up to and without end are in reach of the place.
  let [first, end, count, place] = [0, 0, 0, 0]
  for (; ; place++) {
    if (count === 0) {
      if (end === postings.length) return
      place = Math.max(place, placeOf(postings[end] as number) - reach)
    }
    if (place >= places) return
    for (; end < postings.length && placeOf(postings[end] as number) <= place + reach; end++)
      count += countOf(postings[end] as number)
    for (; first < end && placeOf(postings[first] as number) < place - reach; first++)
      count -= countOf(postings[first] as number)
    if (count === 0) continue
    const within = index.lengthOf(place - reach, place + reach + 1)
    const score = (weight * count) / (count + SATURATION * (1 - LENGTH_SHARE + share * within))
    scores.add(place, 0, score)
  }
}

/**
 * The same of whole messages, kept with the first passage of each: who looks for a message by its
 * words takes them from all over it.
 */
function scoreMessages(index: RecallIndex, postings: readonly Posting[], rarity: number, mean: number): void {
  const { scores } = index
  for (let at = 0; at < postings.length; ) {
    const number = index.numberAt(placeOf(postings[at] as number))
    const [first, end] = [index.startOf(number), index.startOf(number + 1)]
    let count = 0
    for (; at < postings.length && placeOf(postings[at] as number) < end; at++)
      count += countOf(postings[at] as number)
    const share = (LENGTH_SHARE * index.lengthOf(first, end)) / mean
    scores.add(first, 4, rarity)
    scores.add(first, 5, (rarity * count) / (count + SATURATION * (1 - LENGTH_SHARE + share)))
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
