import { type Counter, MEDIA_TOKENS, PER_MESSAGE } from '../ports/counter.ts'
import type { Json, Part } from '../ports/message.ts'
import { invalid } from '../ports/options.ts'
import { utf8Length } from '../ports/utf8-length.ts'

const PAIRS = /[\ud800-\udbff][\udc00-\udfff]/g

/**
 * The classic estimate: a text is 0 tokens if empty, else one for each `chars` code points, at
 * least one. A message is 4 + its text + for each call its name, each argument's key and each
 * argument's value as a string + for each result its call id and its output. A call's own id is not
 * counted.
 *
 * @param chars code points a token, above 0. Default 4.
 * @throws ERR_INVALID_ARGUMENT
 */
export function charsPerToken(chars = 4): Counter {
  if (!(typeof chars === 'number' && chars > 0)) throw invalid('charsPerToken', 'chars', 'must be above 0')
  const count = (text: string): number =>
    text === '' ? 0 : Math.max(1, Math.floor(codePoints(text) / chars))
  return {
    id: `chars/${chars}`,
    kind: 'estimate',
    count,
    message: ({ content }) => {
      if (typeof content === 'string') return PER_MESSAGE + count(content)
      return content.reduce((sum, part) => sum + countPart(part, count), PER_MESSAGE)
    },
    perRequest: 0,
  }
}

/**
 * One token for each UTF-8 byte. No byte-level tokenizer gives more, so a budget kept by it is kept
 * by all of them; on English text it is about four times too high.
 */
export const utf8Bound: Counter = {
  id: 'utf8',
  kind: 'upper',
  count: utf8Length,
}

function codePoints(text: string): number {
  return text.length - (text.match(PAIRS)?.length ?? 0)
}

function countPart(part: Part, count: (text: string) => number): number {
  switch (part.type) {
    case 'tool-call':
      return count(part.name) + countArguments(part.input, count)
    case 'tool-result':
      return count(part.callId) + count(asText(part.output))
    case 'media':
      return (part.tokens ?? MEDIA_TOKENS) + (part.name === undefined ? 0 : count(part.name))
    case 'opaque':
      return part.tokens ?? count(JSON.stringify(part.value))
    default:
      return count(part.text)
  }
}

function countArguments(input: Json, count: (text: string) => number): number {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return count(asText(input))
  return Object.entries(input).reduce((sum, [key, value]) => sum + count(key) + count(asText(value)), 0)
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
