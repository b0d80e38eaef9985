/** What AI SDK 5 and 6 say in another way than 7. */
import type { LanguageModel, ModelMessage } from 'ai'
import { isRecord } from '../../ports/is-record.ts'
import type { AISDKRequest } from './to-ai-sdk.ts'
import type { LanguageModelV4, Prompt, ReplyUsage, StreamPart, StreamResult } from './types.ts'

/** A request as AI SDK 5 and 6 take it. */
export interface OlderRequest {
  /** The system text, in the place of `instructions`; absent where there is none. */
  system?: string
  messages: ModelMessage[]
}

/** A request for any version: with `instructions` for AI SDK 7, with `system` for 5 and 6. */
export interface LoopRequest extends AISDKRequest, OlderRequest {}

export function asOlder({ instructions, messages }: AISDKRequest): OlderRequest {
  const system = instructions?.map(({ content }) => content).join('\n\n')
  return { ...(system !== undefined && { system }), messages: olderMessages(messages) }
}

/** A file that only a provider has is named; parts that came with 7 go. */
function olderMessages<Message extends { readonly content: unknown }>(
  messages: readonly Message[],
): Message[] {
  return messages.map((message) =>
    Array.isArray(message.content) ? { ...message, content: message.content.flatMap(olderPart) } : message,
  )
}

function olderPart(part: { readonly type: string; readonly data?: unknown }): object | readonly object[] {
  if (part.type === 'reasoning-file' || part.type === 'custom') return []
  const { data } = part
  if (part.type !== 'file' || !isRecord(data) || typeof data.type !== 'string') return part
  return data.type === 'reference'
    ? { type: 'text', text: '[file]' }
    : { ...part, data: data.type === 'url' ? data.url : data.data }
}

/**
 * The messages of one step, where its response has those of the steps before it, too: a reply, if
 * the step said anything, and results of its calls.
 */
export function ownMessages(
  content: readonly { readonly type: string; readonly text?: string }[],
  messages: readonly ModelMessage[],
): readonly ModelMessage[] {
  const isSaid = content.some(({ type, text }) => type !== 'source' && !(type === 'text' && text === ''))
  return isSaid ? messages.slice(messages.findLastIndex(({ role }) => role === 'assistant')) : []
}

/** The end of a reply in the second provider specification. */
interface OlderFinish {
  readonly type: 'finish'
  readonly finishReason: string
  readonly usage: {
    readonly inputTokens?: number
    readonly outputTokens?: number
    readonly cachedInputTokens?: number
    readonly reasoningTokens?: number
  }
}

/** A model of the second or third specification, as far as it streams. */
export function currentOf(model: Exclude<LanguageModel, string>): LanguageModelV4 {
  const { provider, modelId, supportedUrls } = model
  const doStream = model.doStream.bind(model) as unknown as LanguageModelV4['doStream']
  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    supportedUrls: supportedUrls as LanguageModelV4['supportedUrls'],
    doGenerate: model.doGenerate.bind(model) as unknown as LanguageModelV4['doGenerate'],
    async doStream({ prompt, ...call }): Promise<StreamResult> {
      const { stream, ...rest } = await doStream({ ...call, prompt: olderMessages(prompt) as Prompt })
      const current = new TransformStream<StreamPart | OlderFinish, StreamPart>({
        transform: (part, controller) => controller.enqueue(currentPart(part)),
      })
      return { ...rest, stream: stream.pipeThrough(current) }
    },
  }
}

function currentPart(part: StreamPart | OlderFinish): StreamPart {
  if (part.type !== 'finish' || typeof part.finishReason !== 'string') return part as StreamPart
  const { finishReason, usage } = part as OlderFinish
  const { inputTokens: total, outputTokens, cachedInputTokens: cacheRead, reasoningTokens: reasoning } = usage
  const counts = { inputTokens: { total, cacheRead }, outputTokens: { total: outputTokens, reasoning } }
  return {
    type: 'finish',
    finishReason: { unified: finishReason, raw: undefined },
    usage: counts as ReplyUsage,
  } as StreamPart
}
