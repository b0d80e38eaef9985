import type { Stemmer } from '../../ports/stemmer.ts'
import { passagesOf } from './passages.ts'
import { type RecallDocument, termsIn } from './terms.ts'
import { tableOf } from './word-table.ts'
import { wordsOf } from './words.ts'

/** UTF-16 units of all terms beyond which no further passage is found: stores bound a row. */
const MOST_UNITS = 256 * 1024
const MS_PER_DAY = 86_400_000

/**
 * What a message is found by, beside the terms of its passages: its day since 1 January 1970 (UTC),
 * and its role with the words of its name, parted by spaces.
 */
export type Traits = readonly [day: number, speaker: string]

/** What parts the passages of a message from each other, and from its traits. */
export const PASSAGE = '\f'

/**
 * What a message is found by, as text to be kept beside its entry: its {@link Traits} as JSON, then
 * each of its passages, at least one: on its first line how many terms it has, with a `?` behind
 * where it asks something, on its second the terms as they come. Of a text with more than 256 Ki
 * units of terms the last passages are left out. Deterministic.
 */
export function termsOf(
  { text, role, name = '', createdAt }: RecallDocument,
  stemmer: Stemmer | undefined,
): string {
  const traits: Traits = [Math.floor(createdAt / MS_PER_DAY), [role, ...wordsOf(name)].join(' ')]
  let all = JSON.stringify(traits)
  const passages = passagesOf(text)
  for (const [from, to] of passages.length > 0 ? passages : [[0, 0]]) {
    if (all.length > MOST_UNITS) break
    all += PASSAGE + passageTerms(text.slice(from, to), stemmer)
  }
  return all
}

function passageTerms(text: string, stemmer: Stemmer | undefined): string {
  const terms = tableOf(stemmer).termsIn(text.toLowerCase()) ?? termsIn(text, stemmer)
  return `${terms.length}${/[?？]/.test(text) ? '?' : ''}\n${terms.join(' ')}`
}
