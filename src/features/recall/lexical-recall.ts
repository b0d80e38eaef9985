import { partsOf } from '../../kernel/log/message.ts'
import type { Message } from '../../ports/message.ts'
import type { Stemmer } from '../../ports/stemmer.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { leaves } from '../text/leaves.ts'
import { termsOf } from './message-terms.ts'
import { FARTHEST, type Ranked, type RecallFact, rank } from './rank.ts'
import { RecallIndex } from './recall-index.ts'
import { SessionIndex } from './session-index.ts'

/** Version of how a message becomes terms. */
const VERSION = 4
/**
 * What the output of a tool begins with that gives back what was remembered: it is not indexed or
 * extracted again.
 */
export const RECALLED = '[from memory'
/**
 * The tool by which a model recalls. What it looked for says nothing, so its calls are not indexed.
 */
export const RECALL_TOOL = 'memory_recall'

export interface LexicalRecallOptions {
  /**
   * Takes words to their stems, for example `englishStemmer` of `plimsoll/stemmer`. Default: none;
   * words match as they are.
   */
  readonly stemmer?: Stemmer
  /**
   * Contract: one vector for each text, all of one length; pure. The best 64 results by words are
   * ordered again with it, as a weighted term: what shares no word with the query is not found by
   * it.
   */
  readonly embed?: (texts: readonly string[]) => Promise<readonly (readonly number[])[]>
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
  /** The words of one session's log. Reads nothing yet. */
  open(store: ScopeStore): SessionIndex
  /** The best messages and facts with their passages, best first. Facts are those of index -1. */
  search(
    sessions: readonly Searched[],
    facts: readonly SearchedFact[],
    query: string,
    first: number,
  ): readonly Ranked[]
  readonly embed?: LexicalRecallOptions['embed']
}

/**
 * Recall by words: BM25 over each passage alone and within its neighbours, the same ranking on
 * every store.
 */
export function lexicalRecall({ stemmer, embed }: LexicalRecallOptions = {}): Recall {
  const id = `${VERSION}/${stemmer?.id ?? ''}`
  const terms = (message: Message): string => {
    const { id, role, name, createdAt } = message
    const text = recallText(message)
    return termsOf({ id, text, role, createdAt, ...(name !== undefined && { name }) }, stemmer)
  }
  return {
    id,
    termsOf: terms,
    open: (store) => new SessionIndex({ store, stemmer, id, termsOf: terms }),
    search: (sessions, facts, query, first) => {
      const own = new RecallIndex(stemmer)
      for (const { id, text, createdAt } of facts) {
        own.add(id, termsOf({ id, text, role: '', createdAt }, stemmer))
        own.leave(FARTHEST)
      }
      const hidden = sessions.reduce((sum, { hidden }) => sum + hidden.size, 0)
      const options = { limit: first + hidden, facts, ...(stemmer && { stemmer }) }
      return rank([...sessions.map(({ index }) => index), own], query, options)
        .filter(({ index, id }) => !sessions[index]?.hidden.has(id))
        .map((found) => (found.index === sessions.length ? { ...found, index: -1 } : found))
        .slice(0, first)
    },
    ...(embed && { embed }),
  }
}

/**
 * What of a message can be recalled: its words, arguments and results, but no query, and nothing
 * that was recalled itself.
 */
export function recallText(message: Pick<Message, 'content'>): string {
  return partsOf(message)
    .map((part) => {
      if (part.type === 'text') return part.text
      if (part.type === 'tool-call') return part.name === RECALL_TOOL ? '' : leaves(part.input)
      if (part.type !== 'tool-result') return ''
      const text = leaves(part.output)
      return text.startsWith(RECALLED) ? '' : text
    })
    .filter((text) => text !== '')
    .join('\n')
}
