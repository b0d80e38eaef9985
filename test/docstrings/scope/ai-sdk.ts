/** The same for examples of the AI SDK, whose models, tools and messages are its own. */
import type { ModelMessage, UIMessage } from 'ai'
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test'
import { createMemory, mapStore, standard } from 'plimsoll'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const finish = { finishReason: { unified: 'stop', raw: 'stop' }, usage } as const
export const model = new MockLanguageModelV4({
  doGenerate: async () => ({ content: [{ type: 'text', text: 'At 9:40.' }], ...finish, warnings: [] }),
  doStream: async () => ({
    stream: simulateReadableStream({
      chunks: [
        { type: 'stream-start', warnings: [] },
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: 'At 9:40.' },
        { type: 'text-end', id: '1' },
        { type: 'finish', ...finish },
      ],
    }),
  }),
})
export const anthropic = (_: string) => model
export const memory = createMemory({ store: mapStore(), budget: 16_000, use: standard() })
export const userId = 'ada'
export const session = memory.session({ userId, sessionId: 'trip' })
await session.append({ role: 'user', content: 'When is the train?' })
export const prompt = 'And where do we change?'
export const tools = {}
export const others = {}
export const messages: UIMessage[] = [
  { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'When is the train?' }] },
]
export const result = {
  response: Promise.resolve({
    messages: [{ role: 'assistant', content: 'At 9:40.' }] satisfies ModelMessage[],
  }),
}
export const request = {
  json: async () => ({ id: 'trip', messages }),
}
export const searchOrders = {
  name: 'search_orders',
  inputSchema: { type: 'object' },
  execute: () => ({ found: 1 }),
}
