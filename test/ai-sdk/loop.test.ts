import {
  DefaultChatTransport,
  generateText,
  isStepCount,
  jsonSchema,
  readUIMessageStream,
  streamText,
  type ToolSet,
  tool,
  type UIMessage,
} from 'ai'
import { describe, expect, it, vi } from 'vitest'
import {
  appendUIMessages,
  memoryLoop,
  prepareStep,
  toToolSpecs,
  toUIMessages,
  writeStep,
} from '../../src/bridges/ai-sdk/index.ts'
import type { ReplyContent } from '../../src/bridges/ai-sdk/types.ts'
import { type Counter, defaultCounter, mapStore, utf8Bound } from '../../src/index.ts'
import { type FullSession, fullMemory } from '../contract/full-memory.ts'
import { size } from '../everywhere/runs.ts'
import { promptTokens } from './count.ts'
import { expectPaired } from './prompts.ts'
import { called, said, scripted } from './scripted.ts'

const sessionOf = (options: { budget?: number; counter?: Counter; system?: string } = {}): FullSession =>
  fullMemory({ store: mapStore(), budget: 16_000, ...options }).session({
    userId: 'ada',
    sessionId: 'trip',
  })

const query = jsonSchema<{ query: string }>({ type: 'object', properties: { query: { type: 'string' } } })
const tools = {
  search: tool({
    description: 'Finds pages.',
    inputSchema: query,
    execute: async ({ query }) => `found ${query}`,
  }),
}
const guarded = {
  book: tool({ inputSchema: query, needsApproval: true, execute: async ({ query }) => `booked ${query}` }),
}
const manual: ToolSet = { locate: tool({ inputSchema: query }) }

const roles = async (session: FullSession): Promise<string[]> =>
  (await session.history()).map(({ role }) => role)
const search = (n: number): ReplyContent => called(`c${n}`, 'search', { query: `trains ${n}` })

describe('the tool loop of streamText', () => {
  it('works on the session: each step is asked with its context, and all of it is in the log', async () => {
    const session = sessionOf({ system: 'Be kind.' })
    await session.append({ role: 'user', content: 'When does my train leave?' })
    const model = scripted([[said('Looking.'), search(1)], [search(2)], [said('At nine.')]])
    const loop = await memoryLoop(session, { tools })
    const result = streamText({ model, tools, stopWhen: isStepCount(5), ...loop })
    await result.consumeStream()
    await loop.settled()
    expect(await result.text).toBe('At nine.')
    expect(await roles(session)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant'])
    expect(model.requests).toHaveLength(3)
    for (const { prompt } of model.requests) expectPaired(prompt)
    expect(model.requests.map(({ prompt }) => prompt.length)).toEqual([2, 4, 6])
    expect(model.requests[2]?.prompt.at(-1)).toMatchObject({
      content: [{ output: { value: 'found trains 2' } }],
    })
  })

  it('keeps every request of many steps with large outputs under the cap, by the memory counter and by an upper bound', async () => {
    const steps = Math.max(50, size(200))
    const large: ToolSet = {
      search: tool({
        inputSchema: query,
        execute: async ({ query }) => `${query}: ${'src/core/plan.ts 旅行 '.repeat(2_000)}`,
      }),
    }
    for (const counter of [undefined, utf8Bound]) {
      const session = sessionOf({ budget: 16_000, ...(counter && { counter }) })
      await session.append({ role: 'user', content: 'Read all of it.' })
      const model = scripted((call) =>
        call < steps ? [said(`Step ${call}.`), search(call)] : [said('Done.')],
      )
      const loop = await memoryLoop(session, { tools: large })
      await streamText({ model, tools: large, stopWhen: isStepCount(300), ...loop }).consumeStream()
      await loop.settled()
      expect(model.requests).toHaveLength(steps + 1)
      for (const request of model.requests) {
        expectPaired(request.prompt)
        expect(promptTokens(counter ?? defaultCounter, request)).toBeLessThanOrEqual(16_000)
      }
      const { receipt } = await session.context({ tools: await toToolSpecs(large) })
      expect(receipt.used + receipt.margin).toBeLessThanOrEqual(receipt.cap ?? Infinity)
      expect(await session.history({ messages: 1_000 })).toHaveLength(2 * steps + 2)
    }
  })

  it('is the same for generateText, with prepareStep and writeStep given one by one', async () => {
    const session = sessionOf()
    await session.append({ role: 'user', content: 'Hi' })
    const model = scripted([[search(1)], [said('At nine.')]])
    const { text } = await generateText({
      model,
      tools,
      prompt: 'not sent: the log is',
      stopWhen: isStepCount(5),
      prepareStep: prepareStep(session, { tools }),
      onStepEnd: writeStep(session),
    })
    expect(text).toBe('At nine.')
    expect(await roles(session)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(JSON.stringify(model.requests)).not.toContain('not sent')
  })

  it('writes the steps before it by prepareStep alone, and nothing twice', async () => {
    const session = sessionOf()
    await session.append({ role: 'user', content: 'Hi' })
    const model = scripted([[search(1)], [search(2)], [said('At nine.')]])
    const prepare = prepareStep(session, { tools })
    const twice: typeof prepare = async (options) => {
      await prepare(options)
      return prepare(options)
    }
    await generateText({ model, tools, prompt: '-', stopWhen: isStepCount(5), prepareStep: twice })
    expect(await roles(session)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool'])
  })

  it('writes two calls with equal replies both', async () => {
    const session = sessionOf()
    for (let n = 0; n < 2; n++) {
      await session.append({ role: 'user', content: 'Yes' })
      const loop = await memoryLoop(session)
      await streamText({ model: scripted([[said('Fine.')]]), ...loop }).consumeStream()
      await loop.settled()
    }
    expect(await roles(session)).toEqual(['user', 'assistant', 'user', 'assistant'])
  })

  it('leaves no call without a result behind when it is aborted while a tool runs', async () => {
    const session = sessionOf()
    await session.append({ role: 'user', content: 'Hi' })
    const stop = new AbortController()
    const hanging: ToolSet = {
      search: tool({
        inputSchema: query,
        execute: () => {
          stop.abort()
          return new Promise(() => {})
        },
      }),
    }
    const loop = await memoryLoop(session, { tools: hanging })
    const model = scripted([[search(1)]])
    await streamText({ model, tools: hanging, abortSignal: stop.signal, ...loop }).consumeStream()
    await loop.settled()
    await session.append({ role: 'user', content: 'Go on.' })
    expectPaired(scriptedPrompt(await memoryLoop(session)))
    expect(await roles(session)).toEqual(['user', 'user'])
  })

  it('writes what a failing tool gave as an error', async () => {
    const session = sessionOf()
    await session.append({ role: 'user', content: 'Hi' })
    const failing: ToolSet = {
      search: tool({
        inputSchema: query,
        execute: async (): Promise<string> => {
          throw new Error('no network')
        },
      }),
    }
    const model = scripted([[search(1)], [said('Sorry.')]])
    const loop = await memoryLoop(session, { tools: failing })
    await streamText({ model, tools: failing, stopWhen: isStepCount(3), ...loop }).consumeStream()
    expect((await session.history())[2]?.content).toEqual([
      { type: 'tool-result', callId: 'c1', output: 'Error: no network', isError: true },
    ])
  })

  it('refuses instructions that no budget counts, and takes the ones of the memory', async () => {
    const session = sessionOf({ system: 'Be kind.' })
    await session.append({ role: 'user', content: 'Hi' })
    const ask = (instructions: string) =>
      generateText({ model: scripted([]), prompt: '-', instructions, prepareStep: prepareStep(session) })
    await expect(ask('Be rude.')).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
    await expect(ask('Be kind.')).resolves.toBeDefined()
  })

  it('fails the call when a step cannot be written, and says so of the last one when asked', async () => {
    const session = sessionOf()
    await session.append({ role: 'user', content: 'Hi' })
    const loop = await memoryLoop(session, { tools })
    vi.spyOn(session, 'append').mockRejectedValue(new Error('disk full'))
    const call = generateText({ model: scripted([[search(1)]]), tools, stopWhen: isStepCount(3), ...loop })
    await expect(call).rejects.toThrow('disk full')
    await expect(loop.settled()).rejects.toThrow('disk full')
  })

  it('writes a message that the user sent meanwhile, once', async () => {
    const session = sessionOf()
    await session.append({ role: 'user', content: 'Hi' })
    const prepare = prepareStep(session)
    const steering = { role: 'user' as const, content: 'Hurry!' }
    const step = {
      steps: [],
      responseMessages: [],
      experimental_steeringMessages: [steering],
      model: scripted([]),
    }
    const append = session.append.bind(session)
    session.append = () => {
      session.append = append
      return Promise.reject(new Error('disk'))
    }
    await expect(prepare(step as never)).rejects.toThrow('disk')
    await prepare(step as never)
    await prepare(step as never)
    expect((await session.history()).map(({ content }) => content)).toEqual(['Hi', 'Hurry!'])
  })
})

it('appends each step once, and nothing else', async () => {
  for (const how of ['memoryLoop', 'prepareStep'] as const) {
    const session = sessionOf()
    await session.append({ role: 'user', content: 'Hi' })
    const append = vi.spyOn(session, 'append')
    const loop =
      how === 'memoryLoop'
        ? await memoryLoop(session, { tools })
        : { prompt: 'Hi', prepareStep: prepareStep(session, { tools }), onStepEnd: writeStep(session) }
    const model = scripted([[search(1)], [search(2)], [said('Done.')]])
    await generateText({ model, tools, stopWhen: isStepCount(5), ...(loop as { prompt: string }) })
    // `prepareStep` alone does not know what `writeStep` wrote: it appends that again, for nothing.
    expect(append).toHaveBeenCalledTimes(how === 'memoryLoop' ? 3 : 5)
    expect(await roles(session)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant'])
  }
})

const scriptedPrompt = ({ messages }: Awaited<ReturnType<typeof memoryLoop>>) => messages

describe('a chat over the transport behind useChat', () => {
  /** A server with one session, and a browser that keeps its messages. */
  function chat(replies: readonly (readonly ReplyContent[])[], toolSet: ToolSet = tools as ToolSet) {
    const session = sessionOf()
    const model = scripted(replies)
    const transport = new DefaultChatTransport<UIMessage>({
      api: 'https://example.com/api/chat',
      fetch: (async (_: unknown, init?: RequestInit) => {
        const { messages } = JSON.parse(String(init?.body)) as { messages: UIMessage[] }
        const loop = await memoryLoop(session, { tools: toolSet, messages })
        const result = streamText({ model, tools: toolSet, stopWhen: isStepCount(10), ...loop })
        return result.toUIMessageStreamResponse({
          originalMessages: messages,
          generateMessageId: () => `reply-${messages.length}`,
        })
      }) as typeof fetch,
    })
    let messages: UIMessage[] = []
    const send = async (): Promise<UIMessage> => {
      const last = messages.at(-1)
      const stream = await transport.sendMessages({
        trigger: 'submit-message',
        chatId: 'trip',
        messageId: undefined,
        messages,
        abortSignal: undefined,
      })
      const before = last?.role === 'assistant' ? last : undefined
      let reply: UIMessage | undefined
      for await (const message of readUIMessageStream({
        stream,
        ...(before && { message: structuredClone(before) }),
      }))
        reply = message
      if (!reply) throw new Error('no reply')
      messages = [...messages.filter(({ id }) => id !== reply?.id), reply]
      return reply
    }
    return {
      session,
      model,
      send,
      say: (text: string) => {
        messages = [...messages, { id: `u${messages.length}`, role: 'user', parts: [{ type: 'text', text }] }]
        return send()
      },
      change: (edit: (part: UIMessage['parts'][number]) => unknown) => {
        messages = messages.map((message) => ({
          ...message,
          parts: message.parts.map((part) => edit(part) as typeof part),
        }))
      },
      messages: () => messages,
    }
  }

  it('writes each message once, though the browser sends all of them each time', async () => {
    const { session, model, say, messages } = chat([
      [search(1)],
      [said('At nine.')],
      [said('You are welcome.')],
    ])
    await say('When does my train leave?')
    await say('Thanks!')
    expect(await roles(session)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user', 'assistant'])
    for (const { prompt } of model.requests) expectPaired(prompt)
    const own = toUIMessages(await session.history())
    expect(own.map(({ role, parts }) => [role, parts.map(({ type }) => type)])).toEqual(
      messages().map(({ role, parts }) => [role, parts.map(({ type }) => type)]),
    )
  })

  it('waits for a tool that the browser answers, and goes on with its output', async () => {
    const { session, model, say, send, change } = chat(
      [[called('c1', 'locate', {})], [said('In Turin.')]],
      manual,
    )
    await say('Where am I?')
    await expect(session.context()).rejects.toMatchObject({ code: 'ERR_TOOL_PENDING' })
    change((part) =>
      part.type === 'tool-locate' ? { ...part, state: 'output-available', output: { city: 'Turin' } } : part,
    )
    await send()
    expect(await roles(session)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(model.requests[1]?.prompt.at(-1)).toMatchObject({
      content: [{ output: { value: { city: 'Turin' } } }],
    })
  })

  it('waits for an approval, lets the SDK run the tool, and writes what it gave', async () => {
    const { session, model, say, send, change } = chat(
      [[called('c1', 'book', { query: '9:40' })], [said('Booked.')]],
      guarded,
    )
    const reply = await say('Book it.')
    expect(reply.parts.at(-1)).toMatchObject({ state: 'approval-requested' })
    await expect(session.context()).rejects.toMatchObject({ code: 'ERR_TOOL_PENDING' })
    change((part) =>
      part.type === 'tool-book' && part.state === 'approval-requested'
        ? { ...part, state: 'approval-responded', approval: { ...part.approval, approved: true } }
        : part,
    )
    await send()
    expect(await roles(session)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(model.requests[1]?.prompt.at(-1)).toMatchObject({
      content: [{ output: { value: 'booked 9:40' } }],
    })
    for (const { prompt } of model.requests) expectPaired(prompt)
  })

  it('takes up only what was approved and still waits', async () => {
    const session = sessionOf()
    const calls = ['c1', 'c2', 'c3'].map((id) => called(id, 'book', { query: id }))
    await session.append([
      { role: 'user', content: 'Book all.' },
      {
        role: 'assistant',
        content: calls.map((_, at) => ({ type: 'tool-call', id: `c${at + 1}`, name: 'book', input: {} })),
      },
    ])
    const part = (id: string, state: string, approved?: boolean) => ({
      ...{ type: 'tool-book', toolCallId: id, state, input: {} },
      approval: { id: `a-${id}`, ...(approved !== undefined && { approved }) },
    })
    const parts = [part('c1', 'approval-responded', true), part('c2', 'approval-requested')]
    const sent = (more: object[]) => [{ id: 'r', role: 'assistant', parts: [...parts, ...more] }] as never
    const ids = async (messages: never) => {
      const begin = await appendUIMessages(session, messages)
      return begin.map(({ content }) => (content as { toolCallId?: string }[]).map((one) => one.toolCallId))
    }
    const third = part('c3', 'approval-responded', true)
    expect((await ids(sent([third])))[0]).toEqual(['c1', 'c1', 'c3', 'c3'])
    await session.append({ role: 'tool', content: [{ type: 'tool-result', callId: 'c3', output: 'x' }] })
    expect((await ids(sent([third])))[0]).toEqual(['c1', 'c1'])
    const rest = ['c1', 'c2'].map((callId) => ({ type: 'tool-result' as const, callId, output: 'x' }))
    await session.append({ role: 'tool', content: rest })
    expect(await ids(sent([third]))).toEqual([])
  })

  it('writes what the SDK ran before the first step, where the app begins with what was approved', async () => {
    const session = sessionOf()
    const call = { type: 'tool-call' as const, id: 'c1', name: 'book', input: { query: '9:40' } }
    await session.append([
      { role: 'user', content: 'Book.' },
      { role: 'assistant', content: [call] },
    ])
    const part = {
      type: 'tool-book',
      toolCallId: 'c1',
      state: 'approval-responded',
      input: { query: '9:40' },
    }
    const approved = { ...part, approval: { id: 'a', approved: true } }
    const messages = await appendUIMessages(session, [
      { id: 'r', role: 'assistant', parts: [approved] },
    ] as never)
    const hooks = { prepareStep: prepareStep(session, { tools: guarded }), onStepEnd: writeStep(session) }
    await generateText({ model: scripted([[said('Booked.')]]), tools: guarded, messages, ...hooks })
    expect(await roles(session)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  })

  it('asks for no context where nothing waits, and fails with what that fails with', async () => {
    const session = sessionOf()
    await session.append({ role: 'user', content: 'Hi' })
    const context = vi.spyOn(session, 'context').mockRejectedValue(new Error('disk'))
    const reply = (part: object) => [{ id: 'r', role: 'assistant', parts: [part] }] as never
    expect(await appendUIMessages(session, reply({ type: 'text', text: 'Hello.' }))).toEqual([])
    expect(context).not.toHaveBeenCalled()
    const done = { type: 'tool-book', toolCallId: 'c', state: 'output-available', input: {}, output: 1 }
    await expect(appendUIMessages(session, reply(done))).rejects.toThrow('disk')
  })

  it('tells the model of a refusal', async () => {
    const { session, model, say, send, change } = chat(
      [[called('c1', 'book', {})], [said('As you like.')]],
      guarded,
    )
    await say('Book it.')
    change((part) =>
      part.type === 'tool-book' && part.state === 'approval-requested'
        ? {
            ...part,
            state: 'approval-responded',
            approval: { ...part.approval, approved: false, reason: 'Too late.' },
          }
        : part,
    )
    await send()
    expect(await roles(session)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(model.requests[1]?.prompt.at(-1)).toMatchObject({
      content: [{ output: { type: 'error-text', value: 'Too late.' } }],
    })
  })

  it('appends no more than what is new, and what was answered already not again', async () => {
    const { session, say, messages } = chat([[search(1)], [said('At nine.')], [said('Sure.')]])
    await say('When does my train leave?')
    const append = vi.spyOn(session, 'append')
    await appendUIMessages(session, messages())
    expect(append).not.toHaveBeenCalled()
    await say('Thanks!')
    append.mockClear()
    const next: UIMessage = { id: 'u9', role: 'user', parts: [{ type: 'text', text: 'Bye' }] }
    await appendUIMessages(session, [...messages(), next])
    expect(append).toHaveBeenCalledTimes(1)
    await appendUIMessages(session, [...messages(), next])
    expect(append).toHaveBeenCalledTimes(1)
    expect((await session.history()).at(-1)).toMatchObject({ id: 'u9', role: 'user' })
  })

  it('takes a conversation that was there before into an empty log', async () => {
    const first = chat([[search(1)], [said('At nine.')]])
    await first.say('When?')
    const second = chat([[said('Yes.')]])
    for (const message of first.messages()) second.messages().push(message)
    await second.say('Really?')
    expect(await roles(second.session)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'assistant',
    ])
    for (const { prompt } of second.model.requests) expectPaired(prompt)
  })
})
