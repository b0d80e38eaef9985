import type { Recall, Searched } from './lexical-recall.ts'
import { termsOf } from './message-terms.ts'
import type { Corpus } from './others.ts'
import { corpusOf, FARTHEST, type Ranked, type RecallFact, rank } from './rank.ts'
import { RecallIndex } from './recall-index.ts'

/** A fact that is searched. */
export interface SearchedFact extends RecallFact {
  /** Unix milliseconds (UTC). Only its day counts. */
  readonly createdAt: number
}

/**
 * The best messages and facts with their passages, best first. Facts are those of index -1.
 *
 * @param beside of messages elsewhere, with which these are ranked
 */
export function searchWords(
  recall: Recall,
  sessions: readonly Searched[],
  facts: readonly SearchedFact[],
  query: string,
  first: number,
  beside?: Corpus,
): readonly Ranked[] {
  const { stemmer } = recall
  const hidden = sessions.reduce((sum, { hidden }) => sum + hidden.size, 0)
  const options = {
    limit: first + hidden,
    facts,
    hidden: sessions.map(({ hidden }) => hidden),
    ...(stemmer && { stemmer }),
    ...(beside && { beside }),
  }
  return rank(indexesOf(recall, sessions, facts), query, options)
    .filter(({ index, id }) => !sessions[index]?.hidden.has(id))
    .map((found) => (found.index === sessions.length ? { ...found, index: -1 } : found))
    .slice(0, first)
}

/** What a query counts in these, for a search elsewhere. */
export function countWords(
  recall: Recall,
  sessions: readonly Searched[],
  facts: readonly SearchedFact[],
  query: string,
): Corpus {
  const { stemmer } = recall
  return corpusOf(indexesOf(recall, sessions, facts), query, { ...(stemmer && { stemmer }) })
}

/** Those of sessions, and behind them one of facts. */
function indexesOf(
  { stemmer }: Recall,
  sessions: readonly Searched[],
  facts: readonly SearchedFact[],
): readonly RecallIndex[] {
  const own = new RecallIndex(stemmer)
  for (const { id, text, createdAt } of facts) {
    own.add(id, termsOf({ id, text, role: '', createdAt }, stemmer))
    own.leave(FARTHEST)
  }
  return [...sessions.map(({ index }) => index), own]
}
