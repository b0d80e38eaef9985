import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { RunnableLambda, RunnableWithMessageHistory } from '@langchain/core/runnables'
import { tool } from '@langchain/core/tools'
import { FakeStreamingChatModel } from '@langchain/core/utils/testing'
import { MemorySaver } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { expect, it } from 'vitest'
import { PlimsollChatHistory } from '../../src/bridges/langchain/index.ts'
import { createMemory } from '../../src/create-memory.ts'
import { mapStore } from '../../src/stores/map.ts'

it('keeps the history of a runnable of LangChain', async () => {
  const store = mapStore()
  const memory = createMemory({ store, budget: 2_000 })
  const historyOf = (sessionId: string) =>
    new PlimsollChatHistory(memory.session({ userId: 'ada', sessionId }))
  const chain = new RunnableWithMessageHistory({
    runnable: RunnableLambda.from(
      async (messages: BaseMessage[]) => new AIMessage(`after ${messages.length}`),
    ) as never,
    getMessageHistory: historyOf,
  })
  const config = { configurable: { sessionId: 'trip' } }
  for (const question of ['One?', 'Two?']) await chain.invoke([new HumanMessage(question)], config)
  expect((await historyOf('trip').getMessages()).map(({ text }) => text)).toEqual([
    'One?',
    'after 1',
    'Two?',
    'after 3',
  ])
})

it('keeps an agent of LangGraph within the budget, turn after turn, with tools', async () => {
  const memory = createMemory({ store: mapStore(), budget: 2_000, system: 'Be brief.' })
  const history = new PlimsollChatHistory(memory.session({ userId: 'ada' }))
  const weather = tool(async (_: unknown) => 'Rain. '.repeat(400), {
    name: 'weather',
    description: 'The weather of a place.',
    schema: { type: 'object', properties: { place: { type: 'string' } } },
  })
  const trimmer = history.trimmer({ tools: [weather] })
  const requests: BaseMessage[][] = []
  let calls = 0
  class Model extends FakeStreamingChatModel {
    override bindTools() {
      return this
    }
    override async _generate(messages: BaseMessage[]) {
      requests.push(messages)
      const asks = messages.at(-1)?.type === 'human'
      const message = asks
        ? new AIMessage({
            content: '',
            tool_calls: [{ id: `call-${calls++}`, name: 'weather', args: { place: 'Turin' } }],
          })
        : new AIMessage(`It rains, ${calls}.`)
      return { generations: [{ text: message.text, message }] }
    }
  }
  const agent = createReactAgent({
    llm: new Model({}),
    tools: [weather],
    checkpointer: new MemorySaver(),
    preModelHook: async ({ messages }) => ({ llmInputMessages: await trimmer.invoke(messages) }),
  })
  for (let turn = 0; turn < 10; turn++) {
    const input = { messages: [new HumanMessage(`Weather, ${turn}?`)] }
    await agent.invoke(input, { configurable: { thread_id: 'trip' } })
  }
  expect(requests).toHaveLength(20)
  for (const request of requests) {
    expect(request[0]?.text).toBe('Be brief.')
    expect(JSON.stringify(request.map(({ content }) => content)).length).toBeLessThan(8_500)
  }
  expect(requests.at(-1)?.at(-3)?.text).toBe('Weather, 9?')
  expect((await history.getMessages()).filter(({ type }) => type === 'tool')).toHaveLength(10)
})
