import { LocalRuntimeCore } from '@assistant-ui/core/internal'
import type { ChatModelAdapter, ThreadMessage } from '@assistant-ui/react'
import { createMemory } from 'plimsoll'
import { plimsollHistory } from 'plimsoll/assistant-ui'
import { sqliteStore } from 'plimsoll/sqlite'

const store = sqliteStore({ path: 'thread.db' })
const session = createMemory({ store, budget: 16_000 }).session({ userId: 'ada', sessionId: 'trip' })
const textOf = ({ content }: ThreadMessage): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('')
const chatModel: ChatModelAdapter = {
  run: async ({ messages }) => ({
    content: [{ type: 'text', text: `You said: ${messages.map(textOf).join(', ')}` }],
  }),
}
const options = { adapters: { chatModel, history: plimsollHistory<ThreadMessage>(session) } }
const thread = new LocalRuntimeCore(options, undefined).threads.getMainThreadRuntimeCore()
await thread.__internal_load()
await thread.append({
  role: 'user',
  content: [{ type: 'text', text: process.argv[2] ?? '' }],
  parentId: thread.messages.at(-1)?.id ?? null,
  ...{
    sourceId: null,
    runConfig: undefined,
    attachments: [],
    metadata: { custom: {} },
    createdAt: new Date(),
  },
})
console.log(thread.messages.map(textOf).at(-1))
await store.close()
