/**
 * The conversation that every widget shows. Each message begins with its number, by which it is
 * found on the screen.
 */

export interface Said {
  readonly role: 'user' | 'assistant'
  readonly text: string
}

const SENTENCES = [
  'The night train to Turin leaves at a quarter to ten from platform eleven.',
  'Bring the blue folder, since the certificates are only valid on paper.',
  'It rained all week, so the path along the river is closed until Friday.',
  'The second reading of the meter was lower than the first, which cannot be.',
  'Two of the three quotes include delivery; the third one is cheaper without it.',
  'She asked for a table by the window and for nothing with nuts.',
  'If the parcel is not there by noon, the shop sends another one.',
] as const

/** What every message begins with. */
export const headOf = (number: number): string => `Message ${number}:`

/** @param number from 1; odd numbers are the user's */
export function messageAt(number: number): Said {
  const text = `${headOf(number)} ${sentences(number, 1 + (number % 3))}`
  if (number % 2 === 1) return { role: 'user', text }
  const more = MARKDOWN[number % 8]
  return { role: 'assistant', text: more ? `${text}\n\n${more(number)}` : text }
}

/** Messages `from` (inclusive) to `to` (exclusive). */
export function messagesBetween(from: number, to: number): Said[] {
  return Array.from({ length: to - from }, (_, index) => messageAt(from + index))
}

/** What some answers go on with, by the rest of their number by eight. */
const MARKDOWN: Readonly<Record<number, (number: number) => string>> = {
  2: (number) =>
    `- **First**, ${lower(number + 1)}\n- *Then*, ${lower(number + 2)}\n- Last: \`step-${number}\``,
  4: (number) => `\`\`\`js\nconst total = prices.reduce((sum, price) => sum + price, ${number})\n\`\`\``,
  6: (number) =>
    `> ${sentences(number + 3, 1)}\n\nSee [the timetable](https://example.com/timetable/${number}).`,
}

const sentenceAt = (number: number): string => SENTENCES[number % SENTENCES.length] as string

function sentences(start: number, count: number): string {
  return Array.from({ length: count }, (_, index) => sentenceAt(start * 3 + index)).join(' ')
}

function lower(number: number): string {
  const sentence = sentenceAt(number)
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}
