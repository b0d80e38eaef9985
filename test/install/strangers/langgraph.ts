import { AIMessage } from '@langchain/core/messages'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { PlimsollSaver } from 'plimsoll/langgraph'
import { sqliteStore } from 'plimsoll/sqlite'

const store = sqliteStore({ path: 'threads.db' })
const agent = ({ messages }: typeof MessagesAnnotation.State) => ({
  messages: [new AIMessage(`You said: ${messages.map(({ text }) => text).join(', ')}`)],
})
const graph = new StateGraph(MessagesAnnotation)
  .addNode('agent', agent)
  .addEdge(START, 'agent')
  .compile({ checkpointer: new PlimsollSaver({ store, userId: 'ada' }) })
const question = { role: 'user', content: process.argv[2] ?? '' }
const { messages } = await graph.invoke({ messages: [question] }, { configurable: { thread_id: 'trip' } })
console.log(messages.at(-1)?.text)
await store.close()
