import { generateText } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { expect, it } from 'vitest'
import { aiSdkModel, memoryLoop, toUIMessages } from '../../src/bridges/ai-sdk/index.ts'
import { mapStore } from '../../src/index.ts'
import { fullMemory } from '../contract/full-memory.ts'

/** That the bridge needs nothing but what every platform has. */
export function describeBridge(): void {
  it('the bridge to the AI SDK writes a reply and shows it', async () => {
    const session = fullMemory({ store: mapStore(), budget: 16_000 }).session({ userId: 'ada' })
    await session.append({ role: 'user', content: 'Hi' })
    const usage = {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    }
    const model = new MockLanguageModelV4({
      doGenerate: {
        content: [{ type: 'text', text: 'Hello.' }],
        finishReason: { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      },
    })
    const loop = await memoryLoop(session)
    await generateText({ model, ...loop })
    await loop.settled()
    expect(aiSdkModel(model).id).toBe('mock-provider/mock-model-id')
    expect(toUIMessages(await session.history()).map(({ role }) => role)).toEqual(['user', 'assistant'])
  })
}
