import {
  Agent,
  type AgentInputItem,
  type AgentOutputItem,
  handoff,
  type Model,
  type ModelRequest,
  OpenAIResponsesCompactionSession,
  Runner,
  type StreamEvent,
  setTracingDisabled,
  tool,
  Usage,
} from '@openai/agents'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { PlimsollSession } from '../../src/bridges/openai-agents/index.ts'
import { createMemory } from '../../src/create-memory.ts'
import { mapStore } from '../../src/stores/map.ts'

setTracingDisabled(true)

const said = (text: string): AgentOutputItem[] => [
  { type: 'reasoning', id: `rs-${text}`, content: [], rawContent: [{ type: 'reasoning_text', text: 'hm' }] },
  {
    type: 'message',
    id: `msg-${text}`,
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text }],
  },
]
const called = (name: string, ...places: readonly string[]): AgentOutputItem[] =>
  places.map((place) => ({
    type: 'function_call',
    callId: `call-${place}`,
    id: `fc-${place}`,
    name,
    status: 'completed',
    arguments: JSON.stringify({ place }),
  }))

/** Says one thing after the other, and keeps what it was asked. */
function scripted(...replies: readonly (readonly AgentOutputItem[])[]) {
  const requests: ModelRequest[] = []
  const left = [...replies]
  const model: Model = {
    getResponse: async (request) => {
      requests.push(request)
      return { usage: new Usage(), output: [...(left.shift() ?? said('Nothing.'))] }
    },
    async *getStreamedResponse(request) {
      const { output } = await this.getResponse(request)
      yield {
        type: 'response_done',
        response: { id: 'r', output, usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } },
      } as StreamEvent
    },
  }
  return { model, requests }
}

const weather = tool({
  name: 'weather',
  description: 'The weather of a place.',
  parameters: z.object({ place: z.string() }),
  execute: async ({ place }) => `Rain in ${place}. ${'More of it. '.repeat(400)}`,
})

const store = () => mapStore()
const sessionOver = (over = store(), budget = 2_000) =>
  new PlimsollSession(createMemory({ store: over, budget }).session({ userId: 'ada', sessionId: 'trip' }))
const textsOf = (items: readonly AgentInputItem[]) => JSON.stringify(items)

it('runs turn after turn with tools, and stores the items that the Runner stores elsewhere', async () => {
  const script = [
    called('weather', 'Turin', 'Milan'),
    said('It rains.'),
    said('You are welcome.'),
    called('weather', 'Rome'),
    said('There too.'),
  ]
  const over = store()
  const own = scripted(...script)
  const theirs = scripted(...script)
  const { MemorySession } = await import('@openai/agents')
  const reference = new MemorySession()
  for (const question of ['Weather in Turin and Milan?', 'Thank you.', 'And in Rome?']) {
    const session = sessionOver(over)
    const instructions = 'Say it short.'
    const mine = new Agent({ name: 'guide', instructions, tools: [weather], model: session.model(own.model) })
    const plain = new Agent({ name: 'guide', instructions, tools: [weather], model: theirs.model })
    const answer = await new Runner().run(mine, question, { session })
    const expected = await new Runner().run(plain, question, { session: reference })
    expect(answer.finalOutput).toBe(expected.finalOutput)
    expect(await session.getItems()).toEqual(await reference.getItems())
  }
  const sizes = own.requests.map(({ input }) => textsOf(input as AgentInputItem[]).length)
  expect(Math.max(...sizes)).toBeLessThan(8_500)
  expect(own.requests.map(({ systemInstructions }) => systemInstructions)).toEqual(
    own.requests.map(() => 'Say it short.'),
  )
  const [, second] = own.requests
  expect(textsOf(second?.input as AgentInputItem[])).toContain('Rain in Milan')
  // Nothing stands twice in the log: what was written ahead was found by the Runner.
  const memory = createMemory({ store: over })
  const marks = await over.open({ userId: 'ada', sessionId: 'trip' }).entries({ kinds: ['rewind'] })
  expect(marks.rows).toEqual([])
  expect(await memory.session({ userId: 'ada', sessionId: 'trip' }).history()).toHaveLength(11)
})

it('streams, and hands over to another agent in the same conversation', async () => {
  const over = store()
  const session = sessionOver(over)
  const { model, requests } = scripted(
    [
      {
        type: 'function_call',
        callId: 'h',
        name: 'transfer_to_billing',
        status: 'completed',
        arguments: '{}',
      },
    ],
    said('Refunded.'),
  )
  const provider = session.provider({ getModel: async () => model })
  const billing = new Agent({ name: 'billing', instructions: 'You refund.' })
  const desk = new Agent({ name: 'desk', instructions: 'You greet.', handoffs: [handoff(billing)] })
  const result = await new Runner({ modelProvider: provider }).run(desk, 'Money back.', {
    session,
    stream: true,
  })
  for await (const _ of result) {
  }
  await result.completed
  expect(result.finalOutput).toBe('Refunded.')
  expect(requests.map(({ systemInstructions }) => systemInstructions)).toEqual(['You greet.', 'You refund.'])
  expect((await session.getItems()).map((item) => ('type' in item ? item.type : item))).toEqual([
    'message',
    'function_call',
    'function_call_result',
    'reasoning',
    'message',
  ])
})

it('hides what a run that failed had written ahead, and what a guardrail refused', async () => {
  const session = sessionOver()
  const { model, requests } = scripted(called('weather', 'Turin'), [], said('Better.'), said('A secret.'))
  const failing: Model = {
    ...model,
    getResponse: async (request) => {
      if (requests.length === 1) {
        requests.push(request)
        throw new Error('The model is gone.')
      }
      return model.getResponse(request)
    },
  }
  const agent = new Agent({ name: 'guide', tools: [weather], model: session.model(failing) })
  await expect(new Runner().run(agent, 'Weather?', { session })).rejects.toThrow('The model is gone.')
  await new Runner().run(agent, 'Hello?', { session })
  const request = textsOf(requests.at(-1)?.input as AgentInputItem[])
  const stored = textsOf(await session.getItems())
  expect(stored).toContain('Hello?')
  // The Runner's own word about the run that failed counts, whatever it is.
  expect(request.includes('Weather?')).toBe(stored.includes('Weather?'))
  const guarded = new Agent({
    name: 'guarded',
    model: session.model(scripted(said('A secret.')).model),
    outputGuardrails: [{ name: 'none', execute: async () => ({ tripwireTriggered: true, outputInfo: {} }) }],
  })
  await expect(new Runner().run(guarded, 'Tell.', { session })).rejects.toThrow()
  expect(textsOf(await session.getItems())).not.toContain('A secret.')
})

it('is compacted by the Responses API through the session of the SDK', async () => {
  const session = sessionOver()
  const asked: unknown[] = []
  const client = {
    responses: {
      compact: async (request: unknown) => {
        asked.push(request)
        const output = [{ type: 'compaction', id: 'cmp', encrypted_content: 'sealed' }]
        return { output, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } }
      },
    },
  }
  const compacted = new OpenAIResponsesCompactionSession({
    client: client as never,
    underlyingSession: session,
    compactionMode: 'input',
    shouldTriggerCompaction: () => true,
  })
  const { model, requests } = scripted(said('One.'), said('Two.'))
  const agent = new Agent({ name: 'guide', model: session.model(model) })
  await new Runner().run(agent, 'First?', { session: compacted })
  expect(asked).toHaveLength(1)
  expect((await session.getItems()).map((item) => ('type' in item ? item.type : item))).toContain(
    'compaction',
  )
  await new Runner().run(agent, 'Second?', { session: compacted })
  const second = textsOf(requests.at(-1)?.input as AgentInputItem[])
  expect(second).toContain('sealed')
  expect(second).not.toContain('First?')
})
