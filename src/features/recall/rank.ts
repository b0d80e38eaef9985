import type { Stemmer } from '../../ports/stemmer.ts'
import type { Corpus } from './others.ts'
import { asksIn, dateIn, dateOf, ofSelfIn, VAGUE_SHARE, weightedTerms } from './question.ts'
import { countOf, type Posting, placeOf, type RecallEntry, type RecallIndex } from './recall-index.ts'
import { ALONE, BEST, HELD, IN_ALL, MESSAGE } from './scores.ts'
import { termsIn, termsOfWords } from './terms.ts'
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
 * How many neighbours on each side a passage is scored with, beside alone: for a question, and for
 * a query that is none.
 */
const REACHES = [2, 4]
const NEAR = 2
/** How much a passage alone counts beside it with its neighbours. */
const BY_ITSELF = 1.5
/** How much neighbours count where the query is no question, and how much the whole message. */
const NEIGHBOURS = 0.1
const WHOLE_MESSAGE = 2
/** They do not count at all for a term that more passages of an index hold. */
const MOST_NEAR = 16
/** Passages that are farther apart than this are no neighbours. */
export const FARTHEST = Math.max(...REACHES, NEAR)
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
/**
 * Who asks speaks of themselves, and it is the user who speaks, without a name: times what the
 * passage scores alone, so that words which only stand near it do not count as its own.
 */
const SELF = 0.8
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
 * message; for a question, whether it answers one like it by somebody else, or says when. A query
 * that is no question looks for a message by its own words, which count in the passage and in all
 * of the message; neighbours count little. How rare a term is, is computed over all indexes
 * together. A passage is found by a term in it or near it, its speaker, its date or a fact; a query
 * that has none of these finds nothing.
 */
export function rank(
  indexes: readonly RecallIndex[],
  query: string,
  { limit = 200, stemmer, facts = [], hidden = [], beside }: RankOptions,
): readonly Ranked[] {
  const words = wordsOf(query)
  const isQuestion = asksIn(query)
  const shares = weightedTerms(query, words, stemmer, isQuestion)
  const speakers = weightedSpeakers(indexes, beside, words, shares, stemmer)
  const { passages, messages, length } = countsOf(indexes, beside)
  const mean = length / passages
  const terms: Term[] = []
  let whole = 0
  shares.forEach((share, term) => {
    const postings = indexes.map((index) => index.postings(term))
    const holding = postings.reduce((sum, { length }) => sum + length, beside?.holding.get(term) ?? 0)
    const rarity = share * (LEAST_RARITY + logarithm((passages + 1) / (holding + 0.5)))
    terms.push({ term, rarity, postings })
    whole += rarity
  })
  for (const { scores, places } of indexes) scores.begin(places)
  for (const { text, sources } of facts) {
    const held = new Set(termsIn(text, stemmer))
    let score = 0
    for (const { term, rarity } of terms) if (held.has(term)) score += rarity
    for (const source of sources)
      for (const index of indexes) {
        const number = index.numberOf(source)
        if (number === undefined) continue
        for (let place = index.startOf(number); place < index.startOf(number + 1); place++)
          index.scores.add(index.scores.touch(place) + IN_ALL, score)
      }
  }
  const date = dateIn(query)
  const anywhere = speakers.size > 0 || date.some((part) => part !== undefined)
  const asked = { isQuestion, isOfSelf: ofSelfIn(query), date, speakers, anywhere, whole }
  const best: Candidate[] = []
  indexes.forEach((index, which) => {
    for (const { rarity, postings } of terms) {
      const list = shown(index, postings[which] as readonly Posting[], hidden[which])
      if (isQuestion) {
        scorePassages(index, list, rarity, mean)
        for (const reach of REACHES) scoreNeighbours(index, list, reach, rarity, mean)
      } else {
        scoreMessages(index, list, rarity, mean, length / messages)
        if (list.length <= MOST_NEAR) scoreNeighbours(index, list, NEAR, NEIGHBOURS * rarity, mean)
      }
    }
    judge(index, asked)
    choose(index, which, best, limit)
  })
  return best.map(({ index: which, place: first, score }) => {
    const index = indexes[which] as RecallIndex
    const { scores } = index
    const passages = [scores.of(scores.at(first) + IN_ALL)]
    for (let place = first + 1, end = index.startOf(index.numberAt(first) + 1); place < end; place++)
      passages.push(scores.of(scores.at(place) + IN_ALL))
    return { index: which, id: (index.at(first) as RecallEntry)[0], score, passages }
  })
}

/** A term of the query. */
interface Term {
  readonly term: string
  /** In bits, times how much it counts. */
  readonly rarity: number
  /** By index: where it occurs. */
  readonly postings: readonly (readonly Posting[])[]
}

/** What a query asks for, beside its terms. */
interface Asked {
  readonly isQuestion: boolean
  readonly isOfSelf: boolean
  readonly date: readonly (number | undefined)[]
  readonly speakers: ReadonlyMap<string, number>
  /** Whether it names a date or who speaks: that finds passages without its terms. */
  readonly anywhere: boolean
  /** What all of its terms are worth together. */
  readonly whole: number
}

/** Scores the passages of an index in all. */
function judge(index: RecallIndex, asked: Asked): void {
  const { isQuestion, isOfSelf, date, speakers, anywhere, whole } = asked
  const { scores } = index
  // Of most queries a passage needs no more than its scores.
  const isByScores = !isQuestion && !isOfSelf && !anywhere && index.documents === index.size
  // What this touches itself scores nothing.
  for (let next = 0; next < (anywhere ? index.places : scores.count); next++) {
    const place = anywhere ? next : scores.touched(next)
    const at = scores.at(place)
    let score = scores.of(at + IN_ALL)
    const alone = scores.of(at + ALONE)
    if (!isByScores) {
      const entry = index.at(place)
      if (entry === null) continue
      if (anywhere) {
        score += speakers.get(entry[2]) ?? 0
        dateOf(entry[1]).forEach((part, which) => {
          if (part === date[which]) score += DATE[which] as number
        })
      }
      if (score <= 0) continue
      if (isOfSelf && entry[2] === 'user') score += SELF * alone
      if (isQuestion && place > 0) {
        const before = index.at(place - 1)
        // An assistant answers whatever is asked.
        if (before && before[2] !== entry[2] && roleOf(before[2]) === roleOf(entry[2]))
          score += index.asksAt(place - 1) * scores.of(scores.at(place - 1) + ALONE)
      }
    }
    if (score <= 0) continue
    const first = scores.touch(index.startOf(index.numberAt(place)))
    if (isQuestion) {
      // Added up in the same order, all terms are as much as the whole, to the last bit.
      if (scores.of(at + HELD) === whole) score += WHOLE * alone
    } else if (alone > 0) {
      score += WHOLE_MESSAGE * scores.of(first + MESSAGE)
      let part = scores.of(first + HELD) / whole
      part *= part
      part *= part
      score += WHOLE * alone * part * part
    }
    scores.set(scores.touch(place) + IN_ALL, score)
    if (score > scores.of(first + BEST)) scores.set(first + BEST, score)
  }
}

/** Puts the messages of an index that were found among the best, as far as they are. */
function choose(index: RecallIndex, which: number, best: Candidate[], limit: number): void {
  const { scores } = index
  let least = best[limit - 1]?.score ?? 0
  for (let next = 0; next < scores.count; next++) {
    const place = scores.touched(next)
    const score = scores.of(scores.at(place) + BEST)
    // Most are not among the best; and of a message, its first place alone has this.
    if (score < least || score === 0) continue
    let [at, end] = [0, best.length]
    while (at < end) {
      const middle = (at + end) >> 1
      if (isBehind(best[middle] as Candidate, which, place, score)) end = middle
      else at = middle + 1
    }
    if (at === limit) continue
    if (best.length === limit) best.pop()
    best.splice(at, 0, { index: which, place, score })
    least = best[limit - 1]?.score ?? 0
  }
}

function isBehind(one: Candidate, index: number, place: number, score: number): boolean {
  return one.score < score || (one.score === score && one.index === index && one.place > place)
}

/** A message of which a passage was found. */
interface Candidate {
  readonly index: number
  /** Of its first passage. */
  readonly place: number
  readonly score: number
}

function roleOf(speaker: string): string {
  const end = speaker.indexOf(' ')
  return end < 0 ? speaker : speaker.slice(0, end)
}

/**
 * How much those who are named count, by name or by role. A name says who speaks; as a word it
 * finds those who speak to them as well, so there it counts little.
 */
function weightedSpeakers(
  indexes: readonly RecallIndex[],
  beside: Corpus | undefined,
  words: readonly string[],
  shares: Map<string, number>,
  stemmer: Stemmer | undefined,
): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const { speakers } of beside ? [...indexes, beside] : indexes)
    for (const speaker of speakers) {
      const role = roleOf(speaker)
      if (words.includes(role)) weights.set(speaker, ROLE)
      if (role === speaker) continue
      const name = wordsOf(speaker.slice(role.length))
      if (name.some((word) => words.includes(word))) weights.set(speaker, NAMED)
      for (const term of termsOfWords(name, stemmer)) if (shares.has(term)) shares.set(term, VAGUE_SHARE)
    }
  return weights
}

/** What a query counts in indexes, to rank messages elsewhere with these. */
export function corpusOf(
  indexes: readonly RecallIndex[],
  query: string,
  { stemmer }: Pick<RankOptions, 'stemmer'>,
): Corpus {
  const holding = weightedTerms(query, wordsOf(query), stemmer, asksIn(query))
  for (const term of holding.keys())
    holding.set(
      term,
      indexes.reduce((sum, index) => sum + index.postings(term).length, 0),
    )
  return {
    ...countsOf(indexes),
    holding,
    speakers: [...new Set(indexes.flatMap(({ speakers }) => [...speakers]))],
  }
}

/** Counts of indexes, added to those of others. */
function countsOf(
  indexes: readonly RecallIndex[],
  { passages, messages, length }: Pick<Corpus, 'passages' | 'messages' | 'length'> = NONE,
): Pick<Corpus, 'passages' | 'messages' | 'length'> {
  for (const index of indexes) {
    passages += index.passages
    messages += index.documents
    length += index.lengthOf(0, index.places)
  }
  return { passages, messages, length }
}

const NONE = { passages: 0, messages: 0, length: 0 }

/** Those of what shows: what is hidden is found by nothing, nor what is near it. */
function shown(
  index: RecallIndex,
  postings: readonly Posting[],
  hidden: ReadonlySet<string> | undefined,
): readonly Posting[] {
  if (!hidden?.size) return postings
  return postings.filter((posting) => !hidden.has(index.at(placeOf(posting))?.[0] ?? ''))
}

/** BM25 of one term in the passages that hold it. */
function scorePassages(index: RecallIndex, postings: readonly Posting[], rarity: number, mean: number): void {
  for (const posting of postings) index.scores.add(scorePassage(index, posting, rarity, mean) + HELD, rarity)
}

function scorePassage(index: RecallIndex, posting: Posting, rarity: number, mean: number): number {
  const { scores } = index
  const place = placeOf(posting)
  const count = countOf(posting)
  const share = LENGTH_SHARE / mean
  const within = index.lengthOf(place, place + 1)
  const score = (rarity * BY_ITSELF * count) / (count + SATURATION * (1 - LENGTH_SHARE + share * within))
  const at = scores.touch(place)
  scores.add(at + IN_ALL, score)
  scores.add(at + ALONE, score)
  return at
}

/** The same among their neighbours. Touches only those and themselves. */
function scoreNeighbours(
  index: RecallIndex,
  postings: readonly Posting[],
  reach: number,
  weight: number,
  mean: number,
): void {
  const { scores, places } = index
  const share = LENGTH_SHARE / (mean * (2 * reach + 1))
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
    scores.add(scores.touch(place) + IN_ALL, score)
  }
}

/**
 * The same of whole messages, kept with the first passage of each: who looks for a message by its
 * words takes them from all over it.
 */
function scoreMessages(
  index: RecallIndex,
  postings: readonly Posting[],
  rarity: number,
  mean: number,
  messages: number,
): void {
  const { scores } = index
  for (let at = 0; at < postings.length; ) {
    const number = index.numberAt(placeOf(postings[at] as number))
    const first = index.startOf(number)
    const end = index.startOf(number + 1)
    let count = 0
    for (; at < postings.length && placeOf(postings[at] as number) < end; at++) {
      scorePassage(index, postings[at] as number, rarity, mean)
      count += countOf(postings[at] as number)
    }
    const share = (LENGTH_SHARE * index.lengthOf(first, end)) / messages
    const found = scores.touch(first)
    scores.add(found + HELD, rarity)
    scores.add(found + MESSAGE, (rarity * count) / (count + SATURATION * (1 - LENGTH_SHARE + share)))
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
