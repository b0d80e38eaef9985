import type { Message } from '../../ports/message.ts'
import type { Stemmer } from '../../ports/stemmer.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { termsOf } from './message-terms.ts'
import type { Corpus } from './others.ts'
import { corpusOf, FARTHEST, type Ranked, type RecallFact, rank } from './rank.ts'
import { RecallIndex } from './recall-index.ts'
import { recallText } from './recall-text.ts'
import { SessionIndex } from './session-index.ts'

/** Version of how a message becomes terms. */
const VERSION = 4
export interface LexicalRecallOptions {
  /**
   * Takes words to their stems, for example `englishStemmer` of `plimsoll/stemmer`. Default: none;
   * words match as they are.
   */
  readonly stemmer?: Stemmer
}

/** A session whose log is searched. */
export interface Searched {
  readonly index: RecallIndex
  readonly hidden: ReadonlySet<string>
}

/** A fact that is searched. */
export interface SearchedFact extends RecallFact {
  /** Unix milliseconds (UTC). Only its day counts. */
  readonly createdAt: number
}

/** Finds what was said, and what is remembered, by its words. */
export interface Recall {
  /** Names how terms are made. */
  readonly id: string
  /** What a message is found by, kept beside its entry. */
  termsOf(message: Message): string
  /**
   * Words of a session's messages, from a number up to and without another, to be kept elsewhere:
   * of what is hidden, a place alone.
   */
  encode(read: Searched, from: number, to: number): Uint8Array<ArrayBuffer>
  /** What was encoded, in its order; undefined: some of it was made otherwise. */
  decode(blocks: readonly Uint8Array[]): RecallIndex | undefined
  /** The words of one session's log. Reads nothing yet. */
  open(store: ScopeStore): SessionIndex
  /**
   * The best messages and facts with their passages, best first. Facts are those of index -1.
   *
   * @param beside of messages elsewhere, with which these are ranked
   */
  search(
    sessions: readonly Searched[],
    facts: readonly SearchedFact[],
    query: string,
    first: number,
    beside?: Corpus,
  ): readonly Ranked[]
  /** What a query counts in these, for a search elsewhere. */
  corpusOf(sessions: readonly Searched[], facts: readonly SearchedFact[], query: string): Corpus
}

/**
 * Recall by words: BM25 over each passage alone and within its neighbours, the same ranking on
 * every store.
 */
export function lexicalRecall({ stemmer }: LexicalRecallOptions = {}): Recall {
  const id = `${VERSION}/${stemmer?.id ?? ''}`
  const terms = (message: Message): string => {
    const { id, role, name, createdAt } = message
    const text = recallText(message)
    return termsOf({ id, text, role, createdAt, ...(name !== undefined && { name }) }, stemmer)
  }
  /** Those of sessions, and behind them one of facts. */
  const indexesOf = (sessions: readonly Searched[], facts: readonly SearchedFact[]) => {
    const own = new RecallIndex(stemmer)
    for (const { id, text, createdAt } of facts) {
      own.add(id, termsOf({ id, text, role: '', createdAt }, stemmer))
      own.leave(FARTHEST)
    }
    return [...sessions.map(({ index }) => index), own]
  }
  return {
    id,
    termsOf: terms,
    encode: ({ index, hidden }, from, to) => {
      const block = index.encode(from, to)
      const shown = new RecallIndex(stemmer)
      shown.load(block)
      for (const id of hidden) shown.remove(id)
      return shown.documents === shown.size ? block : shown.encode(0, to - from)
    },
    decode: (blocks) => {
      const index = new RecallIndex(stemmer)
      return blocks.every((block) => index.load(block)) ? index : undefined
    },
    open: (store) => new SessionIndex({ store, stemmer, id, termsOf: terms }),
    corpusOf: (sessions, facts, query) =>
      corpusOf(indexesOf(sessions, facts), query, { ...(stemmer && { stemmer }) }),
    search: (sessions, facts, query, first, beside) => {
      const hidden = sessions.reduce((sum, { hidden }) => sum + hidden.size, 0)
      const options = {
        limit: first + hidden,
        facts,
        ...(stemmer && { stemmer }),
        ...(beside && { beside }),
      }
      return rank(indexesOf(sessions, facts), query, options)
        .filter(({ index, id }) => !sessions[index]?.hidden.has(id))
        .map((found) => (found.index === sessions.length ? { ...found, index: -1 } : found))
        .slice(0, first)
    },
  }
}
