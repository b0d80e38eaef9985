import type { Counter } from '../ports/counter.ts'
import type { Json, Message, Part, ToolSpec } from '../ports/message.ts'
import { checkCount, invalid } from './text/json.ts'
import { codePoints } from './text/text.ts'
import { utf8Length } from './text/utf8-length.ts'

/** What every message costs beside its texts: role and separators, in all chat formats that we know. */
const PER_MESSAGE = 4
/** What a picture costs where nobody says otherwise (Anthropic's documented maximum for one image is about this). */
const MEDIA_TOKENS = 1_600
const PER_REQUEST = 3
/** An upper bound also counts the ids of calls, which some formats show to the model: none is rendered longer. */
const CALL_ID = 24

/**
 * The classic estimate: a text is 0 tokens if empty, else one for each `chars` code points, at least one. A message is
 * 4 + its text + for each call its name, each argument's key and each argument's value as a string + for each result its
 * call id and its output. A call's own id is not counted.
 *
 * @param chars code points a token, above 0. Default 4.
 * @throws ERR_INVALID_ARGUMENT
 */
export function charsPerToken(chars = 4): Counter {
  if (!(chars > 0)) throw invalid('charsPerToken', 'chars', 'must be above 0')
  const count = (text: string): number =>
    text === '' ? 0 : Math.max(1, Math.floor(codePoints(text) / chars))
  const classic = (part: Part): number => {
    if (part.type === 'tool-call') return count(part.name) + countArguments(part.input, count)
    if (part.type === 'tool-result') return count(part.callId) + count(asText(part.output))
    return countPart(part, count)
  }
  return {
    id: `chars/${chars}`,
    kind: 'estimate',
    count,
    message: ({ content }) =>
      PER_MESSAGE +
      (typeof content === 'string' ? count(content) : content.reduce((sum, part) => sum + classic(part), 0)),
    perRequest: 0,
  }
}

function countArguments(input: Json, count: (text: string) => number): number {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return count(asText(input))
  return Object.entries(input).reduce((sum, [key, value]) => sum + count(key) + count(asText(value)), 0)
}

/**
 * One token for each UTF-8 byte. No byte-level tokenizer gives more, so a budget kept by it is kept by all of them; on
 * English text it is about four times too high.
 */
export const utf8Bound: Counter = {
  id: 'utf8',
  kind: 'upper',
  count: utf8Length,
}

/** Tokens of one message, framing included. @throws ERR_INVALID_ARGUMENT when the counter gives no count */
export function countMessage(counter: Counter, message: Pick<Message, 'content'>): number {
  return checkCount(
    `counter ${counter.id}`,
    'its count',
    counter.message?.(message) ?? countParts(counter, message),
  )
}

function countParts(counter: Counter, { content }: Pick<Message, 'content'>): number {
  if (typeof content === 'string') return PER_MESSAGE + counter.count(content)
  // Some formats give each result a message of its own.
  const results = content.filter(({ type }) => type === 'tool-result').length
  let tokens = PER_MESSAGE * Math.max(1, results)
  for (const part of content) {
    tokens += countPart(part, counter.count)
    if (counter.kind === 'upper' && (part.type === 'tool-call' || part.type === 'tool-result'))
      tokens += CALL_ID
  }
  return tokens
}

/** Tokens of the tools, in the longest of the providers' spellings. 0 without tools. */
export function countTools(counter: Counter, tools: readonly ToolSpec[] | undefined): number {
  if (!tools?.length) return 0
  const spelled = tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }))
  return checkCount(`counter ${counter.id}`, 'its count', counter.count(JSON.stringify(spelled)))
}

/** What the request costs beside messages and tools. */
export function perRequest(counter: Counter): number {
  const { perRequest = PER_REQUEST } = counter
  return checkCount(`counter ${counter.id}`, 'its perRequest', perRequest)
}

function countPart(part: Part, count: (text: string) => number): number {
  switch (part.type) {
    case 'text':
      return count(part.text)
    case 'reasoning':
      return count(part.text)
    case 'tool-call':
      return count(part.name) + count(JSON.stringify(part.input))
    case 'tool-result':
      return count(asText(part.output))
    case 'media':
      return part.tokens ?? MEDIA_TOKENS
    case 'opaque':
      return part.tokens ?? count(JSON.stringify(part.value))
  }
}

/** A value as a model reads it: strings as they are, anything else as JSON. */
export function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
