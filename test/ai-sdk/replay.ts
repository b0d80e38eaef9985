/**
 * Replays a recorded conversation through the SDK as an app uses it: a browser sends its messages
 * over the transport behind `useChat`, a handler answers them with `streamText`, the model gives
 * the recorded replies, the tools the recorded results.
 */

import {
  convertToModelMessages,
  DefaultChatTransport,
  isStepCount,
  jsonSchema,
  type ModelMessage,
  pruneMessages,
  readUIMessageStream,
  streamText,
  type ToolSet,
  type UIMessage,
} from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { memoryLoop } from '../../src/bridges/ai-sdk/index.ts'
import type { Counter } from '../../src/ports/counter.ts'
import type { ToolCallPart } from '../../src/ports/message.ts'
import { mapStore } from '../../src/stores/map.ts'
import { fullMemory } from '../contract/full-memory.ts'

/** A recorded conversation, as what its user, its model and its tools said. */
export interface Recorded {
  readonly id: string
  readonly rounds: readonly { readonly user: string; readonly replies: readonly Reply[] }[]
  /** Names of the tools that were called. */
  readonly tools: readonly string[]
}

export interface Reply {
  readonly text: string
  readonly calls: readonly ToolCallPart[]
  /** What each call gave, by its id; a call that nothing came of has none. */
  readonly results: ReadonlyMap<string, string>
}

export type Request = Parameters<MockLanguageModelV4['doStream']>[0]

/** What `streamText` is given beside the model and the tools. */
interface Loop {
  readonly messages: ModelMessage[]
}

export interface Policy {
  readonly name: string
  /** Contract: called for each message of the user, with all UI messages so far. */
  open(system: string, tools: ToolSet): (messages: UIMessage[]) => Promise<Loop>
}

const SYSTEM = 'You are a coding agent. Read before you write, and say what you did.'

export const plimsoll = (counter: Counter, budget: number): Policy => ({
  name: 'plimsoll/ai-sdk',
  open: (system, tools) => {
    const memory = fullMemory({ store: mapStore(), budget, counter, system })
    const session = memory.session({ userId: 'bench' })
    return (messages) => memoryLoop(session, { tools: tools as never, messages: messages as never })
  },
})

/**
 * The SDK's own means, with the options of its documentation but for the number. It has no token
 * budget.
 */
export const pruning: Policy = {
  name: 'ai pruneMessages',
  open: (system) => async (messages) => ({
    instructions: system,
    messages: await convertToModelMessages(messages),
    prepareStep: ({
      initialMessages,
      responseMessages,
    }: {
      initialMessages: never[]
      responseMessages: never[]
    }) => ({
      messages: pruneMessages({
        messages: [...initialMessages, ...responseMessages],
        reasoning: 'all',
        toolCalls: 'before-last-40-messages',
        emptyMessages: 'remove',
      }),
    }),
  }),
}

/**
 * Every request as the model receives it. @throws what the policy does, for example where a single
 * message is above the cap
 */
export async function replay(recorded: Recorded, policy: Policy): Promise<Request[]> {
  const requests: Request[] = []
  let replies: Reply[] = []
  const results = new Map<string, string[]>()
  const model = new MockLanguageModelV4({
    doStream: async (request) => {
      requests.push(request)
      const reply = replies.shift()
      return { stream: streamOf(reply, requests.length, results) as never }
    },
  })
  const tools: ToolSet = Object.fromEntries(
    recorded.tools.map((name) => [
      name,
      {
        description: `Runs ${name}.`,
        inputSchema: jsonSchema({ type: 'object' }),
        execute: async (_: unknown, { toolCallId }: { toolCallId: string }) =>
          results.get(toolCallId)?.shift() ?? '',
      } as ToolSet[string],
    ]),
  )
  const loopOf = policy.open(SYSTEM, tools)
  let failed: unknown
  const transport = new DefaultChatTransport<UIMessage>({
    api: 'https://bench.example/api/chat',
    fetch: (async (_: unknown, init?: RequestInit) => {
      const { messages } = JSON.parse(String(init?.body)) as { messages: UIMessage[] }
      const loop = await loopOf(messages)
      const result = streamText({
        model,
        tools,
        stopWhen: isStepCount(1_000),
        maxRetries: 0,
        onError: ({ error }) => {
          failed ??= error
        },
        ...loop,
      })
      const generateMessageId = () => `reply-${messages.length}`
      return result.toUIMessageStreamResponse({ originalMessages: messages, generateMessageId })
    }) as typeof fetch,
  })
  const messages: UIMessage[] = []
  for (const [index, round] of recorded.rounds.entries()) {
    replies = [...round.replies]
    messages.push({ id: `user-${index}`, role: 'user', parts: [{ type: 'text', text: round.user }] })
    const stream = await transport.sendMessages({
      trigger: 'submit-message',
      chatId: recorded.id,
      messageId: undefined,
      messages,
      abortSignal: undefined,
    })
    let reply: UIMessage | undefined
    for await (const message of readUIMessageStream({ stream })) reply = message
    if (failed) throw failed
    if (reply) messages.push(reply)
  }
  return requests
}

function streamOf(
  reply: Reply | undefined,
  call: number,
  results: Map<string, string[]>,
): ReadableStream<object> {
  const {
    text,
    calls,
    results: given,
  } = reply ?? { text: 'Done.', calls: [], results: new Map<string, string>() }
  const parts: object[] = [{ type: 'stream-start', warnings: [] }]
  if (text !== '') {
    parts.push(
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: text },
      { type: 'text-end', id: 't' },
    )
  }
  calls.forEach(({ id, name, input }, index) => {
    // Recordings use ids again; the SDK takes them for the same call.
    const toolCallId = `${call}-${index}-${id}`
    results.set(toolCallId, [given.get(id) ?? '(no result was recorded)'])
    parts.push({ type: 'tool-call', toolCallId, toolName: name, input: JSON.stringify(input) })
  })
  parts.push({
    type: 'finish',
    usage: { inputTokens: {}, outputTokens: {} },
    finishReason: { unified: calls.length > 0 ? 'tool-calls' : 'stop' },
  })
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
}
