/** Texts for Node, workerd and pages alike, so without anything that one of them lacks. */

export interface PlainMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

const CORPUS_LENGTH = 2 ** 20
const LETTERS = 'etaoinshrdlucmfwypvbgk'

let corpus = ''

/**
 * The same exchange for the same number: a user message and a reply of these lengths, ASCII words.
 */
export function exchangeAt(number: number, [asked, answered]: readonly [number, number]): PlainMessage[] {
  return [
    { role: 'user', content: textAt(2 * number, asked) },
    { role: 'assistant', content: textAt(2 * number + 1, answered) },
  ]
}

function textAt(number: number, length: number): string {
  corpus ||= makeCorpus()
  const start = (Math.imul(number + 1, 0x9e3779b1) >>> 0) % (CORPUS_LENGTH - length)
  return corpus.slice(start, start + length)
}

function makeCorpus(): string {
  let state = 1
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const word = (): string =>
    Array.from({ length: 2 + Math.floor(random() * 8) }, () =>
      LETTERS.charAt(Math.floor(random() ** 2 * LETTERS.length)),
    ).join('')
  const words = Array.from({ length: 2_000 }, word)
  const parts: string[] = []
  for (let length = 0; length < CORPUS_LENGTH; ) {
    const next = `${words[Math.floor(random() ** 2 * words.length)]}${random() < 0.08 ? '. ' : ' '}`
    parts.push(next)
    length += next.length
  }
  return parts.join('').slice(0, CORPUS_LENGTH)
}
