import { eventsIn } from '../../client/events.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Model, ModelEvent, ModelRequest } from '../../ports/model.ts'
import { toOpenAI } from '../../render/openai.ts'
import { type OpenAIInputToolCall, parseOpenAIReply } from '../../render/openai-input.ts'
import { followed } from './followed-signal.ts'

/**
 * A server that speaks OpenAI's Chat Completions. For developers: any user of the page can read
 * the key.
 */
export interface Endpoint {
  /** Of the API, without `/chat/completions`. */
  readonly url: string
  /** Kept in memory alone; in no error. Empty: none is sent. */
  readonly key: string
  /** What the server calls the model. */
  readonly model: string
}

/** A piece of a completion, as much of it as is read here. */
interface Chunk {
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null
      readonly tool_calls?: readonly {
        readonly index: number
        readonly id?: string
        readonly function?: { readonly name?: string; readonly arguments?: string }
      }[]
    }
    readonly finish_reason?: string | null
  }[]
}

type Post = (url: string, init: RequestInit) => Promise<Response>

/** A model behind such a server. Rejects with ERR_MODEL, which names the status and no more. */
export function endpointModel(endpoint: Endpoint, post: Post): Model {
  return { id: endpoint.model, complete: (request) => complete(request, endpoint, post) }
}

async function* complete(
  { context, signal }: ModelRequest,
  { url, key, model }: Endpoint,
  post: Post,
): AsyncGenerator<ModelEvent> {
  const own = followed(signal)
  let text = ''
  const calls: { id: string; name: string; arguments: string }[] = []
  let reason: string | undefined
  try {
    const response = await reached(
      post(`${url.replace(/\/+$/, '')}/chat/completions`, {
        method: 'POST',
        // One that is followed takes the key elsewhere.
        redirect: 'error',
        headers: {
          'content-type': 'application/json',
          ...(key !== '' && { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify({ model, stream: true, ...toOpenAI(context) }),
        signal: own.signal,
      }),
      signal,
    )
    if (!response.ok || !response.body) throw failed(`answered with status ${response.status}`)
    for await (const data of eventsIn(response.body, own.signal)) {
      if (data === '[DONE]') break
      const { delta, finish_reason } = chunkIn(data).choices?.[0] ?? {}
      reason = finish_reason ?? reason
      if (delta?.content) {
        text += delta.content
        yield { type: 'text', text: delta.content }
      }
      for (const piece of delta?.tool_calls ?? []) {
        const call = calls[piece.index] ?? { id: '', name: '', arguments: '' }
        calls[piece.index] = {
          id: piece.id ?? call.id,
          name: call.name + (piece.function?.name ?? ''),
          arguments: call.arguments + (piece.function?.arguments ?? ''),
        }
      }
    }
    own.signal.throwIfAborted()
  } finally {
    own.end()
  }
  if (reason === undefined && text === '' && calls.length === 0) throw failed('ended without a reply')
  const tool_calls = calls.map(
    ({ id, ...given }): OpenAIInputToolCall => ({ id, type: 'function', function: given }),
  )
  const message = { role: 'assistant', content: text, ...(tool_calls.length > 0 && { tool_calls }) }
  yield {
    type: 'finish',
    message: parseOpenAIReply({ choices: [{ message }] }),
    reason: tool_calls.length > 0 ? 'tool-calls' : reason === 'length' ? 'length' : 'stop',
  }
}

async function reached(asked: Promise<Response>, signal: ModelRequest['signal']): Promise<Response> {
  try {
    return await asked
  } catch {
    if (signal?.aborted) throw signal.reason
    // What the platform says may hold the address, and what stands in it.
    throw failed('was not reached')
  }
}

function chunkIn(data: string): Chunk {
  try {
    return JSON.parse(data)
  } catch {
    throw failed('sent a piece that is not JSON')
  }
}

function failed(what: string): PlimsollError {
  return new PlimsollError('ERR_MODEL', `endpoint: the model ${what}`)
}
