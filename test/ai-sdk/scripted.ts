import { MockLanguageModelV4 } from 'ai/test'
import type { CallOptions, ReplyContent, ReplyUsage, StreamPart } from '../../src/bridges/ai-sdk/types.ts'

export const usage: ReplyUsage = {
  inputTokens: { total: 120, noCache: 20, cacheRead: 90, cacheWrite: 10 },
  outputTokens: { total: 30, text: 20, reasoning: 10 },
}

export const said = (text: string, providerMetadata?: ReplyContent['providerMetadata']): ReplyContent => ({
  type: 'text',
  text,
  ...(providerMetadata && { providerMetadata }),
})

export const called = (
  toolCallId: string,
  toolName: string,
  input: unknown,
  more: object = {},
): ReplyContent => ({ type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input), ...more })

/** The stream of a reply; texts and reasoning come in two pieces. */
export function streamOf(content: readonly ReplyContent[]): ReadableStream<StreamPart> {
  const parts: StreamPart[] = [{ type: 'stream-start', warnings: [] }]
  content.forEach((part, index) => {
    const id = `${index}`
    if (part.type !== 'text' && part.type !== 'reasoning') {
      parts.push(part)
      return
    }
    const middle = Math.floor(part.text.length / 2)
    const { providerMetadata } = part
    parts.push(
      { type: `${part.type}-start`, id },
      { type: `${part.type}-delta`, id, delta: part.text.slice(0, middle) },
      { type: `${part.type}-delta`, id, delta: part.text.slice(middle) },
      { type: `${part.type}-end`, id, ...(providerMetadata && { providerMetadata }) },
    )
  })
  parts.push({ type: 'finish', usage, finishReason: reasonOf(content) })
  return streamOfParts(parts)
}

export function streamOfParts(parts: readonly StreamPart[]): ReadableStream<StreamPart> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
}

const reasonOf = (content: readonly ReplyContent[]) => ({
  unified: content.some((part) => part.type === 'tool-call' && !part.providerExecuted)
    ? ('tool-calls' as const)
    : ('stop' as const),
  raw: undefined,
})

/** A model that gives these replies, one a call, streamed or not, and keeps what it was asked. */
export function scripted(
  replies: readonly (readonly ReplyContent[])[] | ((call: number) => readonly ReplyContent[]),
  options: { readonly provider?: string; readonly modelId?: string } = {},
): MockLanguageModelV4 & { readonly requests: CallOptions[] } {
  const requests: CallOptions[] = []
  const next = (request: CallOptions): readonly ReplyContent[] => {
    requests.push(structuredClone({ ...request, abortSignal: undefined }) as unknown as CallOptions)
    const index = requests.length - 1
    return typeof replies === 'function' ? replies(index) : (replies[index] ?? [said('Done.')])
  }
  const model = new MockLanguageModelV4({
    ...options,
    doStream: async (request) => ({ stream: streamOf(next(request)) }),
    doGenerate: async (request) => {
      const content = next(request)
      return { content: [...content], usage, finishReason: reasonOf(content), warnings: [] }
    },
  })
  return Object.assign(model, { requests })
}
