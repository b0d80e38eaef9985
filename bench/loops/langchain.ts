import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, type BaseMessage, SystemMessage, trimMessages } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { PlimsollChatHistory } from '../../src/bridges/langchain/index.ts'
import { createMemory } from '../../src/create-memory.ts'
import type { Counter } from '../../src/ports/counter.ts'
import { mapStore } from '../../src/stores/map.ts'
import type { Recorded, Request } from '../../test/ai-sdk/replay.ts'
import { type Loop, type Means, Script, SYSTEM } from './loop.ts'

type Tools = readonly ReturnType<typeof toolOf>[]
type Trim = (messages: BaseMessage[]) => Promise<BaseMessage[]>

export const loop: Loop = {
  packages: ['@langchain/core', '@langchain/langgraph'],
  means: (counter, budget, known = new Map<string, number>()) => ({
    ours: meansOf('plimsoll/langchain', (tools) => {
      const memory = createMemory({ store: mapStore(), budget, counter, system: SYSTEM })
      const history = new PlimsollChatHistory(memory.session({ userId: 'bench' }))
      const trimmer = history.trimmer({ tools: tools as never })
      return (messages) => trimmer.invoke(messages as never) as Promise<BaseMessage[]>
    }),
    theirs: [
      meansOf(`trimMessages, ${budget} tokens`, () => async (messages) => {
        const tokenCounter = (all: BaseMessage[]) => tokensOf(counter, known, all)
        const all = [new SystemMessage(SYSTEM), ...messages]
        const trimmed = await trimMessages(all, {
          maxTokens: budget,
          tokenCounter,
          strategy: 'last',
          startOn: ['human', 'ai'],
          includeSystem: true,
        })
        // Where nothing but the instructions fits, it gives a message that is undefined.
        return trimmed.filter((message) => message !== undefined)
      }),
      meansOf('the whole state', () => async (messages) => [new SystemMessage(SYSTEM), ...messages]),
    ],
  }),
}

function meansOf(name: string, open: (tools: Tools) => Trim): Means {
  return { name, play: (recorded) => play(recorded, open) }
}

/** Says what was recorded, and keeps what it was asked. */
class ScriptedModel extends BaseChatModel {
  readonly #script: Script
  readonly #requests: Request[]
  #tools: Tools = []

  constructor(script: Script, requests: Request[]) {
    super({})
    this.#script = script
    this.#requests = requests
  }

  _llmType(): string {
    return 'scripted'
  }

  override bindTools(tools: unknown): this {
    this.#tools = tools as Tools
    return this
  }

  async _generate(messages: BaseMessage[]) {
    this.#requests.push(requestOf(messages, this.#tools))
    const { text, calls } = this.#script.next()
    const tool_calls = calls.map(({ id, name, input }) => ({ id, name, args: input as object }))
    return { generations: [{ text, message: new AIMessage({ content: text, tool_calls }) }] }
  }
}

async function play(recorded: Recorded, open: (tools: Tools) => Trim): Promise<Request[]> {
  const requests: Request[] = []
  const script = new Script()
  const tools = recorded.tools.map((name) => toolOf(name, script))
  const trim = open(tools)
  const agent = createReactAgent({
    llm: new ScriptedModel(script, requests),
    tools: [...tools],
    preModelHook: async ({ messages }) => ({ llmInputMessages: await trim(messages) }),
  })
  let messages: BaseMessage[] = []
  for (const { user, replies } of recorded.rounds) {
    script.begin(replies)
    const input = [...messages, { role: 'user', content: user }]
    const state = await agent.invoke({ messages: input as BaseMessage[] }, { recursionLimit: 10_000 })
    messages = state.messages
  }
  return requests
}

function toolOf(name: string, script: Script) {
  return tool(async (_: unknown, config) => script.resultOf(config.toolCall?.id ?? ''), {
    name,
    description: `Runs ${name}.`,
    schema: { type: 'object', properties: {}, additionalProperties: true },
  })
}

/** As a prompt of the AI SDK, whose rules are judged. */
function requestOf(messages: readonly BaseMessage[], tools: Tools): Request {
  const prompt: { role: string; content: unknown }[] = []
  for (const message of messages) {
    const { type, text } = message
    const { tool_calls = [], tool_call_id } = message as AIMessage & { readonly tool_call_id?: string }
    if (type === 'system') prompt.push({ role: 'system', content: text })
    else if (type === 'human') prompt.push({ role: 'user', content: [{ type: 'text', text }] })
    else if (type === 'ai') {
      const calls = tool_calls.map(({ id, name, args }) => {
        return { type: 'tool-call', toolCallId: id, toolName: name, input: args }
      })
      prompt.push({
        role: 'assistant',
        content: [...(text === '' ? [] : [{ type: 'text', text }]), ...calls],
      })
    } else {
      const output = { type: 'text', value: text }
      const result = { type: 'tool-result', toolCallId: tool_call_id, toolName: message.name, output }
      const last = prompt.at(-1)
      if (last?.role === 'tool') (last.content as object[]).push(result)
      else prompt.push({ role: 'tool', content: [result] })
    }
  }
  return { prompt, tools: tools.map((one) => convertToOpenAITool(one)) } as unknown as Request
}

/** It is asked for the same texts again and again: each is counted once. */
function tokensOf(counter: Counter, known: Map<string, number>, messages: readonly BaseMessage[]): number {
  const count = (text: string): number => {
    const tokens = known.get(text) ?? counter.count(text)
    known.set(text, tokens)
    return tokens
  }
  return messages.reduce((sum, message) => {
    const calls = (message as AIMessage).tool_calls ?? []
    const asked = calls.reduce((all, { name, args }) => all + count(name) + count(JSON.stringify(args)), 0)
    return sum + 4 + count(message.text) + asked
  }, 3)
}
