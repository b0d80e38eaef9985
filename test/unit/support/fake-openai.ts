/**
 * A server that speaks OpenAI's Chat Completions over real HTTP, refuses what OpenAI refuses, and
 * fails on demand.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type OpenAI from 'openai'
import { lintRequest } from '../../../src/index.ts'
import { type Served, serve, textOf } from './served.ts'

export type FakeMode =
  /** Answers. */
  | 'well'
  /** Answers, with a pause of `pauseMs` before each piece. */
  | 'slow'
  /** Resets the connection in the middle of the reply. */
  | 'broken'
  /** Ends the stream in the middle of the reply, as if it were whole. */
  | 'cut'
  /** Sends an error inside of the stream. */
  | 'error-event'
  /** Resets the connection before an answer. */
  | 'reset'
  /** Never answers. */
  | 'hangs'
  /** Begins, and says nothing more. */
  | 'stalls'
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown }

export interface FakeReply {
  readonly text?: string
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: unknown }[]
  readonly finish?: string
}

export type FakeRequest = OpenAI.Chat.ChatCompletionCreateParams

export interface FakeOpenAI extends Served {
  /** What it was asked, refused requests included. */
  readonly requests: FakeRequest[]
  readonly headers: IncomingMessage['headers'][]
  /** Why requests were refused. */
  readonly refusals: string[]
  /** How the next requests are answered, one each; after them `well`. */
  readonly modes: FakeMode[]
  /** Connections that the client left before their end. */
  readonly left: () => number
}

export interface FakeOpenAIOptions {
  readonly apiKey?: string
  readonly pauseMs?: number
  readonly reply?: (request: FakeRequest, count: number) => FakeReply | Promise<FakeReply>
}

const FIELDS = new Set([
  ...[
    'model',
    'messages',
    'tools',
    'tool_choice',
    'temperature',
    'top_p',
    'max_tokens',
    'stop',
    'seed',
    'stream',
  ],
  ...['stream_options', 'user', 'frequency_penalty', 'presence_penalty', 'response_format'],
])

export const FAKE_USAGE = {
  prompt_tokens: 120,
  completion_tokens: 7,
  total_tokens: 127,
  prompt_tokens_details: { cached_tokens: 100 },
}

export async function fakeOpenAI({
  apiKey,
  pauseMs = 20,
  reply = (_, count) => ({ text: `Reply ${count}.` }),
}: FakeOpenAIOptions = {}): Promise<FakeOpenAI> {
  const requests: FakeRequest[] = []
  const headers: IncomingMessage['headers'][] = []
  const refusals: string[] = []
  const modes: FakeMode[] = []
  let left = 0
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await textOf(incoming)
    const request = JSON.parse(text) as FakeRequest
    requests.push(request)
    headers.push(incoming.headers)
    response.on('close', () => {
      if (!response.writableFinished) left++
    })
    if (apiKey !== undefined && incoming.headers.authorization !== `Bearer ${apiKey}`)
      return refuse(
        response,
        401,
        `Incorrect API key provided: ${incoming.headers.authorization}`,
        'invalid_api_key',
      )
    const problem = problemOf(incoming, request)
    if (problem !== undefined) {
      refusals.push(problem)
      return refuse(response, 400, problem, 'invalid_value')
    }
    const mode = modes.shift() ?? 'well'
    if (typeof mode === 'object') {
      response.writeHead(mode.status, { 'Content-Type': 'application/json', ...mode.headers })
      // Servers echo what they were sent.
      response.end(JSON.stringify(mode.body ?? { error: { message: `bad: ${text}`, type: 'server_error' } }))
      return
    }
    if (mode === 'reset') return void response.destroy()
    if (mode === 'hangs') return
    const said = await reply(request, requests.length)
    if (!request.stream) {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(completionOf(request, said)))
      return
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    const chunks = chunksOf(request, said)
    for (const [index, chunk] of chunks.entries()) {
      if (mode === 'slow') await sleep(pauseMs)
      if (mode === 'stalls' && index === 2) return
      if (index === 2 && mode === 'broken') return void response.destroy()
      if (index === 2 && mode === 'cut') return void response.end()
      if (index === 2 && mode === 'error-event')
        return void response.end(
          `data: ${JSON.stringify({ error: { message: `overloaded by ${text}`, type: 'overloaded_error' } })}\n\n`,
        )
      await new Promise<void>((written) => {
        response.write(`data: ${JSON.stringify(chunk)}\n\n`, () => written())
      })
    }
    response.end('data: [DONE]\n\n')
  }
  const served = await serve((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy())
  })
  return { ...served, url: `${served.url}/v1`, requests, headers, refusals, modes, left: () => left }
}

function problemOf({ method, url, headers }: IncomingMessage, request: FakeRequest): string | undefined {
  if (method !== 'POST' || url !== '/v1/chat/completions') return `no such door: ${method} ${url}`
  if (!headers['content-type']?.startsWith('application/json')) return 'the body is not said to be JSON'
  const unknown = Object.keys(request).find((field) => !FIELDS.has(field))
  if (unknown !== undefined) return `unknown field ${unknown}`
  if (typeof request.model !== 'string') return 'no model'
  for (const { role, content } of request.messages) {
    if (!['system', 'user', 'assistant', 'tool'].includes(role)) return `unknown role ${role}`
    if (role !== 'assistant' && typeof content !== 'string' && !Array.isArray(content))
      return `no content of ${role}`
  }
  const [first] = lintRequest(request as never, 'openai')
  return first && `${first.rule} at ${first.path}: ${first.message}`
}

function refuse(response: ServerResponse, status: number, message: string, code: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ error: { message, type: 'invalid_request_error', code, param: null } }))
}

function toolCalls(calls: FakeReply['calls'] = []) {
  return calls.map(({ id, name, input }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(input) },
  }))
}

function completionOf(request: FakeRequest, { text, calls, finish }: FakeReply) {
  return {
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    created: 1,
    model: request.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text ?? null,
          ...(calls?.length && { tool_calls: toolCalls(calls) }),
        },
        finish_reason: finish ?? (calls?.length ? 'tool_calls' : 'stop'),
      },
    ],
    usage: FAKE_USAGE,
  }
}

/** Arguments of calls come in two pieces, as they do in life. */
function chunksOf(request: FakeRequest, { text = '', calls, finish }: FakeReply): readonly object[] {
  const head = { id: 'chatcmpl-fake', object: 'chat.completion.chunk', created: 1, model: request.model }
  const chunk = (delta: object, finish_reason: string | null = null): object => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  })
  return [
    chunk({ role: 'assistant', content: '' }),
    ...(text.match(/\s*\S+\s*/g) ?? []).map((content) => chunk({ content })),
    ...toolCalls(calls).flatMap((call, index) => {
      const { name, arguments: input } = call.function
      const middle = Math.floor(input.length / 2)
      return [
        chunk({ tool_calls: [{ index, ...call, function: { name, arguments: input.slice(0, middle) } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: input.slice(middle) } }] }),
      ]
    }),
    chunk({}, finish ?? (calls?.length ? 'tool_calls' : 'stop')),
    ...(request.stream_options?.include_usage ? [{ ...head, choices: [], usage: FAKE_USAGE }] : []),
  ]
}
