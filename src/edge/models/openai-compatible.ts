import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { currentModel } from '../../bridges/ai-sdk/current-model.ts'
import type { Model } from '../../ports/model.ts'
import { needPeer } from '../../ports/peer.ts'
import { checkSettings } from '../check-settings.ts'
import { NotReached } from './model-failure.ts'
import { STEADY_OPTIONS, type SteadyOptions, steadyModel } from './steady-model.ts'

export interface OpenAICompatibleOptions extends SteadyOptions {
  /** Of the API, without `/chat/completions`, for example `https://api.openai.com/v1`. */
  readonly baseUrl: string
  /** Sent as bearer token. Default: none, for servers of one's own. */
  readonly apiKey?: string
  /** What the server calls the model. It is the {@link Model}'s id too. */
  readonly modelId: string
  /** Default: the platform's. */
  readonly fetch?: typeof fetch
}

/**
 * A model behind any server that speaks OpenAI's Chat Completions: OpenAI, OpenRouter, Groq, vLLM,
 * Ollama, llama.cpp and others. Streams, and asks for usage. Fails as {@link steadyModel} says.
 *
 * @throws ERR_NOT_CONFIGURED: an `@ai-sdk/openai-compatible` before 3
 */
export function openAICompatibleModel(options: OpenAICompatibleOptions): Model {
  const own = ['baseUrl', 'apiKey', 'modelId', 'fetch']
  checkSettings('openAICompatibleModel', options, [...own, ...STEADY_OPTIONS])
  const {
    baseUrl,
    apiKey,
    modelId,
    fetch: request = (input, init) => fetch(input, init),
    ...steady
  } = options
  const shared = sharedModel(baseUrl, apiKey, modelId)
  const model: typeof shared = Object.create(shared, {
    doStream: {
      value: (options: Parameters<typeof shared.doStream>[0]) => {
        if (options.abortSignal) fetches.set(options.abortSignal, request)
        return shared.doStream(options)
      },
    },
  })
  return steadyModel(currentModel(model, { id: modelId }), steady)
}

type SharedModel = ReturnType<ReturnType<typeof createOpenAICompatible>['chatModel']>

/** Models of the SDK, by server, key and name: to make one takes a millisecond of each chat. */
const models = new Map<string, SharedModel>()
const MOST_MODELS = 16
/** Who makes the requests of a call, by the signal that ends it. */
const fetches = new WeakMap<object, typeof fetch>()

/** One that fetches by what {@link fetches} says. @throws ERR_NOT_CONFIGURED */
function sharedModel(baseUrl: string, apiKey: string | undefined, modelId: string): SharedModel {
  const name = JSON.stringify([baseUrl, apiKey ?? null, modelId])
  const known = models.get(name)
  if (known) return known
  const provider = createOpenAICompatible({
    name: 'openai-compatible',
    baseURL: baseUrl,
    ...(apiKey !== undefined && { apiKey }),
    includeUsage: true,
    fetch: reaching((input, init) => fetchOf(init)(input, init)),
    ...(isOpenAI(baseUrl) && { transformRequestBody: withMaxCompletionTokens }),
  })
  const model = provider.chatModel(modelId)
  needPeer('plimsoll/models', '`@ai-sdk/openai-compatible` 3', model.specificationVersion >= 'v4')
  if (models.size >= MOST_MODELS) models.clear()
  models.set(name, model)
  return model
}

function fetchOf({ signal }: RequestInit = {}): typeof fetch {
  return (signal && fetches.get(signal)) || fetch
}

/**
 * Says of a request that failed without an answer that it did: platforms have different errors for
 * that. Redirects are not followed, for the key would go with them.
 */
function reaching(request: typeof fetch): typeof fetch {
  return async (input: RequestInfo | URL, init?: RequestInit) => {
    try {
      return await request(input, { ...init, redirect: 'manual' })
    } catch (cause) {
      throw new NotReached('fetch failed', { cause })
    }
  }
}

function isOpenAI(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && new URL(baseUrl).hostname === 'api.openai.com'
}

/** OpenAI's newer models refuse `max_tokens`; other servers know only that. */
function withMaxCompletionTokens<Body extends { readonly [name: string]: unknown }>({
  max_tokens,
  ...body
}: Body): { [name: string]: unknown } {
  return max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens }
}
