import type { Message } from './message.ts'

/**
 * Counts tokens. Synchronous and pure: the same text always gives the same whole number, and 0 for
 * the empty text.
 *
 * - `exact`: what the model's own tokenizer says.
 * - `upper`: never below what any byte-level tokenizer says.
 * - `estimate`: may be below; the budget then holds back a margin (12 % by default).
 */
export interface Counter {
  /** Names the counter and its settings: a lane and a stored count belong to one id. */
  readonly id: string
  readonly kind: 'exact' | 'upper' | 'estimate'
  /**
   * Whose vocabulary it counts by, as `o200k` or `claude`: a request that is rendered for another
   * family gets a warning. Absent: nothing is said.
   */
  readonly family?: string
  count(text: string): number
  /**
   * Counts a whole message in place of the default, which is 4 + its texts + for each call the name
   * and the arguments as JSON + for each result its output as text. `count` is then still used for
   * system text and tools.
   */
  message?(message: Pick<Message, 'content'>): number
  /**
   * Tokens that a request costs beside its messages. Default 3 (the reply's own opening, in chat
   * formats).
   */
  readonly perRequest?: number
  /**
   * Contract: what its counts should be multiplied by, as far as it knows now. Read where an epoch
   * begins, and written into it; until the next one the same factor holds, whatever this says
   * meanwhile.
   */
  calibration?(): number | undefined
}

/**
 * What every message costs beside its texts: role and separators, in all chat formats that we know.
 */
export const PER_MESSAGE = 4
/**
 * What a picture costs where nobody says otherwise (Anthropic's documented maximum for one image is
 * about this).
 */
export const MEDIA_TOKENS = 1_600
