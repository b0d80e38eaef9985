import { textOf } from '../../kernel/log/message.ts'
import type { MessageInput, ToolCallPart } from '../../ports/message.ts'
import {
  type ChatCompletionChunk,
  type ChatDelta,
  type ChatFinishReason,
  type ChatUsage,
  chunkOf,
  type ReplyHead,
  toolCallOf,
  usageChunk,
} from './completion.ts'
import { Relay } from './relay.ts'

/** A reply as chunks, in the order in which clients expect them: the role, what is said, the calls, the reason, the usage. */
export class ReplyStream implements AsyncIterable<ChatCompletionChunk> {
  readonly #chunks = new Relay<ChatCompletionChunk>()
  readonly #head: ReplyHead
  readonly #includesUsage: boolean
  #hasBegun = false
  #hasText = false
  #calls = 0

  constructor(head: ReplyHead, includesUsage: boolean) {
    this.#head = head
    this.#includesUsage = includesUsage
  }

  /** Only the first time. */
  begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#push({ role: 'assistant', content: '' })
  }

  text(content: string): void {
    this.begin()
    this.#hasText = true
    this.#push({ content })
  }

  call(call: ToolCallPart): void {
    this.begin()
    this.#push({ tool_calls: [{ index: this.#calls++, ...toolCallOf(call) }] })
  }

  /** Sends what did not come piece by piece, and the end. */
  finish(message: Pick<MessageInput, 'content'>, finish: ChatFinishReason, usage: ChatUsage): void {
    this.begin()
    const text = textOf(message)
    if (!this.#hasText && text !== '') this.text(text)
    const parts = typeof message.content === 'string' ? [] : message.content
    const calls = parts.filter((part) => part.type === 'tool-call')
    for (const call of calls.slice(this.#calls)) this.call(call)
    this.#push({}, finish)
    if (this.#includesUsage) this.#chunks.push(usageChunk(this.#head, usage))
    this.#chunks.end()
  }

  fail(error: unknown): void {
    this.#chunks.end({ error })
  }

  [Symbol.asyncIterator](): AsyncIterator<ChatCompletionChunk> {
    return this.#chunks[Symbol.asyncIterator]()
  }

  #push(delta: ChatDelta, finish: ChatFinishReason | null = null): void {
    const chunk = chunkOf(this.#head, delta, finish)
    this.#chunks.push(this.#includesUsage ? { ...chunk, usage: null } : chunk)
  }
}
