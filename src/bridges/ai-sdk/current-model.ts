import type { AbortSignalLike } from '../../ports/host.ts'
import type { ToolSpec } from '../../ports/message.ts'
import type { Model, ModelEvent, ModelRequest, ModelSettings } from '../../ports/model.ts'
import { isAnthropic } from './cache.ts'
import { given } from './opaque.ts'
import { promptOf } from './prompt.ts'
import { inputOf, ReplyBuilder, reasonOf, usageOf } from './reply.ts'
import { toAISDK } from './to-ai-sdk.ts'
import type { CallOptions, FunctionTool, LanguageModelV4, ProviderOptions, StreamPart } from './types.ts'

export interface AISDKModelOptions {
  /**
   * Names the model in events and summaries. Default: provider and model id, for example
   * `anthropic.messages/claude-sonnet-4`.
   */
  readonly id?: string
  /**
   * Whether to set Anthropic's cache breakpoints, at most four. Default: for its models, behind any
   * provider.
   */
  readonly cache?: boolean
  /** Passed to every call, for example `{ openai: { reasoningEffort: 'low' } }`. */
  readonly providerOptions?: ProviderOptions
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * `aiSdkModel` for models of the provider specification that this version of the SDK speaks. It
 * does without `ai` itself, which a bundler would put whole into a worker.
 */
export function currentModel(languageModel: LanguageModelV4, options: AISDKModelOptions = {}): Model {
  const { id = `${languageModel.provider}/${languageModel.modelId}` } = options
  return { id, complete: (request) => complete(languageModel, id, options, request) }
}

async function* complete(
  languageModel: LanguageModelV4,
  id: string,
  { cache = isAnthropic(languageModel), providerOptions, headers }: AISDKModelOptions,
  { context, tools = context.tools, settings = {}, signal }: ModelRequest,
): AsyncGenerator<ModelEvent> {
  const { abort, aborted, release } = bridge(signal)
  const call: CallOptions = {
    prompt: promptOf(toAISDK(context, { cache })),
    ...(tools?.length && { tools: tools.map(functionTool) }),
    ...callSettings(settings),
    ...given({ providerOptions, headers }),
    abortSignal: abort.signal,
  }
  let reader: ReadableStreamDefaultReader<StreamPart> | undefined
  try {
    const { stream } = await Promise.race([languageModel.doStream(call), aborted])
    reader = stream.getReader()
    const reply = new ReplyBuilder()
    for (;;) {
      const { done, value: part } = await Promise.race([reader.read(), aborted])
      if (done) throw new Error(`aiSdkModel: the stream of ${id} ended without a finish`)
      reply.add(part)
      if (part.type === 'text-delta' && part.delta !== '') yield { type: 'text', text: part.delta }
      if (part.type === 'reasoning-delta' && part.delta !== '') yield { type: 'reasoning', text: part.delta }
      if (part.type === 'tool-call' && !part.providerExecuted) {
        const { toolCallId, toolName: name, input } = part
        yield { type: 'tool-call', call: { type: 'tool-call', id: toolCallId, name, input: inputOf(input) } }
      }
      if (part.type === 'error') throw part.error
      if (part.type !== 'finish') continue
      const { unified, raw } = part.finishReason
      if (unified === 'error')
        throw new Error(`aiSdkModel: ${id} ended with an error${raw ? `: ${raw}` : ''}`)
      yield {
        type: 'finish',
        message: reply.message(),
        usage: usageOf(part.usage),
        reason: reasonOf(unified),
      }
      return
    }
  } finally {
    release()
    // A reader that stops wants no more of it.
    abort.abort()
    reader?.cancel().catch(() => {})
  }
}

/** A signal for the provider, and a promise that rejects when the caller's aborts. */
function bridge(signal: AbortSignalLike | undefined): {
  readonly abort: AbortController
  readonly aborted: Promise<never>
  readonly release: () => void
} {
  const abort = new AbortController()
  let release = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    if (!signal) return
    const stop = (): void => {
      abort.abort(signal.reason)
      reject(signal.reason)
    }
    signal.addEventListener('abort', stop)
    release = () => signal.removeEventListener('abort', stop)
    if (signal.aborted) stop()
  })
  aborted.catch(() => {})
  return { abort, aborted, release: () => release() }
}

function functionTool({ name, description, inputSchema }: ToolSpec): FunctionTool {
  return {
    type: 'function',
    name,
    ...given({ description }),
    inputSchema: inputSchema as FunctionTool['inputSchema'],
  }
}

function callSettings({ toolChoice, stopSequences, ...numbers }: ModelSettings): Partial<CallOptions> {
  return {
    ...numbers,
    ...(stopSequences && { stopSequences: [...stopSequences] }),
    ...(toolChoice !== undefined && {
      toolChoice:
        typeof toolChoice === 'string'
          ? { type: toolChoice }
          : { type: 'tool' as const, toolName: toolChoice.name },
    }),
  }
}
