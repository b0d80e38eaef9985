import { HumanMessage } from '@langchain/core/messages'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { createMemory } from 'plimsoll'
import { PlimsollChatHistory } from 'plimsoll/langchain'
import { sqliteStore } from 'plimsoll/sqlite'

const store = sqliteStore({ path: 'history.db' })
const history = new PlimsollChatHistory(createMemory({ store, budget: 16_000 }).session({ userId: 'ada' }))
await history.addMessage(new HumanMessage(process.argv[2] ?? ''))
const messages = await history.trimmer().invoke(await history.getMessages())
const model = new FakeListChatModel({
  responses: [`You said: ${messages.map(({ text }) => text).join(', ')}`],
})
const reply = await model.invoke(messages)
await history.addMessage(reply)
console.log(reply.text)
await store.close()
