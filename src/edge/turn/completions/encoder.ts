import { textOf } from '../../../kernel/log/message.ts'
import type { MessageInput } from '../../../ports/message.ts'
import { type Encoder, SSE_DONE, sse, type TurnEvent } from '../protocol.ts'
import {
  type ChatFinishReason,
  type ChatToolCall,
  type ChatUsage,
  finishOf,
  toolCallOf,
  toolCallsOf,
  usageOf,
} from './completion.ts'
import { chatErrorOf } from './error.ts'
import type { CompletionRequest } from './request.ts'

/**
 * Headers of a stream of chunks. `no-transform`: a proxy that compresses holds back what is short.
 */
export const EVENT_STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
} as const

/** What all chunks of a reply, and the reply, have in common. */
export interface ReplyHead {
  /** Id of the message as which it is stored. */
  readonly messageId: string
  /** Unix milliseconds. */
  readonly createdAt: number
  readonly model: string
}

/** A piece of a reply. */
interface Delta {
  readonly role?: 'assistant'
  readonly content?: string
  readonly tool_calls?: readonly (ChatToolCall & { readonly index: number })[]
}

/**
 * Writes a turn as OpenAI's Chat Completions: one JSON text, or chunks as server-sent events, in
 * the order in which clients expect them: the role, what is said, the calls, the reason, the usage.
 * A stream that fails ends with an event that holds an error in OpenAI's shape and without
 * `[DONE]`; the official clients throw it.
 */
export class CompletionEncoder implements Encoder {
  readonly #head: { readonly id: string; readonly created: number; readonly model: string }
  readonly #isStream: boolean
  readonly #includesUsage: boolean
  #hasBegun = false
  #hasText = false
  #calls = 0

  constructor(
    { messageId, createdAt, model }: ReplyHead,
    { isStream, includesUsage }: Pick<CompletionRequest, 'isStream' | 'includesUsage'>,
  ) {
    this.#head = { id: `chatcmpl-${messageId}`, created: Math.floor(createdAt / 1000), model }
    this.#isStream = isStream
    this.#includesUsage = includesUsage
  }

  next(event: TurnEvent): string {
    if (event.type === 'reply') {
      const { message, reason, usage, predicted } = event
      return this.whole(message, finishOf(reason, message), usageOf(usage, predicted, message))
    }
    if (!this.#isStream) return ''
    switch (event.type) {
      case 'reasoning':
        return this.#begin()
      case 'text':
        return this.#text(event.text)
      case 'tool-call': {
        const { callId: id, name, input } = event.call
        return this.#call(toolCallOf({ id, name, input }))
      }
      case 'error':
        return sse(JSON.stringify(chatErrorOf(event.error).body))
      default:
        return ''
    }
  }

  /** What did not come piece by piece, and the end. */
  whole(message: Pick<MessageInput, 'content'>, finish: ChatFinishReason, usage: ChatUsage): string {
    const text = textOf(message)
    if (!this.#isStream) {
      const tool_calls = toolCallsOf(message)
      const has = tool_calls.length > 0
      const content = text === '' && has ? null : text
      const said = { role: 'assistant', content, refusal: null, ...(has && { tool_calls }) }
      return JSON.stringify({
        ...this.#head,
        object: 'chat.completion',
        choices: [{ index: 0, message: said, logprobs: null, finish_reason: finish }],
        usage,
      })
    }
    const calls = toolCallsOf(message).slice(this.#calls)
    return [
      this.#begin(),
      this.#hasText || text === '' ? '' : this.#text(text),
      ...calls.map((call) => this.#call(call)),
      this.#piece({}, finish),
      this.#includesUsage ? this.#chunk([], usage) : '',
      SSE_DONE,
    ].join('')
  }

  /** Only the first time. */
  #begin(): string {
    if (this.#hasBegun) return ''
    this.#hasBegun = true
    return this.#piece({ role: 'assistant', content: '' })
  }

  #text(content: string): string {
    this.#hasText = true
    return this.#begin() + this.#piece({ content })
  }

  #call(call: ChatToolCall): string {
    return this.#begin() + this.#piece({ tool_calls: [{ index: this.#calls++, ...call }] })
  }

  #piece(delta: Delta, finish_reason: ChatFinishReason | null = null): string {
    return this.#chunk([{ index: 0, delta, logprobs: null, finish_reason }], null)
  }

  /** Where usage was asked for, each chunk has the field. */
  #chunk(choices: readonly object[], usage: ChatUsage | null): string {
    const chunk = { ...this.#head, object: 'chat.completion.chunk', choices }
    return sse(JSON.stringify(this.#includesUsage ? { ...chunk, usage } : chunk))
  }
}
