import { asText } from '../kernel/count.ts'
import { EMPTY_MESSAGE, textOf } from '../kernel/log/message.ts'
import type { Block, Context } from '../ports/context.ts'
import type { Json, MessageInput, OpaquePart, Part } from '../ports/message.ts'
import { invalid } from '../ports/options.ts'
import { checkBoolean, checkOneOf } from '../text/check-value.ts'
import { fenced } from '../text/fence.ts'
import { type Check, checkShape, type Fields, optional } from '../text/fields.ts'
import { checkId, copyOf } from '../text/json.ts'
import { checkBuilt } from './check-built.ts'
import { noteFamily } from './family.ts'
import { parseArguments } from './openai-input.ts'
import { type Marked, setMarks } from './openai-marks.ts'
import { callName, contentOf, isPicture, placeholder } from './parts.ts'

/** What {@link toOpenAIResponses} gives: spread it into the parameters of `responses.create`. */
export interface OpenAIResponsesRequest {
  tools?: OpenAIResponsesTool[]
  input: OpenAIResponsesItem[]
  prompt_cache_options?: {
    mode?: 'explicit'
    ttl?: '30m' | '12h'
    comparison_response_id?: string
  }
}

export type OpenAIResponsesItem =
  | { role: 'system'; content: OpenAIResponsesText[] }
  | { role: 'user'; content: OpenAIResponsesPart[] }
  | { role: 'assistant'; content: string }
  | { type: 'function_call'; call_id: string; name: string; arguments: string }
  | { type: 'function_call_output'; call_id: string; output: OpenAIResponsesText[] }
  | {
      type: 'reasoning'
      id: string
      summary: { type: 'summary_text'; text: string }[]
      encrypted_content?: string | null
    }
  | { type: 'compaction'; encrypted_content: string; id?: string | null }

export type OpenAIResponsesPart =
  | OpenAIResponsesText
  | {
      type: 'input_image'
      image_url: string
      detail: 'auto'
      prompt_cache_breakpoint?: { mode: 'explicit' }
    }

export interface OpenAIResponsesText {
  type: 'input_text'
  text: string
  prompt_cache_breakpoint?: { mode: 'explicit' }
}

export interface OpenAIResponsesTool {
  type: 'function'
  name: string
  description?: string
  parameters: { [key: string]: unknown }
  strict: false
}

export interface OpenAIResponsesOptions {
  /**
   * Whether to set `prompt_cache_breakpoint`, at most four times, and to turn off the provider's
   * own one: for `gpt-5.6` and later. @default false
   */
  readonly cache?: boolean
  /** Least lifetime of what is kept. Default: the provider's. */
  readonly ttl?: '30m' | '12h'
  /** Id of the response that the cache is compared with: its diagnosis comes with the reply. */
  readonly compareWith?: string
  /**
   * Whether to send the provider's own items, reasoning and compactions, back to it. Without them
   * the request holds what the log says in words, as after one that can be decrypted no more.
   * @default true
   */
  readonly opaque?: boolean
}

const checkTtl: Check = (...of) => checkOneOf(...of, ['30m', '12h'])
const OPTIONS: Fields = {
  cache: optional(checkBoolean),
  ttl: optional(checkTtl),
  compareWith: optional(checkId),
  opaque: optional(checkBoolean),
}

/** @throws ERR_INVALID_ARGUMENT */
export function checkOpenAIResponses(
  operation: string,
  options: OpenAIResponsesOptions,
): OpenAIResponsesOptions {
  return checkShape(operation, 'options', options, OPTIONS)
}

/** A whole response, as little of it as is read here. */
export interface OpenAIInputResponse {
  readonly output: readonly { readonly type: string }[]
  readonly error?: object | null
}

/**
 * A context as a request of the Responses API, item after item, for `store: false` and without
 * `previous_response_id`: the log is what is sent. Reasoning and compactions go back as they came,
 * and are never the only copy of what they stand for.
 *
 * @example With a key of OpenAI:
 * ```ts
 * import OpenAI from 'openai'
 * import { parseOpenAIResponse, toOpenAIResponses } from 'plimsoll'
 *
 * const request = toOpenAIResponses(await session.context())
 * const response = await new OpenAI().responses.create({ model: 'gpt-4.1', store: false, ...request })
 * await session.append(parseOpenAIResponse(response))
 * ```
 */
export function toOpenAIResponses(
  context: Context,
  options: OpenAIResponsesOptions = {},
): OpenAIResponsesRequest {
  const {
    cache = false,
    ttl,
    compareWith,
    opaque = true,
  } = checkOpenAIResponses('toOpenAIResponses', options)
  checkBuilt('toOpenAIResponses', context)
  noteFamily(context, 'OpenAI', (family) => !family.startsWith('claude'))
  const marked: Marked[] = []
  const input = context.blocks.flatMap((block) => {
    const items = itemsOf(block, context.fence, opaque)
    for (const item of items) marked.push({ parts: partsIn(item), section: block.section, role: block.role })
    return items
  })
  if (cache) setMarks(marked)
  const tools = context.tools?.map(
    ({ name, description, inputSchema }): OpenAIResponsesTool => ({
      type: 'function',
      name,
      ...(description !== undefined && { description }),
      parameters: copyOf(inputSchema),
      strict: false,
    }),
  )
  const caching = {
    ...(cache && { mode: 'explicit' as const }),
    ...(ttl !== undefined && { ttl }),
    ...(compareWith !== undefined && { comparison_response_id: compareWith }),
  }
  return {
    ...(tools?.length && { tools }),
    input,
    ...(Object.keys(caching).length > 0 && { prompt_cache_options: caching }),
  }
}

/**
 * A response as a message. Reasoning, compactions and whatever else the provider understands alone
 * are kept as opaque parts. A refusal becomes text, and the message's metadata says
 * `refusal: true`.
 *
 * @throws ERR_INVALID_ARGUMENT for anything else, a response that failed among it
 */
export function parseOpenAIResponse(response: OpenAIInputResponse): MessageInput {
  const { output, error } = Object(response) as Partial<OpenAIInputResponse>
  if (!output || error) throw invalid('parseOpenAIResponse', 'response', 'must be one that has not failed')
  const refusals: Json[] = []
  const parts = output.flatMap((item): Part[] => {
    const fields = item as { readonly [key: string]: Json | undefined }
    const { call_id: id, name, arguments: given, content } = fields
    if (item.type === 'function_call' && typeof id === 'string' && typeof name === 'string')
      return [{ type: 'tool-call', id, name, input: parseArguments(String(given)) }]
    if (item.type === 'message' && Array.isArray(content))
      return content.flatMap((part): Part[] => {
        const { text, refusal } = part as { readonly text?: Json; readonly refusal?: Json }
        if (refusal !== undefined) refusals.push(refusal)
        const said = text ?? refusal
        return typeof said === 'string' && said !== '' ? [{ type: 'text', text: said }] : []
      })
    return [{ type: 'opaque', provider: 'openai', value: fields as Json }]
  })
  return {
    role: 'assistant',
    content: contentOf(parts),
    ...(refusals.length > 0 && { metadata: { refusal: true } }),
  }
}

/** Contract: depends on nothing but the block, so a longer list of blocks only adds items. */
function itemsOf(block: Block, fence: string, opaque: boolean): OpenAIResponsesItem[] {
  const { role, parts, section, trust } = block
  const text = textOf({ content: parts })
  switch (role) {
    case 'system': {
      if (text === '') return []
      const trusted = section === 'system' || trust === 'system' || trust === 'user'
      return trusted
        ? [{ role: 'system', content: [inputText(text)] }]
        : [{ role: 'user', content: [inputText(fenced(fence, 'system', text))] }]
    }
    case 'user': {
      if (section === 'tail' && text === '') return []
      const content = parts.flatMap(userPart)
      return [{ role, content: content.length > 0 ? content : [inputText(EMPTY_MESSAGE)] }]
    }
    case 'assistant':
      return withEnd(parts.flatMap((part) => assistantItem(part, opaque)))
    case 'tool':
      return parts.flatMap((part): OpenAIResponsesItem[] =>
        part.type === 'tool-result'
          ? [
              {
                type: 'function_call_output',
                call_id: part.callId,
                output: [inputText(asText(part.output))],
              },
            ]
          : [],
      )
  }
}

function inputText(text: string): OpenAIResponsesText {
  return { type: 'input_text', text }
}

function userPart(part: Part): OpenAIResponsesPart[] {
  if (part.type === 'text') return part.text === '' ? [] : [inputText(part.text)]
  if (part.type !== 'media') return []
  if (isPicture(part)) return [{ type: 'input_image', image_url: part.url, detail: 'auto' }]
  return [inputText(placeholder(part))]
}

function assistantItem(part: Part, opaque: boolean): OpenAIResponsesItem[] {
  if (part.type === 'text') return part.text === '' ? [] : [{ role: 'assistant', content: part.text }]
  if (part.type === 'media') return [{ role: 'assistant', content: placeholder(part) }]
  if (part.type === 'tool-call') {
    const { id, name, input } = part
    return [
      { type: 'function_call', call_id: id, name: callName(name, 64), arguments: JSON.stringify(input) },
    ]
  }
  return part.type === 'opaque' && opaque && isOwnItem(part)
    ? [copyOf(part.value) as OpenAIResponsesItem]
    : []
}

/** Nothing else that a log may hold goes back as an item: its type would say what it is. */
function isOwnItem({ provider, value }: OpaquePart): boolean {
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined
  return provider === 'openai' && (type === 'reasoning' || type === 'compaction')
}

/** The API refuses reasoning that nothing follows. */
function withEnd(items: OpenAIResponsesItem[]): OpenAIResponsesItem[] {
  const end = items.findLastIndex((item) => !('type' in item && item.type === 'reasoning'))
  return items.slice(0, end + 1)
}

function partsIn(item: OpenAIResponsesItem): Marked['parts'] {
  if ('role' in item) return item.role === 'assistant' ? [] : item.content
  return item.type === 'function_call_output' ? item.output : []
}
