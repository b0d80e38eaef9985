import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import type { Counter } from '../ports/counter.ts'

/** Longest stretch without a break that is handed to the tokenizer whole: its time grows with the square of it. */
const LONGEST_RUN = 2_048
/** Stretches of at least that length: no white space in them, or nothing else. */
const RUN = new RegExp(`\\S{${LONGEST_RUN},}|\\s{${LONGEST_RUN},}`, 'gu')

/**
 * Exact token counts for the o200k encoding (GPT-4o and later), by gpt-tokenizer. Special tokens in a text count as
 * plain text.
 *
 * Limit: inside an unbroken run of 2 048 characters or more, text is counted in slices of that length, so the count there
 * may be a few tokens above the exact one; a pasted megabyte of one letter then takes milliseconds instead of minutes.
 *
 * @example
 * ```ts
 * import { o200k } from 'plimsoll/o200k'
 * const memory = createMemory({ store, budget: 16_000, counter: o200k })
 * ```
 */
export const o200k: Counter = {
  id: 'o200k',
  kind: 'exact',
  count: (text) => {
    if (text.length < LONGEST_RUN) return plain(text)
    let tokens = 0
    let from = 0
    for (const run of text.matchAll(RUN)) {
      tokens += plain(text.slice(from, run.index))
      from = run.index + run[0].length
      for (let at = run.index; at < from; ) {
        const end = sliceEnd(text, Math.min(at + LONGEST_RUN, from))
        tokens += plain(text.slice(at, end))
        at = end
      }
    }
    return tokens + plain(text.slice(from))
  },
}

/** `end`, or one more where it would part a surrogate pair. */
function sliceEnd(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1)
  return unit >= 0xd800 && unit <= 0xdbff ? end + 1 : end
}

function plain(text: string): number {
  return text === '' ? 0 : countTokens(text, { disallowedSpecial: new Set() })
}
