import type { ScopeStore } from '../../ports/store.ts'
import { type LexicalRecallOptions, type LexicalTerms, lexicalTerms } from './lexical-terms.ts'
import { RecallIndex } from './recall-index.ts'
import { SessionIndex } from './session-index.ts'

/** A session whose log is searched. */
export interface Searched {
  readonly index: RecallIndex
  readonly hidden: ReadonlySet<string>
}

/** Finds what was said, and what is remembered, by its words. */
export interface Recall extends LexicalTerms {
  /**
   * Words of a session's messages, from a number up to and without another, to be kept elsewhere:
   * of what is hidden, a place alone.
   */
  encode(read: Searched, from: number, to: number): Uint8Array<ArrayBuffer>
  /** What was encoded, in its order; undefined: some of it was made otherwise. */
  decode(blocks: readonly Uint8Array[]): RecallIndex | undefined
  /** The words of one session's log. Reads nothing yet. */
  open(store: ScopeStore): SessionIndex
}

/**
 * Recall by words: BM25 over each passage alone and within its neighbours, the same ranking on
 * every store.
 */
export function lexicalRecall(options: LexicalRecallOptions = {}): Recall {
  const terms = lexicalTerms(options)
  const { stemmer } = terms
  return {
    ...terms,
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
    open: (store) => new SessionIndex({ ...terms, store }),
  }
}
