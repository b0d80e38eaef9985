/** Replies as OpenAI's clients read them. */

import { withFinish } from '../../../agent/model-call.ts'
import { defaultCounter } from '../../../counters/default.ts'
import { textOf } from '../../../kernel/log/message.ts'
import type { Json, Message, MessageInput, ToolCallPart } from '../../../ports/message.ts'
import type { FinishReason, Usage } from '../../../ports/model.ts'
import { argumentsOf } from './items.ts'

type Said = Pick<MessageInput, 'content'>

export interface ChatToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

export type ChatFinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

export interface ChatUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details: { readonly cached_tokens: number }
}

export function toolCallOf({ id, name, input }: Pick<ToolCallPart, 'id' | 'name' | 'input'>): ChatToolCall {
  return { id, type: 'function', function: { name, arguments: argumentsOf(input) } }
}

export function toolCallsOf({ content }: Said): readonly ChatToolCall[] {
  if (typeof content === 'string') return []
  return content.flatMap((part) => (part.type === 'tool-call' ? toolCallOf(part) : []))
}

const FINISH: Readonly<Record<FinishReason, ChatFinishReason>> = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  'content-filter': 'content_filter',
  other: 'stop',
}

/** Clients run tools where the reason says so. */
export function finishOf(reason: FinishReason, message: Said): ChatFinishReason {
  const calls = toolCallsOf(message).length > 0
  return calls && (reason === 'stop' || reason === 'other') ? 'tool_calls' : FINISH[reason]
}

/** What the provider reported; where it said nothing, an estimate. */
export function usageOf(
  { inputTokens, outputTokens, cachedInputTokens = 0 }: Usage,
  predicted: number,
  message: Said,
): ChatUsage {
  const prompt_tokens = inputTokens ?? predicted
  const completion_tokens = outputTokens ?? estimate(message)
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
  }
}

/** A reply as it is stored, with why it ended, where its content does not say that. */
export function withItsFinish(message: MessageInput, finish: ChatFinishReason): MessageInput {
  return finish === finishOf('stop', message) ? message : withFinish(message, finish)
}

/** What is known of a reply that was stored. */
export function storedReply({ content, metadata = {} }: Message): {
  readonly finish: ChatFinishReason
  readonly usage: ChatUsage
} {
  const { usage, finishReason: finish } = metadata
  const { reported } = (usage ?? {}) as { readonly reported?: { readonly [name: string]: Json } }
  const { cached, uncached, output } = (reported ?? {}) as { readonly [name: string]: number | undefined }
  return {
    finish: (finish as ChatFinishReason | undefined) ?? finishOf('stop', { content }),
    usage: usageOf(
      {
        inputTokens: (cached ?? 0) + (uncached ?? 0),
        cachedInputTokens: cached ?? 0,
        ...(output !== undefined && { outputTokens: output }),
      },
      0,
      { content },
    ),
  }
}

function estimate(message: Said): number {
  const calls = toolCallsOf(message).map((call) => call.function.name + call.function.arguments)
  return [textOf(message), ...calls].reduce((sum, text) => sum + defaultCounter.count(text), 0)
}
