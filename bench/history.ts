import type { MessageInput } from '../src/ports/message.ts'

/**
 * What is appended at a time: a user message, in one of nineteen a tool call and its result, and
 * the reply.
 */
export type Exchange = readonly MessageInput[]

export const SYSTEM =
  'You are a careful assistant. Answer from the conversation, and say so when you do not know.'

/**
 * Share of the exchanges that hold a call and its result, so that 5 % of all messages are one or
 * the other.
 */
const TOOL_SHARE = 0.05 / (1 - 0.05)

const CORPUS_CHARS = 1_000_000

/** Numbers from 0 to 1 that are the same on every machine (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
}

/** Endless exchanges, the same for equal seeds; a message has about 350 characters. */
export function* exchanges(seed: number): Generator<Exchange, never> {
  const random = randomFrom(seed)
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  const text = (least: number, most: number) => textAt(random(), between(least, most))
  for (let number = 0; ; number++) {
    const user: MessageInput = { role: 'user', content: text(20, 300) }
    const reply: MessageInput = { role: 'assistant', content: text(150, 930) }
    if (random() >= TOOL_SHARE) {
      yield [user, reply]
      continue
    }
    const id = `call-${seed}-${number}`
    const input = { query: text(20, 60), limit: between(1, 50) }
    yield [
      user,
      { role: 'assistant', content: [{ type: 'tool-call', id, name: 'search_orders', input }] },
      { role: 'tool', content: [{ type: 'tool-result', callId: id, output: text(100, 1_200) }] },
      reply,
    ]
  }
}

/** Whole exchanges until there are `size` messages or, by the last exchange, a few more. */
export function* take(source: Iterator<Exchange>, size: number): Generator<Exchange> {
  for (let count = 0; count < size; ) {
    const { value } = source.next()
    count += value.length
    yield value
  }
}

let corpus = ''

/**
 * Text from a place in a fixed corpus, as a string of its own: a slice would keep the corpus alive
 * and be cheap.
 */
function textAt(place: number, length: number): string {
  corpus ||= makeCorpus()
  const start = Math.floor(place * (CORPUS_CHARS - length))
  return Buffer.from(corpus.slice(start, start + length), 'latin1').toString('latin1')
}

function makeCorpus(): string {
  const random = randomFrom(1)
  const letters = 'etaoinshrdlucmfwypvbgk'
  const word = () => {
    let made = ''
    for (let rest = 2 + Math.floor(random() * 8); rest > 0; rest--) {
      made += letters[Math.floor(random() ** 2 * letters.length)]
    }
    return made
  }
  const vocabulary = Array.from({ length: 2_000 }, word)
  let made = ''
  while (made.length < CORPUS_CHARS) {
    made += vocabulary[Math.floor(random() ** 2 * vocabulary.length)]
    made += random() < 0.08 ? '. ' : ' '
  }
  return made
}
