import type { Message } from '../../ports/message.ts'
import type { Stemmer } from '../../ports/stemmer.ts'
import { type MessageTerms, termsOf } from './message-terms.ts'
import { recallText } from './recall-text.ts'

/** Version of how a message becomes terms. */
const VERSION = 5
/**
 * Messages that one block of an index holds, and as many more as belong to the op that the last of
 * them came with.
 */
export const BLOCK = 256

export interface LexicalRecallOptions {
  /**
   * Takes words to their stems, for example `englishStemmer` of `plimsoll/stemmer`. Default: none;
   * words match as they are.
   */
  readonly stemmer?: Stemmer
}

/** What messages are found by. */
export interface LexicalTerms {
  /** Names how terms are made. */
  readonly id: string
  readonly stemmer: Stemmer | undefined
  /** What a message is found by. */
  termsOf(message: Message): MessageTerms
}

/** Names how terms are made. */
export function termsKind(stemmer: Stemmer | undefined): string {
  return `${VERSION}/${stemmer?.id ?? ''}`
}

export function lexicalTerms({ stemmer }: LexicalRecallOptions = {}): LexicalTerms {
  return {
    id: termsKind(stemmer),
    stemmer,
    termsOf: (message) => {
      const { id, role, name, createdAt } = message
      const text = recallText(message)
      return termsOf({ id, text, role, createdAt, ...(name !== undefined && { name }) }, stemmer)
    },
  }
}
