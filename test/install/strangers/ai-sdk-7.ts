import { generateText, type LanguageModel, stepCountIs } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { createMemory } from 'plimsoll'
import { memoryLoop } from 'plimsoll/ai-sdk'
import { sqliteStore } from 'plimsoll/sqlite'

const store = sqliteStore({ path: 'chats.db' })
const session = createMemory({ store, budget: 16_000, system: 'Be brief.' }).session({ userId: 'ada' })
await session.append({ role: 'user', content: process.argv[2] ?? '' })
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const model: LanguageModel = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => ({
    content: [{ type: 'text', text: `You said: ${JSON.stringify(prompt)}` }],
    finishReason: { unified: 'stop', raw: undefined },
    usage,
    warnings: [],
  }),
})
const loop = await memoryLoop(session)
const { text } = await generateText({ model, stopWhen: stepCountIs(5), ...loop })
console.log(text)
await loop.settled()
await store.close()
