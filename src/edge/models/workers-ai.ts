import { currentModel } from '../../bridges/ai-sdk/current-model.ts'
import type { Model } from '../../ports/model.ts'
import { needPeer } from '../../ports/peer.ts'
import { checkSettings } from '../check-settings.ts'
import { STEADY_OPTIONS, type SteadyOptions, steadyModel } from './steady-model.ts'

export interface WorkersAIOptions extends SteadyOptions {
  /** The binding `[ai]` of the worker. */
  readonly binding: Ai
  /** For example `@cf/meta/llama-3.3-70b-instruct-fp8-fast`. It is the {@link Model}'s id too. */
  readonly modelId: string
}

/**
 * A model of Cloudflare's Workers AI, by binding: no key. The provider is loaded with the first
 * call, so that a worker without the binding does not start it. Fails as {@link steadyModel} says,
 * and with ERR_NOT_CONFIGURED where that provider is older than 4.
 */
export function workersAIModel(options: WorkersAIOptions): Model {
  checkSettings('workersAIModel', options, ['binding', 'modelId', ...STEADY_OPTIONS])
  const { binding, modelId, ...steady } = options
  let loaded: Promise<Model> | undefined
  const load = async (): Promise<Model> => {
    const { createWorkersAI } = await import('workers-ai-provider')
    const model = createWorkersAI({ binding })(modelId)
    needPeer('plimsoll/models', '`workers-ai-provider` 4', model.specificationVersion >= 'v4')
    return currentModel(model, { id: modelId })
  }
  return steadyModel(
    {
      id: modelId,
      async *complete(request) {
        loaded ??= load()
        yield* (await loaded).complete(request)
      },
    },
    steady,
  )
}
