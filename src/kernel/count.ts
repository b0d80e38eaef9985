import { type Counter, MEDIA_TOKENS, PER_MESSAGE } from '../ports/counter.ts'
import type { Json, Message, Part, ToolSpec } from '../ports/message.ts'
import { checkCount } from '../text/json.ts'

const PER_REQUEST = 3
/**
 * An upper bound also counts the ids of calls, which some formats show to the model: none is
 * rendered longer.
 */
const CALL_ID = 24

/**
 * Tokens of one message, framing included. @throws ERR_INVALID_ARGUMENT when the counter gives no
 * count
 */
export function countMessage(counter: Counter, message: Pick<Message, 'content'>): number {
  return checked(counter, 'its count', counter.message?.(message) ?? countParts(counter, message))
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
  return checked(counter, 'its count', counter.count(JSON.stringify(spelled)))
}

/** What the request costs beside messages and tools. */
export function perRequest(counter: Counter): number {
  const { perRequest = PER_REQUEST } = counter
  return checked(counter, 'its perRequest', perRequest)
}

function checked({ id }: Counter, what: string, tokens: number): number {
  return checkCount(`counter ${id}`, what, tokens)
}

function countPart(part: Part, count: (text: string) => number): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return count(part.text)
    case 'tool-call':
      return count(part.name) + count(JSON.stringify(part.input))
    case 'tool-result':
      return count(asText(part.output))
    case 'media': {
      const tokens = (part.tokens ?? MEDIA_TOKENS) + count(part.name ?? '')
      // All but its address may show as text.
      return Math.max(tokens, count(JSON.stringify({ ...part, url: undefined })))
    }
    case 'opaque':
      return part.tokens ?? count(JSON.stringify(part.value))
  }
}

/** A value as a model reads it: strings as they are, anything else as JSON. */
export function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
