// A log, a checkpoint and a window over one file: each run goes on where the one before it ended,
// however that ended. A script stands in for the model.
import { checkpoint, createMemory, toOpenAI } from 'plimsoll'
import { sqliteStore } from 'plimsoll/sqlite'

const store = sqliteStore({ path: process.argv[2] ?? 'memory.db' })
const session = createMemory({
  store,
  budget: 16_000,
  window: { messages: 24 }, // At most so many, the newest included.
  use: [checkpoint({ initial: { done: 0 } })],
}).session({ userId: 'ada', sessionId: 'inbox' })

const { value: state, version } = await session.checkpoint.get()
await session.append({ id: `mail-${state.done}`, role: 'user', content: `Sort mail ${state.done}.` })
const request = toOpenAI(await session.context()) // client.chat.completions.create({ model, ...request })
await session.commit(
  { messages: { role: 'assistant', content: 'Sorted.' }, checkpoint: { done: state.done + 1 } },
  { ifVersion: version }, // Refused where another process was faster: all of it, or nothing.
)
console.log(
  `mail ${state.done}: ${request.messages.length} messages sent, ${(await session.history()).length} kept`,
)
await store.close()
