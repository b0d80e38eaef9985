import {
  Agent,
  type AgentInputItem,
  type AgentOutputItem,
  type CallModelInputFilter,
  MemorySession,
  type Model,
  type ModelRequest,
  Runner,
  type Session,
  setTracingDisabled,
  tool,
  Usage,
} from '@openai/agents-core'
import { PlimsollSession } from '../../src/bridges/openai-agents/index.ts'
import { createMemory } from '../../src/create-memory.ts'
import { mapStore } from '../../src/stores/map.ts'
import type { Recorded, Request } from '../../test/ai-sdk/replay.ts'
import { LAST, type Loop, type Means, Script, SYSTEM } from './loop.ts'

/** What a run is given beside the agent's name and tools. */
interface Given {
  readonly session: Session
  readonly model: (model: Model) => Model
  readonly filter?: CallModelInputFilter
}

export const loop: Loop = {
  packages: ['@openai/agents-core'],
  means: (counter, budget) => ({
    ours: meansOf('plimsoll/openai-agents', () => {
      const memory = createMemory({ store: mapStore(), budget, counter })
      const session = new PlimsollSession(memory.session({ userId: 'bench' }))
      return { session, model: (model) => session.model(model) }
    }),
    theirs: [
      meansOf(`callModelInputFilter, last ${LAST} items`, () => ({
        session: new MemorySession(),
        model: (model) => model,
        filter: ({ modelData }) => ({ ...modelData, input: modelData.input.slice(-LAST) }),
      })),
      meansOf('MemorySession, the whole history', () => ({
        session: new MemorySession(),
        model: (model) => model,
      })),
    ],
  }),
}

function meansOf(name: string, open: () => Given): Means {
  return { name, play: (recorded) => play(recorded, open()) }
}

async function play(recorded: Recorded, { session, model, filter }: Given): Promise<Request[]> {
  setTracingDisabled(true)
  const requests: Request[] = []
  const script = new Script()
  const tools = recorded.tools.map((name) =>
    tool({
      name,
      description: `Runs ${name}.`,
      parameters: { type: 'object', properties: {}, required: [], additionalProperties: true },
      strict: false,
      execute: async (_, __, details) => script.resultOf(details?.toolCall?.callId ?? ''),
    }),
  )
  const answer: Pick<Model, 'getResponse'> = {
    getResponse: async (request) => {
      requests.push(requestOf(request))
      return { usage: new Usage(), output: outputOf(script.next()) }
    },
  }
  const agent = new Agent({ name: 'coder', instructions: SYSTEM, tools, model: model(answer as Model) })
  const runner = new Runner({ ...(filter && { callModelInputFilter: filter }) })
  for (const { user, replies } of recorded.rounds) {
    script.begin(replies)
    await runner.run(agent, user, { session, maxTurns: 1_000 })
  }
  return requests
}

function outputOf({ text, calls }: ReturnType<Script['next']>): AgentOutputItem[] {
  const content = [{ type: 'output_text' as const, text }]
  return [
    ...(text === '' ? [] : [{ type: 'message', role: 'assistant', status: 'completed', content } as const]),
    ...calls.map(({ id: callId, name, input }) => {
      const call = { type: 'function_call', callId, name, status: 'completed' } as const
      return { ...call, arguments: JSON.stringify(input) }
    }),
  ]
}

/** As a prompt of the AI SDK, whose rules are judged. */
function requestOf({ systemInstructions, input, tools }: ModelRequest): Request {
  const prompt: { role: string; content: unknown }[] = []
  if (systemInstructions) prompt.push({ role: 'system', content: systemInstructions })
  const add = (role: string, part: object): void => {
    const last = prompt.at(-1)
    if (last?.role === role && role !== 'user') (last.content as object[]).push(part)
    else prompt.push({ role, content: [part] })
  }
  for (const item of typeof input === 'string' ? [] : (input as AgentInputItem[])) {
    if (item.type === 'function_call')
      add('assistant', {
        type: 'tool-call',
        toolCallId: item.callId,
        toolName: item.name,
        input: JSON.parse(item.arguments),
      })
    else if (item.type === 'function_call_result')
      add('tool', {
        type: 'tool-result',
        toolCallId: item.callId,
        toolName: item.name,
        output: { type: 'text', value: textIn(item.output) },
      })
    else if ('role' in item && item.role !== 'system') {
      const { role, content } = item
      add(role, { type: 'text', text: textIn(content) })
    } else throw new Error(`no such item was recorded: ${JSON.stringify(item).slice(0, 80)}`)
  }
  return { prompt, tools } as unknown as Request
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? content : [content]
  return parts.map((part: { readonly text?: string }) => part.text ?? '').join('')
}
