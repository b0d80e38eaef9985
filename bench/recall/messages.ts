import type { RecallDocument } from '../../src/features/recall/terms.ts'
import { randomFrom } from '../history.ts'
import type { Locomo } from './locomo.ts'
import { frequencies, rarest, wordsOf } from './words.ts'

/** About as many characters as a message has. */
const LENGTH = 250
/** One message of so many names a number of its own, as orders and tickets have. */
const NUMBERED = 4
/** Of a query that is not a question. */
const WORDS = 3
const DAY_MS = 86_400_000
const PER_DAY = 40
const START = 1_700_000_000_000

/**
 * Messages of sentences from the turns, drawn and put together again; the same for equal data. Ids
 * are UUIDs.
 */
export function messagesFrom({ turns }: Locomo, count: number): RecallDocument[] {
  const random = randomFrom(3)
  const sentences = turns.flatMap(({ text }) =>
    text.split(/(?<=[.!?])\s+/).filter((part) => part.length > 10),
  )
  const draw = () => sentences[Math.floor(random() * sentences.length)] ?? ''
  return Array.from({ length: count }, (_, index) => {
    let text = index % NUMBERED === 0 ? `It is number ${Math.floor(random() * 1e8)}.` : draw()
    while (text.length < LENGTH - 30) text += ` ${draw()}`
    return {
      id: uuid(random),
      // As one piece, as a message that was read from a store is.
      text: Buffer.from(text).toString(),
      role: index % 2 === 0 ? 'user' : 'assistant',
      createdAt: START + Math.floor(index / PER_DAY) * DAY_MS,
    }
  })
}

/** Each of the three rarest words of a message. */
export function rareQueries(documents: readonly RecallDocument[], count: number): string[] {
  const frequency = frequencies(documents.map(({ text }) => text))
  return drawn(documents, count, (words) => rarest(words, WORDS, frequency))
}

/** Each of any three words of a message, in their order. */
export function plainQueries(documents: readonly RecallDocument[], count: number): string[] {
  return drawn(documents, count, (words, random) => {
    const different = [...new Set(words)]
    while (different.length > WORDS) different.splice(Math.floor(random() * different.length), 1)
    return different
  })
}

function drawn(
  documents: readonly RecallDocument[],
  count: number,
  choose: (words: readonly string[], random: () => number) => readonly string[],
): string[] {
  const random = randomFrom(4)
  return Array.from({ length: count }, () => {
    const document = documents[Math.floor(random() * documents.length)]
    return choose(wordsOf(document?.text ?? ''), random).join(' ')
  })
}

/** Questions from all over the data. */
export function questionsFrom({ questions }: Locomo, count: number): string[] {
  const step = Math.max(1, Math.floor(questions.length / count))
  return questions.flatMap(({ question }, index) => (index % step === 0 ? question : [])).slice(0, count)
}

function uuid(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
