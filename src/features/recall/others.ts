import { type Slot, slot } from '../../kernel/slot.ts'
import type { SearchedSessions } from '../../ports/context.ts'
import type { UserWords } from '../slots.ts'
import type { Recall } from './lexical-recall.ts'

/** What messages count in the ranking of a query, for others that are ranked with them. */
export interface Corpus {
  readonly passages: number
  readonly messages: number
  /** Terms of all passages. */
  readonly length: number
  /** By term of the query, how many passages hold it. */
  readonly holding: ReadonlyMap<string, number>
  /** Role and words of the name, of all who spoke. */
  readonly speakers: readonly string[]
}

/** What a session asks of its user's other sessions. */
export interface OthersAsk {
  readonly query: string
  readonly sessions: 'all' | readonly string[]
  /** The session that asks: it is left out. */
  readonly by: string
  readonly corpus: Corpus
  /** Most results. */
  readonly most: number
}

/** What was found in a user's other sessions. Survives a structured clone. */
export interface OthersFound {
  /** Best first. Scores compare with those of the messages of the corpus that was given. */
  readonly found: readonly {
    readonly sessionId: string
    readonly id: string
    readonly score: number
    readonly passages: readonly number[]
    readonly asOf: number
  }[]
  readonly corpus: Corpus
  readonly others: SearchedSessions
}

/** Asked by recall of a session: what is in others of its user, where these live elsewhere. */
export interface OtherSessions {
  /** Contract: without calling any of them. */
  rank(ask: OthersAsk): Promise<OthersFound>
  /** As {@link UserWords.messages}. Contract: one request. */
  messages: UserWords['messages']
}
/** Gives what one context asks, which is built twice where an epoch begins. */
export const Others: Slot<() => OtherSessions> = slot('plimsoll/other-sessions')

/** Asked by who keeps words: how they are read, and what one call looks through at most. */
export interface ReadsWords {
  readonly recall: () => Promise<Recall>
  readonly sessions: number
  readonly messages: number
}
export const WordsReader: Slot<ReadsWords> = slot('plimsoll/words-reader')
