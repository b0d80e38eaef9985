/**
 * A server that speaks Anthropic's Messages API over real HTTP, streams, and refuses what Anthropic
 * refuses.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type Anthropic from '@anthropic-ai/sdk'
import { lintRequest } from '../../../src/index.ts'
import { type Served, serve, textOf } from './served.ts'

export type AnthropicRequest = Anthropic.MessageCreateParams

export interface FakeAnthropic extends Served {
  readonly requests: AnthropicRequest[]
  /** Why requests were refused. */
  readonly refusals: string[]
}

type Block = Anthropic.ContentBlockParam
/** What a reply is made of. */
export type ReplyBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown }

export interface FakeAnthropicOptions {
  readonly apiKey?: string
  readonly reply?: (request: AnthropicRequest, count: number) => readonly ReplyBlock[]
}

/** What the SDKs before and from version 1 on send. */
const VERSIONS: ReadonlySet<string> = new Set(['2023-06-01', '2026-10-21'])

export async function fakeAnthropic({
  apiKey = 'none',
  reply = (_, count) => [{ type: 'text', text: `Reply ${count}.` }],
}: FakeAnthropicOptions = {}): Promise<FakeAnthropic> {
  const requests: AnthropicRequest[] = []
  const refusals: string[] = []
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = JSON.parse(await textOf(incoming)) as AnthropicRequest
    requests.push(request)
    const problem = doorProblem(incoming, apiKey) ?? anthropicProblem(request)
    if (problem !== undefined) {
      refusals.push(problem)
      response.writeHead(400, { 'Content-Type': 'application/json' })
      response.end(
        JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: problem } }),
      )
      return
    }
    const blocks = reply(request, requests.length)
    const message = messageOf(request, blocks)
    if (!request.stream) {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(message))
      return
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    for (const event of eventsOf(message, blocks))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  }
  const served = await serve((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy())
  })
  return { ...served, requests, refusals }
}

function doorProblem({ method, url, headers }: IncomingMessage, apiKey: string): string | undefined {
  if (method !== 'POST' || url !== '/v1/messages') return `no such door: ${method} ${url}`
  // The SDK sends a key as bearer token from version 1 on.
  if (headers['x-api-key'] !== apiKey && headers.authorization !== `Bearer ${apiKey}`)
    return 'the key is invalid'
  if (!VERSIONS.has(String(headers['anthropic-version']))) return 'anthropic-version: invalid'
  return undefined
}

/** The first thing that Anthropic would refuse. */
export function anthropicProblem(request: AnthropicRequest): string | undefined {
  const { model, max_tokens, system, tools = [] } = request
  const messages = turnsOf(request.messages)
  if (typeof model !== 'string' || model === '') return 'model: Field required'
  if (!Number.isInteger(max_tokens) || max_tokens < 1)
    return 'max_tokens: must be a whole number of 1 or more'
  if (messages.length === 0) return 'messages: at least one message is required'
  // What API version 2026-10-21 removed.
  for (const name of ['temperature', 'top_p', 'top_k'])
    if (name in request) return `${name}: Extra inputs are not permitted`
  const marks = JSON.stringify(request).split('"cache_control":').length - 1
  if (marks > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`
  for (const block of Array.isArray(system) ? system : [])
    if (block.type !== 'text' || block.text.trim() === '')
      return 'system: text content blocks must be non-empty'
  for (const tool of tools)
    if (!('input_schema' in tool) || tool.input_schema.type !== 'object') return 'tools: no schema'
  for (const [index, message] of messages.entries()) {
    const problem = messageProblem(message, messages[index - 1], messages[index + 1])
    if (problem !== undefined) return `messages.${index}: ${problem}`
  }
  if (messages.at(-1)?.role === 'assistant') return 'This model does not support assistant message prefill.'
  const [first] = lintRequest(request as never, 'anthropic')
  return first && `${first.rule} at ${first.path}: ${first.message}`
}

/** Messages of one role in a row are one turn: so the Messages API reads them. */
function turnsOf(messages: readonly Anthropic.MessageParam[] = []): readonly Anthropic.MessageParam[] {
  const turns: { role: 'user' | 'assistant'; content: Block[] }[] = []
  for (const { role, content } of messages as readonly {
    role: 'user' | 'assistant'
    content: string | Block[]
  }[]) {
    // An empty one is refused as it is.
    if (content.length === 0) return [{ role, content: [] }]
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...blocksOf(content))
    else turns.push({ role, content: [...blocksOf(content)] })
  }
  return turns
}

function messageProblem(
  { role, content }: Anthropic.MessageParam,
  before: Anthropic.MessageParam | undefined,
  after: Anthropic.MessageParam | undefined,
): string | undefined {
  if (role !== 'user' && role !== 'assistant') return `unexpected role ${String(role)}`
  if (!before && role !== 'user') return 'the first message must use the "user" role'
  if (content.length === 0) return 'all messages must have non-empty content'
  const blocks = blocksOf(content)
  for (const block of blocks) {
    if (block.type === 'text' && block.text.trim() === '')
      return 'text content blocks must contain non-whitespace text'
    if (block.type === 'thinking' && !block.signature) return 'thinking: signature: Field required'
    if (block.type === 'document' && role === 'assistant')
      return '`document` blocks are not permitted in `assistant` messages'
    if (block.type === 'text' && role === 'user' && block.citations?.length)
      return '`citations` are not permitted in `user` messages'
    if (block.type === 'tool_use' && role !== 'assistant')
      return '`tool_use` blocks can only be in `assistant` messages'
    if (block.type === 'tool_result' && role !== 'user')
      return '`tool_result` blocks can only be in `user` messages'
  }
  const used = idsOf(blocks, 'tool_use')
  if (new Set(used).size !== used.length) return '`tool_use` ids must be unique'
  const answered = idsOf(after ? blocksOf(after.content) : [], 'tool_result')
  if (used.length > 0 && used.some((id) => !answered.includes(id)))
    return '`tool_use` ids were found without `tool_result` blocks immediately after'
  const results = idsOf(blocks, 'tool_result')
  if (new Set(results).size !== results.length) return 'each tool_use must have a single result'
  const asked = idsOf(before ? blocksOf(before.content) : [], 'tool_use')
  if (results.some((id) => !asked.includes(id)))
    return 'unexpected `tool_use_id` found in `tool_result` blocks'
  if (blocks.slice(0, results.length).some(({ type }) => type !== 'tool_result'))
    return '`tool_result` blocks must come first'
  return undefined
}

function blocksOf(content: string | readonly Block[]): readonly Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function idsOf(blocks: readonly Block[], type: 'tool_use' | 'tool_result'): readonly string[] {
  return blocks.flatMap((block) => {
    if (block.type !== type) return []
    return block.type === 'tool_use' ? block.id : (block as Anthropic.ToolResultBlockParam).tool_use_id
  })
}

function messageOf({ model }: AnthropicRequest, content: readonly ReplyBlock[]) {
  return {
    id: 'msg_fake',
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: 20,
      cache_read_input_tokens: 90,
      cache_creation_input_tokens: 10,
      output_tokens: 7,
    },
  }
}

/** Each block begins empty and comes in two pieces, with its signature last. */
function eventsOf(
  message: ReturnType<typeof messageOf>,
  blocks: readonly ReplyBlock[],
): readonly { readonly type: string; readonly [field: string]: unknown }[] {
  const { stop_reason, usage } = message
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    { type: 'ping' },
    ...blocks.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: emptyOf(block) },
      ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

function emptyOf(block: ReplyBlock): object {
  if (block.type === 'text') return { ...block, text: '' }
  return block.type === 'thinking' ? { ...block, thinking: '', signature: '' } : { ...block, input: {} }
}

function deltasOf(block: ReplyBlock): readonly object[] {
  switch (block.type) {
    case 'text':
      return halves(block.text).map((text) => ({ type: 'text_delta', text }))
    case 'thinking':
      return [
        ...halves(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block.signature },
      ]
    case 'tool_use':
      return halves(JSON.stringify(block.input)).map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      }))
  }
}

function halves(text: string): readonly string[] {
  const middle = Math.floor(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}
