import type { Stemmer } from '../../ports/stemmer.ts'
import { termsIn, termsOfWords } from './terms.ts'

/**
 * Words that hold a question together, or say little of what is asked for: its answer may lack
 * them.
 */
const VAGUE =
  'what which who when where why how can does do did have has had am are was were be been will would could should it my your ' +
  'he his him she her they their we this that with at by from on as about than any not there ' +
  'kind type thing like get go say time many much some all use make'
/** How much of a word these count. */
export const VAGUE_SHARE = 0.3
/** Japanese writes its grammar in these; a text has the same pairs of them again and again. */
const isHiragana = (term: string): boolean => term >= '\u3040' && term < '\u30a0'
/**
 * What an answer has that says when, and how much of a word each counts, if the question asks it.
 */
const TIMES = 'yesterday today tomorrow last next ago week month year'
const TIME_SHARE = 0.5
const QUESTION = /[?？]|^\W*(wh(at|ich|om?|ose|en|ere|y)|how)\b/i
const ASKS_WHEN = /\bwhen\b|how long|(what|which) (date|day|month|year|time)/i
/** Two are words as well: they are months only if they begin with a capital. */
const MONTHS = 'january february March april May june july august september october november december'.split(
  ' ',
)
const MONTH = new RegExp(`\\b(?:${MONTHS.join('|')})\\b`, 'gi')
/** From 1901 to 2099, and from 0 to 31, as all of a run of digits. */
const YEAR = /(?:^|\D)0*(19(?!00)\d\d|20\d\d)(?!\d)/
const DAY = /(?:^|\D)0*([12]?\d|3[01])(?!\d)/

const SELF = /\b(i|me|my|mine|myself|we|us|our|ours)\b/i
/** Of a longer question, only so many different terms are looked for. */
const MOST_TERMS = 64

/** The different terms of a query, with how much each counts. */
export function weightedTerms(
  query: string,
  words: readonly string[],
  stemmer: Stemmer | undefined,
  isQuestion: boolean,
): Map<string, number> {
  const vague = isQuestion ? termsIn(VAGUE, stemmer) : []
  const shares = new Map<string, number>()
  for (const term of termsOfWords(words, stemmer))
    if (shares.size < MOST_TERMS) shares.set(term, vague.includes(term) || isHiragana(term) ? VAGUE_SHARE : 1)
  if (ASKS_WHEN.test(query)) for (const term of termsIn(TIMES, stemmer)) shares.set(term, TIME_SHARE)
  return shares
}

/**
 * Year, month (from 0) and day of the month that a question names, each if it does: `8 May 2026`,
 * `May 8th`, `in 2026`.
 */
export function dateIn(query: string): readonly (number | undefined)[] {
  const month = query
    .match(MONTH)
    ?.map((word) => MONTHS.indexOf(MONTHS.includes(word) ? word : word.toLowerCase()))
    .find((index) => index >= 0)
  return [numberIn(query, YEAR), month, month === undefined ? undefined : numberIn(query, DAY)]
}

function numberIn(query: string, pattern: RegExp): number | undefined {
  const digits = pattern.exec(query)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** The same of a day since 1 January 1970 (Gregorian, UTC). */
export function dateOf(day: number): readonly number[] {
  // Years begin in March here, so that a leap day is the last of one: a date is centuries, years
  // and months of even length.
  const centuries = 4 * (day + 719_468) + 3
  const years = 4 * Math.floor((centuries % 146_097) / 4) + 3
  const months = 5 * Math.floor((years % 1461) / 4) + 2
  const month = (Math.floor(months / 153) + 2) % 12
  return [
    100 * Math.floor(centuries / 146_097) + Math.floor(years / 1461) + (month < 2 ? 1 : 0),
    month,
    Math.floor((months % 153) / 5) + 1,
  ]
}

/** Whether who asks speaks of themselves. */
export function ofSelfIn(query: string): boolean {
  return SELF.test(query)
}

/** Whether a query is a question: it has the mark of one, or begins with a word that asks. */
export function asksIn(query: string): boolean {
  return QUESTION.test(query)
}
