import type { SessionWords } from '../../features/slots.ts'
import type { Host } from '../../ports/host.ts'
import type { Scope } from '../../ports/op.ts'
import { type CallHost, callObject } from '../replica/call-object.ts'
import type { ForgottenWords, WordsBlock, WordsState } from '../rows/words-table.ts'

/** Messages whose words cross together. */
const BLOCK = 64
/** Blocks that are sent at once: work does a bounded part of what there is. */
const MOST_BLOCKS = 16
const NOTHING = new Uint8Array()

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
 * What a user's object lacks of a session's words: all of it after a rewind, or where they are made
 * otherwise; an empty block where it lacks nothing. The last block has a time, unless there is
 * more.
 *
 * @param state how far they are kept there
 */
export async function lackingWords(
  words: SessionWords,
  { sessionId, host }: Pick<SendWordsParts, 'sessionId' | 'host'>,
  state: WordsState | undefined,
): Promise<readonly WordsBlock[]> {
  const { kind } = words
  const now = host.now()
  const { size, seq, rewoundAt, encode } = await words.read()
  if (size === 0) return []
  const goesOn = state?.kind === kind && state.rewoundAt === rewoundAt && state.size <= size
  const known = { sessionId, kind, rewoundAt, seq }
  if (goesOn && state.size === size && state.at > 0)
    return [{ ...known, from: size, to: size, at: now, bytes: NOTHING }]
  const begin = goesOn ? state.size - (state.size % BLOCK) : 0
  const blocks: WordsBlock[] = []
  for (let from = begin; blocks.length < MOST_BLOCKS; from += BLOCK) {
    const to = Math.min(from + BLOCK, size)
    const at = to === size ? now : 0
    const bytes = encode(Math.min(from, to), to)
    blocks.push({ ...known, from, to, at, bytes })
    if (to === size) break
  }
  return blocks
}

/**
 * Sends the user's object what it lacks. Idempotent.
 *
 * @returns whether there is more to send
 * @throws as the user's object
 */
export async function sendWords(words: SessionWords, parts: SendWordsParts): Promise<boolean> {
  const { user, sessionId, home, host } = parts
  const kept = await callObject(home, host, 'recall', (object) => object.words(user, sessionId))
  const blocks = await lackingWords(words, parts, kept)
  // Something was forgotten meanwhile, or the session is gone: what that began does the rest.
  for (const block of blocks)
    if (!(await callObject(home, host, 'recall', (object) => object.keepWords(user, block)))) return false
  return blocks.at(-1)?.at === 0
}
