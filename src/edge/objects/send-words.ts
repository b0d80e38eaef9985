import type { SessionWords } from '../../features/slots.ts'
import type { Host } from '../../ports/host.ts'
import type { Scope } from '../../ports/op.ts'
import { type CallHost, callObject } from '../replica/call-object.ts'
import type { ForgottenWords, WordsBlock, WordsState } from '../rows/words-table.ts'

/** Messages whose words cross together. */
const BLOCK = 64
/** Blocks that are sent at once: work does a bounded part of what there is. */
const MOST_BLOCKS = 16

/** What a user's object offers to keep the words of sessions. */
export interface WordsHome {
  /** As `UserObject.words`. */
  words(user: Scope, sessionId: string): Promise<WordsState | undefined>
  /** As `UserObject.keepWords`. */
  keepWords(user: Scope, block: WordsBlock): Promise<boolean>
  /** As `UserObject.dropWords`. */
  dropWords(user: Scope, forgotten: ForgottenWords): Promise<void>
}

export interface SendWordsParts {
  readonly user: Scope
  readonly sessionId: string
  /** Contract: gives a new stub of the user's object at each call. */
  readonly home: () => WordsHome
  readonly host: CallHost & Pick<Host, 'now'>
}

/**
 * Sends the user's object what it lacks of a session's words: all of it after a rewind, or where
 * they are made otherwise. Idempotent.
 *
 * @returns whether there is more to send
 * @throws as the user's object
 */
export async function sendWords(words: SessionWords, parts: SendWordsParts): Promise<boolean> {
  const { user, sessionId, home, host } = parts
  const { kind } = words
  const at = host.now()
  const { size, seq, rewoundAt, encode } = await words.read()
  if (size === 0) return false
  const kept = await callObject(home, host, 'recall', (object) => object.words(user, sessionId))
  const goesOn = kept?.kind === kind && kept.rewoundAt === rewoundAt && kept.size <= size
  const begin = goesOn ? kept.size - (kept.size % BLOCK) : 0
  for (let sent = 0; sent < MOST_BLOCKS; sent++) {
    const from = begin + sent * BLOCK
    const to = Math.min(from + BLOCK, size)
    const isLast = to === size
    const bytes = encode(Math.min(from, to), to)
    const block = { sessionId, kind, rewoundAt, from, to, seq, at: isLast ? at : 0, bytes }
    const isKept = await callObject(home, host, 'recall', (object) => object.keepWords(user, block))
    // Something was forgotten meanwhile, or the session is gone: what that began does the rest.
    if (!isKept || isLast) return false
  }
  return true
}
