import type { Context } from './context.ts'
import type { AbortSignalLike } from './host.ts'
import type { MessageInput, ToolCallPart, ToolSpec } from './message.ts'

/**
 * A language model. It is given the built context rather than a rendered request, so that an
 * adapter renders it in its provider's shape and places cache marks.
 */
export interface Model {
  /**
   * Names the model in events, and in the summaries that it writes, for example
   * `anthropic/claude-sonnet-4`.
   */
  readonly id: string
  /**
   * Contract: yields what comes as it comes, and last one `finish` with the whole reply. Rejects
   * when the call fails or `signal` aborts it. Keeps no state between calls.
   */
  complete(request: ModelRequest): AsyncIterable<ModelEvent>
}

export interface ModelRequest {
  readonly context: Context
  /** Tools that the model may call. Default: those of the context. */
  readonly tools?: readonly ToolSpec[]
  readonly settings?: ModelSettings
  readonly signal?: AbortSignalLike
}

/** What providers agree on; what is absent is the provider's default. */
export interface ModelSettings {
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly seed?: number
  readonly stopSequences?: readonly string[]
  /** Default `auto`. */
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string }
}

export type ModelEvent =
  /** A further piece of the reply's text. */
  | { readonly type: 'text'; readonly text: string }
  /** A further piece of the model's reasoning. */
  | { readonly type: 'reasoning'; readonly text: string }
  /** A call, once it is whole. */
  | { readonly type: 'tool-call'; readonly call: ToolCallPart }
  /** The whole reply: an assistant message with all of the above in it. */
  | {
      readonly type: 'finish'
      readonly message: MessageInput
      readonly usage?: Usage
      readonly reason: FinishReason
    }

export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'other'

/** What a provider reported, in tokens of its own; what it did not say is absent. */
export interface Usage {
  /** All of the input, what came from the cache included. */
  readonly inputTokens?: number
  /** Of these, read from the provider's prompt cache. */
  readonly cachedInputTokens?: number
  /** Of these, written to it. */
  readonly cacheWriteTokens?: number
  /** All of the output, reasoning included. */
  readonly outputTokens?: number
}
