import type { LanguageModel } from 'ai'
import { invalid } from '../core/json.ts'
import type { AbortSignalLike } from '../ports/host.ts'
import type { ToolSpec } from '../ports/message.ts'
import type { Model, ModelEvent, ModelRequest, ModelSettings } from '../ports/model.ts'
import { isAnthropic } from './cache.ts'
import { given } from './opaque.ts'
import { promptOf } from './prompt.ts'
import { inputOf, ReplyBuilder, reasonOf, usageOf } from './reply.ts'
import { toAISDK } from './to-ai-sdk.ts'
import type { CallOptions, FunctionTool, LanguageModelV4, ProviderOptions, StreamPart } from './types.ts'

export interface AISDKModelOptions {
  /** Names the model in events and summaries. Default: provider and model id, for example `anthropic.messages/claude-sonnet-4`. */
  readonly id?: string
  /** Whether to set Anthropic's cache breakpoints, at most four. Default: for its models, behind any provider. */
  readonly cache?: boolean
  /** Passed to every call, for example `{ openai: { reasoningEffort: 'low' } }`. */
  readonly providerOptions?: ProviderOptions
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * A model of the AI SDK, of any provider, as a {@link Model}. Calls `doStream` itself: no retries, no tools run, no files
 * downloaded. Signatures and ids of items come back with the message and go out with the next request. An `error` in the stream, a
 * finish with reason `error` and a stream without a finish reject; so does `signal`, with its reason, whatever the provider does.
 *
 * @throws ERR_INVALID_ARGUMENT: a string, which only the SDK's gateway could make a model of
 * @example
 * ```ts
 * import { aiSdkModel } from 'plimsoll/ai-sdk'
 *
 * const model = aiSdkModel(anthropic('claude-sonnet-4-5'))
 * for await (const event of model.complete({ context: await session.context() })) {
 *   if (event.type === 'finish') await session.append(event.message)
 * }
 * ```
 */
export function aiSdkModel(languageModel: LanguageModel, options: AISDKModelOptions = {}): Model {
  if (typeof languageModel === 'string')
    throw invalid('aiSdkModel', 'languageModel', 'must be a model object; a string goes through the gateway')
  const { id = `${languageModel.provider}/${languageModel.modelId}` } = options
  return { id, complete: (request) => complete(languageModel, id, options, request) }
}

/** Wrapping with nothing brings models of older provider specifications to the current one; no other model needs `ai` itself. */
async function current(model: Exclude<LanguageModel, string>): Promise<LanguageModelV4> {
  if (model.specificationVersion === 'v4') return model
  const { wrapLanguageModel } = await import('ai')
  return wrapLanguageModel({ model, middleware: [] })
}

async function* complete(
  languageModel: Exclude<LanguageModel, string>,
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
    const model = await current(languageModel)
    const { stream } = await Promise.race([model.doStream(call), aborted])
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
    // Whoever stops reading wants no more of it.
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

export function functionTool({ name, description, inputSchema }: ToolSpec): FunctionTool {
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
