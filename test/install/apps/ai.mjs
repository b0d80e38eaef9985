import { createMemory, mapStore } from 'plimsoll'
import { memoryLoop, memoryMiddleware } from 'plimsoll/ai-sdk'
import { openAICompatibleModel, workersAIModel } from 'plimsoll/models'
import { refused } from './refused.mjs'

const session = createMemory({ store: mapStore(), budget: 4_000 }).session({ userId: 'ada' })
await session.append({ role: 'user', content: 'Hello.' })
const { system, messages, onStepFinish } = await memoryLoop(session)
if (system !== undefined || messages.length !== 1 || !onStepFinish) throw new Error('not the loop of `ai` 6')
await refused('plimsoll/ai-sdk: needs `ai` 7 or later, found an older one', () => memoryMiddleware(session))

const host = {
  now: Date.now,
  controller: () => new AbortController(),
  timeout: () => ({ signal: new AbortController().signal, clear() {} }),
}
await refused('plimsoll/models: needs `@ai-sdk/openai-compatible` 3 or later, found an older one', () =>
  openAICompatibleModel({ baseUrl: 'http://127.0.0.1:1', modelId: 'm', host }),
)
await refused('plimsoll/models: needs `workers-ai-provider` 4 or later, found an older one', () =>
  workersAIModel({ binding: {}, modelId: '@cf/meta/llama', host }).complete({}).next(),
)
