import { generateText, type LanguageModel, stepCountIs } from 'ai'
import { MockLanguageModelV2 } from 'ai/test'
import { createMemory } from 'plimsoll'
import { memoryLoop } from 'plimsoll/ai-sdk'
import { sqliteStore } from 'plimsoll/sqlite'

const store = sqliteStore({ path: 'chats.db' })
const session = createMemory({ store, budget: 16_000, system: 'Be brief.' }).session({ userId: 'ada' })
await session.append({ role: 'user', content: process.argv[2] ?? '' })
const model: LanguageModel = new MockLanguageModelV2({
  doGenerate: async ({ prompt }) => ({
    content: [{ type: 'text', text: `You said: ${JSON.stringify(prompt)}` }],
    finishReason: 'stop',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    warnings: [],
  }),
})
const loop = await memoryLoop(session)
const { text } = await generateText({ model, stopWhen: stepCountIs(5), ...loop })
console.log(text)
await loop.settled()
await store.close()
