import type { Message } from '../../ports/message.ts'
import type { Stemmer } from '../../ports/stemmer.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { termsOf } from './message-terms.ts'
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

/** Finds what was said, and what is remembered, by its words. */
export interface Recall {
  /** Names how terms are made. */
  readonly id: string
  readonly stemmer: Stemmer | undefined
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
  return {
    id,
    stemmer,
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
  }
}
