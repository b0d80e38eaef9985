import type { Counter } from '../ports/counter.ts'

/**
 * Words and figures with as many bytes a token as requests have, about 4, since prefix shares are
 * over bytes.
 */
const WORDS = (
  'tide low at harbour and wind of 12 from west sets in so keep anchor and rope ready, signal 31 for crew, ' +
  'load 480 tons of cargo before noon, hold 2 stays dry, note 905: ask pilot about weather near berth 63 tonight'
).split(' ')
const SAMPLE = 200

/**
 * About `tokens` tokens of text that is new at every call and the same at every run; empty for 0.
 */
export function tailText(counter: Counter, tokens: number, call: number): string {
  if (tokens === 0) return ''
  const perWord = counter.count(words(SAMPLE, call)) / SAMPLE
  return words(Math.max(1, Math.round(tokens / perWord)), call)
}

function words(count: number, call: number): string {
  // A linear congruential generator (Numerical Recipes' constants): repeatable, which is all that
  // is asked of it.
  let state = (call + 1) * 2_654_435_761
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return WORDS[(state >>> 8) % WORDS.length]
  }).join(' ')
}
