/** What examples of docstrings take for granted, where they do not make it themselves. */
import { createMemory, mapStore, recall, scriptedModel, standard } from 'plimsoll'
import { httpTransport } from 'plimsoll/sync'

export const store = mapStore()
export const base = mapStore()
export const memory = createMemory({ store, budget: 16_000, use: [...standard(), recall()] })
export const session = memory.session({ userId: 'ada', sessionId: 'trip' })
await session.append({ role: 'user', content: 'Book the 9:40 to Turin.' })
export const input = 'When is the train?'
export const model = scriptedModel(Array.from({ length: 9 }, () => 'It leaves at 9:40.'))
export const tools = [
  { name: 'find_train', inputSchema: { type: 'object' }, execute: () => ({ leaves: '9:40' }) },
] as const
export const ledger = { total: 0 }
export const file = new File(
  ['---\nname: tides\ndescription: Reads tide tables.\n---\n# Tides\n'],
  'tides.md',
  {
    type: 'image/png',
  },
)
/** A reply of Anthropic's that calls a tool of the memory. */
export const reply = {
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'c1', name: 'memory_preference', input: { text: 'window seat' } }],
} as const
export const openai = {
  chat: { completions: { create: async (_: object) => ({ usage: { prompt_tokens: 100 } }) } },
}
export const authenticate = async () => ({ userId: 'ada' })
export const user = { userId: 'ada' }
export const transport = httpTransport({ url: 'https://memory.example.com', token: 'a token' })
export const auth = { token: () => 'a token' }
export const sessionToken = () => 'a token'
export const showHint = (_: string) => {}
export const isSync = (event: Event): event is Event & { waitUntil(work: Promise<unknown>): void } =>
  'waitUntil' in event
