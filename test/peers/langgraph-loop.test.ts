import { AIMessage, type BaseMessage, HumanMessage, RemoveMessage } from '@langchain/core/messages'
import {
  Annotation,
  type BaseCheckpointSaver,
  type BaseStore,
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { expect, it } from 'vitest'
import { PlimsollSaver, PlimsollStore } from '../../src/bridges/langgraph/index.ts'
import { mapStore } from '../../src/stores/map.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  files: Annotation<Record<string, string>>({
    reducer: (before, after) => ({ ...before, ...after }),
    default: () => ({}),
  }),
})

/** Answers, keeps a file a turn, asks a person at each third turn, and drops what is old. */
function graphOver(checkpointer: BaseCheckpointSaver, store?: BaseStore) {
  const inner = new StateGraph(State)
    .addNode('reply', ({ messages }) => ({
      messages: [new AIMessage({ id: `reply-${messages.length}`, content: `to ${messages.at(-1)?.text}` })],
    }))
    .addEdge(START, 'reply')
    .addEdge('reply', END)
    .compile()
  return new StateGraph(State)
    .addNode('inner', inner)
    .addNode('keep', ({ messages }) => ({
      files: { [`turn-${messages.length}`]: messages.at(-1)?.text ?? '' },
    }))
    .addNode('ask', ({ messages }) => {
      const questions = messages.filter((message) => HumanMessage.isInstance(message)).length
      return questions % 3 === 0 ? { files: { answer: String(interrupt('go on?')) } } : {}
    })
    .addNode('trim', ({ messages }) => ({
      messages: messages.slice(0, -10).map(({ id }) => new RemoveMessage({ id: id as string })),
    }))
    .addEdge(START, 'inner')
    .addEdge('inner', 'keep')
    .addEdge('inner', 'ask')
    .addEdge(['keep', 'ask'], 'trim')
    .addEdge('trim', END)
    .compile({ checkpointer, ...(store && { store }) })
}

const shown = (messages: readonly BaseMessage[]) => messages.map(({ id, type, text }) => ({ id, type, text }))

it.each(['sync', 'async', 'exit'] as const)(
  'a graph with parallel nodes, a subgraph, interrupts and forks comes to what it does over MemorySaver, with durability %s',
  async (durability) => {
    const ends = []
    for (const saver of [new MemorySaver(), new PlimsollSaver({ store: mapStore(), userId: 'ada' })]) {
      const graph = graphOver(saver)
      const config = { configurable: { thread_id: 't' }, durability }
      for (let turn = 0; turn < 12; turn++) {
        await graph.invoke(
          { messages: [new HumanMessage({ id: `question-${turn}`, content: `q${turn}` })] },
          config,
        )
        const { next } = await graph.getState(config)
        if (next.length > 0) await graph.invoke(new Command({ resume: `yes ${turn}` }), config)
      }
      const history = []
      for await (const state of graph.getStateHistory(config)) history.push(state)
      const first = history.at(-1)
      const middle = history[Math.floor(history.length / 2)]
      for (const from of [first, middle]) {
        if (!from) continue
        // Played again from there, then changed there, then played on.
        await graph.invoke(null, { ...from.config, durability })
        const forked = await graph.updateState(from.config, { files: { forked: 'yes' } }, 'keep')
        await graph.invoke(null, { ...forked, durability })
      }
      const states = []
      for await (const { values, next, metadata } of graph.getStateHistory(config))
        states.push({
          ...values,
          messages: shown(values.messages ?? []),
          next,
          step: metadata?.step,
          source: metadata?.source,
        })
      ends.push(states)
    }
    expect(ends[0]?.length).toBeGreaterThan(durability === 'exit' ? 5 : 40)
    expect(ends[1]).toEqual(ends[0])
  },
)

it('a node reads and writes the store', async () => {
  const store = new PlimsollStore({ store: mapStore(), userId: 'ada' })
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('remember', async ({ messages }, { store }) => {
      await store?.put(['memories', 'ada'], `m${messages.length}`, { text: messages.at(-1)?.text })
      const found = await store?.search(['memories'], { query: 'Which seat does she like?' })
      return { messages: [new AIMessage(String(found?.[0]?.value.text))] }
    })
    .addEdge(START, 'remember')
    .compile({ store })
  await graph.invoke({ messages: [new HumanMessage('I like a window seat.')] })
  const { messages } = await graph.invoke({
    messages: [new HumanMessage('x'), new HumanMessage('Dinner was good.')],
  })
  expect(messages.at(-1)?.text).toBe('I like a window seat.')
})
