import { perRequest } from '../kernel/count.ts'
import type { Counter } from '../ports/counter.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Json } from '../ports/message.ts'
import { invalid } from '../ports/options.ts'
import { checkMethod } from '../text/check-value.ts'

/** What formats add to each message, as in all counts here. */
const PER_MESSAGE = 4
/** Keys whose values are names and settings of the format, not text that the model reads. */
const FORMAT = new Set([
  'role',
  'type',
  'id',
  'tool_call_id',
  'tool_use_id',
  'call_id',
  'detail',
  'encrypted_content',
  'cache_control',
  'model',
  'max_tokens',
])

/**
 * Checks that a request fits, with any builder: OpenAI chat completions or responses, or Anthropic
 * messages. Counts every text in it, tools as JSON, and 4 tokens a message or item.
 *
 * @param contextWindow tokens that the request may take.
 * @returns the tokens counted.
 * @throws ERR_CONTEXT_TOO_LARGE (`size`, `limit`); ERR_INVALID_ARGUMENT: it is no request, or no
 *   counter
 */
export function assertFits(request: object, counter: Counter, contextWindow: number): number {
  const { messages, input, system, instructions, tools } = Object(request) as { readonly [key: string]: Json }
  if (messages === undefined && input === undefined)
    throw invalid('assertFits', 'request', 'must have messages or an input')
  checkMethod('assertFits', 'counter', counter, 'count')
  let size = perRequest(counter) + countTexts(system ?? instructions ?? '', counter)
  for (const item of [messages ?? input ?? []].flat()) size += PER_MESSAGE + countTexts(item, counter)
  if (Array.isArray(tools) && tools.length > 0) size += counter.count(JSON.stringify(tools))
  // Nothing fits NaN.
  if (!(size <= contextWindow))
    throw new PlimsollError(
      'ERR_CONTEXT_TOO_LARGE',
      `assertFits: the request has ${size} tokens, more than ${contextWindow}`,
      {
        size,
        limit: contextWindow,
      },
    )
  return size
}

/** All texts in a value; the input of an Anthropic call counts as the JSON that it is. */
function countTexts(value: Json, counter: Counter): number {
  if (typeof value === 'string') return counter.count(value)
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value))
    return value.reduce((sum: number, item: Json) => sum + countTexts(item, counter), 0)
  let tokens = 0
  for (const [key, child] of Object.entries(value)) {
    if (FORMAT.has(key)) continue
    tokens += key === 'input' ? counter.count(JSON.stringify(child)) : countTexts(child, counter)
  }
  return tokens
}
