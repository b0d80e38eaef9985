import type { LanguageModel } from 'ai'
import type { Model, ModelEvent, ModelRequest } from '../../ports/model.ts'
import { checkMethod } from '../../text/check-value.ts'
import { checkOptions, invalid } from '../../text/json.ts'
import { type AISDKModelOptions, currentModel } from './current-model.ts'
import { currentOf } from './older.ts'
import { isOlder } from './peer.ts'

/**
 * A model of the AI SDK, of any provider, as a {@link Model}. Calls `doStream` itself: no retries,
 * no tools run, no files downloaded. Signatures and ids of items come back with the message and go
 * out with the next request. An `error` in the stream, a finish with reason `error` and a stream
 * without a finish reject; so does `signal`, with its reason, whatever the provider does.
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
  checkMethod('aiSdkModel', 'languageModel', languageModel, 'doStream')
  checkOptions('aiSdkModel', 'options', options, ['id', 'cache', 'providerOptions', 'headers'])
  if (languageModel.specificationVersion === 'v4') return currentModel(languageModel, options)
  const { id = `${languageModel.provider}/${languageModel.modelId}` } = options
  return { id, complete: (request) => completeOlder(languageModel, { ...options, id }, request) }
}

/**
 * Wrapping with nothing brings models of older provider specifications to the current one, where
 * `ai` is 7; no other model needs `ai` itself.
 */
async function* completeOlder(
  model: Exclude<LanguageModel, string>,
  options: AISDKModelOptions,
  request: ModelRequest,
): AsyncGenerator<ModelEvent> {
  const ai = await import('ai')
  const current = isOlder(ai) ? currentOf(model) : ai.wrapLanguageModel({ model, middleware: [] })
  yield* currentModel(current, options).complete(request)
}
