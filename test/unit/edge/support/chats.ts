import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import type { AgentTool } from '../../../../src/agent/options.ts'
import { toUIMessages } from '../../../../src/bridges/ai-sdk/index.ts'
import type { EdgeSession } from '../../../../src/edge/features.ts'
import { parseChatRequest } from '../../../../src/edge/turn/chat-request.ts'
import type { ChatRequest } from '../../../../src/edge/turn/protocol.ts'
import { Turns } from '../../../../src/edge/turn/turns.ts'
import type { TurnsOptions } from '../../../../src/edge/turn/turns-options.ts'
import { webHost } from '../../../../src/platform/web.ts'
import type { MessageInput } from '../../../../src/ports/message.ts'
import type { Model, ModelEvent } from '../../../../src/ports/model.ts'
import { durableObjectStore } from '../../../../src/stores/durable-object.ts'
import { type FullSession, fullMemory } from '../../../contract/full-memory.ts'
import type { ChatReply } from '../../../e2e/use-chat.ts'
import { type FailingStorage, sqliteStorage } from './sqlite-storage.ts'

/** A model that gives replies in their order, and may wait in the middle of one. */
export function repliesModel(replies: readonly ChatReply[]): Model & { readonly calls: number } {
  let next = 0
  let calls = 0
  async function* complete(): AsyncGenerator<ModelEvent> {
    const reply = replies[next++]
    if (!reply) throw new Error('secret: there is no reply left')
    const { reasoning, text = '', calls: called = [], until, fails } = reply
    if (reasoning !== undefined) yield { type: 'reasoning', text: reasoning }
    const words = text.match(/\s*\S+/g) ?? []
    for (const [index, word] of words.entries()) {
      if (index > 0 && index === words.length - 1) await until
      yield { type: 'text', text: word }
    }
    if (words.length < 2) await until
    if (fails) throw new Error('secret: 500 of the provider')
    const content: MessageInput['content'] = [
      ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...called.map(({ name, input }) => ({
        type: 'tool-call' as const,
        id: `call_${++calls}`,
        name,
        input: input as never,
      })),
    ]
    yield {
      type: 'finish',
      message: { role: 'assistant', content },
      usage: { inputTokens: 10, outputTokens: 5 },
      reason: called.length > 0 ? 'tool-calls' : 'stop',
    }
  }
  return {
    id: 'replies',
    complete,
    get calls() {
      return next
    },
  }
}

export const TOOLS: readonly AgentTool[] = [
  {
    name: 'add',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
    execute: (input) => {
      const { a, b } = input as { a: number; b: number }
      return { sum: a + b }
    },
  },
  {
    name: 'fail',
    inputSchema: { type: 'object' },
    execute: () => {
      throw new Error('it is broken')
    },
  },
]

/** What one object holds: a session and its chats. */
export interface Scene {
  readonly storage: FailingStorage
  readonly session: FullSession
  readonly chats: Turns
  readonly model: Model & { readonly calls: number }
  /** What a reload shows. */
  reload(): Promise<UIMessage[]>
  /** A new object over the same storage, as after a crash. */
  restart(replies?: readonly ChatReply[], options?: Partial<TurnsOptions>): Scene
}

export function openScene(
  replies: readonly ChatReply[] = [],
  options: Partial<TurnsOptions> = {},
  storage = sqliteStorage(),
  budget = 16_000,
): Scene {
  const memory = fullMemory({ store: durableObjectStore(storage), system: 'Be brief.', budget })
  const session = memory.session({ userId: 'ada', sessionId: 'trip' })
  const model = repliesModel(replies)
  const chats = new Turns({
    session: () => session as EdgeSession,
    model: () => model,
    tools: () => TOOLS,
    storage,
    ...options,
  })
  return {
    storage,
    session,
    chats,
    model,
    reload: async () => toUIMessages(await session.history()),
    restart: (more = [], other = {}) => openScene(more, { ...options, ...other }, storage, budget),
  }
}

export const user = (id: string, text: string): UIMessage => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
})

export function request(body: Record<string, unknown>, idempotencyKey?: string): ChatRequest {
  return parseChatRequest(body, {
    protocol: 'ui',
    newId: webHost.newId,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  })
}

export const submit = (...messages: UIMessage[]): ChatRequest =>
  request({ id: 'trip', messages, trigger: 'submit-message' })

export async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  return new Response(ReadableStream.from(stream)).text()
}

export function chunksIn(text: string): UIMessageChunk[] {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)) as UIMessageChunk)
}

/** What the SDK's own reader makes of chunks. */
export async function messageOf(
  chunks: readonly UIMessageChunk[],
  message?: UIMessage,
): Promise<UIMessage | undefined> {
  let newest: UIMessage | undefined
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  for await (const one of readUIMessageStream({ stream, ...(message && { message }) })) newest = one
  return newest && plain(newest)
}

/** A message as it travels, without what names reasoning in a stream only. */
export function plain(message: UIMessage): UIMessage {
  const copy = JSON.parse(JSON.stringify(message)) as UIMessage
  return {
    ...copy,
    parts: copy.parts.map((part) => {
      if (part.type !== 'reasoning') return part
      const { id: _, ...rest } = part
      return rest
    }),
  }
}
