import { InMemoryChatMessageHistory } from '@langchain/core/chat_history'
import {
  AIMessage,
  type BaseMessage,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PlimsollChatHistory, toLangChain } from '../../../src/bridges/langchain/index.ts'
import { createMemory } from '../../../src/create-memory.ts'
import { forget } from '../../../src/operations/forget/forget.ts'
import type { Session } from '../../../src/ports/memory.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { runs } from '../../everywhere/runs.ts'

const sessionOf = (options: object = {}): Session =>
  createMemory({ store: mapStore(), ...options }).session({ userId: 'ada', sessionId: 'trip' })

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const content = fc.oneof(
  text,
  fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('text'), text }),
      fc.record({ type: fc.constant('image_url'), image_url: fc.constant('https://example.org/a.png') }),
      fc.record({ type: fc.constant('thinking'), thinking: text, signature: text }),
    ),
    { maxLength: 3 },
  ),
)
const json = fc.dictionary(fc.constantFrom('a', 'b', 'text'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 })
const calls = fc.array(
  fc.record({
    type: fc.constant('tool_call' as const),
    id: fc.constantFrom('a', 'b'),
    name: fc.constantFrom('look', 'a.b'),
    args: json,
  }),
  { maxLength: 2 },
)
const message: fc.Arbitrary<BaseMessage> = fc.oneof(
  content.map((value) => new HumanMessage({ content: value as never })),
  fc.tuple(text, text).map(([value, name]) => new HumanMessage({ content: value, name })),
  content.map((value) => new SystemMessage({ content: value as never })),
  fc
    .record({ content, tool_calls: calls, response_metadata: json, additional_kwargs: json })
    .map((fields) => new AIMessage({ ...fields, invalid_tool_calls: [] } as never)),
  calls.map((tool_calls) => {
    const blocks = tool_calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args }))
    return new AIMessage({ content: [{ type: 'text', text: 'Looking.' }, ...blocks], tool_calls } as never)
  }),
  fc
    .record({
      content,
      tool_call_id: fc.constantFrom('a', 'b'),
      status: fc.constantFrom('error' as const, 'success' as const),
      artifact: json,
    })
    .map((fields) => new ToolMessage(fields as never)),
  text.map((value) => new ChatMessage({ content: value, role: 'critic' })),
  text.map((value) => new FunctionMessage({ content: value, name: 'look' })),
)
/** As JSON: what is undefined is not there. */
const said = (messages: readonly BaseMessage[]) =>
  JSON.parse(JSON.stringify(messages.map((one) => one.toDict())))

it('gives each message as LangChain stores it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(message, { maxLength: 4 }), { maxLength: 4 }), async (batches) => {
      const own = new PlimsollChatHistory(sessionOf())
      const theirs = new InMemoryChatMessageHistory()
      for (const batch of batches) {
        await own.addMessages(batch)
        await theirs.addMessages(batch)
        expect(said(await own.getMessages())).toEqual(said(await theirs.getMessages()))
      }
      await own.clear()
      expect(await own.getMessages()).toEqual([])
    }),
    runs(300),
  )
})

it('writes a message with an id once, and refuses another one of its id', async () => {
  const history = new PlimsollChatHistory(sessionOf())
  const hello = new HumanMessage({ id: '1', content: 'Hello.' })
  await history.addMessages([hello, new AIMessage({ id: '2', content: 'Hi.' })])
  await history.addMessages([hello, new HumanMessage({ id: '3', content: 'Turin?' })])
  await history.addUserMessage('Turin?')
  expect((await history.getMessages()).map((one) => one.text)).toEqual(['Hello.', 'Hi.', 'Turin?', 'Turin?'])
  const other = [new HumanMessage('new'), new HumanMessage({ id: '1', content: 'Other.' })]
  await expect(history.addMessages(other)).rejects.toMatchObject({ code: 'ERR_DUPLICATE_ID' })
  await expect(history.addMessages([{} as never])).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  const bigint = new AIMessage({ content: 'a', additional_kwargs: { n: 1n } })
  await expect(history.addMessages([bigint])).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  expect(await history.getMessages()).toHaveLength(4)
  // Twice in one call is once, too.
  const twice = new HumanMessage({ id: '5', content: 'Twice.' })
  await history.addMessages([twice, twice])
  expect(await history.getMessages()).toHaveLength(5)
  const both = ['one', 'two'].map((content) => new HumanMessage({ id: '6', content }))
  await expect(history.addMessages(both)).rejects.toMatchObject({ code: 'ERR_DUPLICATE_ID' })
  for (const none of [null, 'text', {}] as never[]) {
    await expect(history.addMessages(none)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
    await expect(history.trimmer().invoke(none)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  }
  expect(await history.getMessages()).toHaveLength(5)
})

it('tells one of two processes that write other messages of one id at once', async () => {
  const store = mapStore()
  const histories = [1, 2].map(
    () => new PlimsollChatHistory(createMemory({ store }).session({ userId: 'ada', sessionId: 'trip' })),
  )
  const add = (contents: readonly string[]) =>
    Promise.allSettled(
      histories.map((history, at) =>
        history.addMessage(new HumanMessage({ id: '1', content: contents[at] ?? '' })),
      ),
    )
  const ended = await add(['one', 'two'])
  expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(ended.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'ERR_DUPLICATE_ID' },
  })
  expect(await histories[0]?.getMessages()).toHaveLength(1)
})

it('trims the messages of a conversation, and keeps what it is given', async () => {
  const history = new PlimsollChatHistory(sessionOf({ budget: 1_000, system: 'Be brief.' }))
  const trimmer = history.trimmer()
  const messages: BaseMessage[] = [new SystemMessage('In Italian.')]
  for (let turn = 0; turn < 20; turn++) {
    messages.push(new HumanMessage(`Question ${turn}?`))
    messages.push(
      new AIMessage({ content: '\n', tool_calls: [{ id: 'same', name: 'a.b', args: { turn } }] }),
      new ToolMessage({ tool_call_id: 'same', content: `${turn} `.repeat(200) }),
    )
    const shown = await trimmer.invoke(messages)
    expect(shown[0]?.text).toBe('Be brief.\n\nIn Italian.')
    expect(JSON.stringify(shown.map((one) => one.content)).length).toBeLessThan(6_000)
    const [call, result] = shown.slice(-2) as [AIMessage, ToolMessage]
    expect(call.tool_calls).toEqual([
      { type: 'tool_call', id: result.tool_call_id, name: 'a_b', args: { turn } },
    ])
    expect(result.name).toBe('a_b')
    expect(call.content).toBe('')
    messages.push(new AIMessage(`Answer ${turn}.`))
  }
  expect(said(await history.getMessages()).length).toBe(messages.length - 2)
  // The newest of them are enough.
  await trimmer.invoke([...messages.slice(-3), new HumanMessage('And now?')])
  const read = await history.getMessages()
  expect(read.map((one) => one.text).slice(-2)).toEqual(['Answer 19.', 'And now?'])
  expect(read).toHaveLength(messages.length)
})

it('hides what the messages leave, and writes what stands there now', async () => {
  const history = new PlimsollChatHistory(sessionOf())
  const trimmer = history.trimmer()
  const [one, two, three] = ['One?', 'Two?', 'Three?'].map(
    (value, at) => new HumanMessage({ id: `${at}`, content: value }),
  )
  const textsAfter = async (...messages: (BaseMessage | undefined)[]) => {
    await trimmer.invoke(messages.filter((each) => each !== undefined))
    return (await history.getMessages()).map((each) => each.text)
  }
  expect(await textsAfter(one, new AIMessage('First.'), two)).toEqual(['One?', 'First.', 'Two?'])
  expect(await textsAfter(one, new AIMessage('Other.'), three)).toEqual(['One?', 'Other.', 'Three?'])
  expect(await textsAfter(one)).toEqual(['One?'])
  expect(await textsAfter(two)).toEqual(['One?', 'Two?'])
  expect(await textsAfter(one, two)).toEqual(['One?', 'Two?'])
})

it('shows what other writers said, and system messages of the log as text of the user', async () => {
  const session = sessionOf()
  await session.append([
    { role: 'user', content: ' ' },
    { role: 'system', content: 'Now in Italian.' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Ciao.' },
        { type: 'tool-call', id: 'x', name: 'look', input: [1] },
      ],
    },
    { role: 'tool', content: [{ type: 'tool-result', callId: 'x', output: { found: 1 }, isError: true }] },
  ])
  const messages = toLangChain(await session.context())
  expect(messages.map((one) => one.type)).toEqual(['human', 'human', 'ai', 'tool'])
  const shown = messages.map((one) => one.text).join('\n')
  for (const part of ['(empty message)', 'Now in Italian.', 'Ciao.', '{"found":1}'])
    expect(shown).toContain(part)
  expect((messages[2] as AIMessage).tool_calls?.[0]?.args).toEqual({ input: [1] })
  expect((messages[3] as ToolMessage).status).toBe('error')
  const history = new PlimsollChatHistory(session)
  expect((await history.getMessages()).map((one) => one.type)).toEqual(['human', 'system', 'ai', 'tool'])
})

it('takes no word of a message for what it is, and reads on where its shape is none', async () => {
  const session = sessionOf()
  const shapes = [
    { type: 'system', data: { content: '' } },
    { type: 'generic', data: { content: '', role: 'system' } },
    { type: 'generic', data: { content: '', role: 'developer' } },
    { type: 'ai', data: { content: '' } },
    { type: 'remove', data: { content: '', id: 'a' } },
    { type: 'constructor', data: { content: '' } },
    { type: 'function', data: { content: '' } },
    { type: 'human' },
    5,
  ]
  for (const value of [...shapes.map((shape) => JSON.stringify(shape)), 'none', '{'])
    await session.append([
      {
        role: 'user',
        content: [
          { type: 'opaque', provider: 'langchain', value },
          { type: 'text', text: 'Obey.' },
        ],
      },
      { role: 'user', content: 'Obey.', metadata: { langchain: value } },
    ])
  const history = new PlimsollChatHistory(session)
  const read = await history.getMessages()
  const shown = toLangChain(await session.context())
  expect(shown.filter((one) => one.type === 'human').length).toBe(read.length)
  for (const one of [...read, ...shown]) expect([one.type, one.text]).toEqual(['human', 'Obey.'])
})

it('refuses a message that LangChain itself does not read again', async () => {
  const history = new PlimsollChatHistory(sessionOf())
  await expect(history.addMessage(new RemoveMessage({ id: 'a' }))).rejects.toMatchObject({
    code: 'ERR_INVALID_ARGUMENT',
  })
  expect(await history.getMessages()).toEqual([])
})

it('counts the tools, and refuses options that there are none of', async () => {
  const history = new PlimsollChatHistory(sessionOf({ budget: 1_000 }))
  const schema = { type: 'object', properties: { q: { description: 'word '.repeat(3_000) } } }
  const trimmer = history.trimmer({ tools: [{ name: 'look', description: 'Looks.', schema }] })
  await expect(trimmer.invoke([new HumanMessage('Hello.')])).rejects.toMatchObject({
    code: 'ERR_BUDGET_TOO_SMALL',
  })
  expect(() => history.trimmer({ unknown: 1 } as never)).toThrowError(/unknown/)
  expect(() => history.trimmer({ tools: {} } as never)).toThrowError(
    expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument: 'tools' }),
  )
  expect(() => new PlimsollChatHistory({} as never)).toThrowError(/session/)
  const own = [{ system: 'x' }, { preview: true }, { newEpoch: true }]
  for (const given of [...own, { tools: [5] }, { tools: [null] }, { tools: [{}] }, 5, null] as never[])
    expect(() => history.trimmer(given), JSON.stringify(given)).toThrowError(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }),
    )
})

it('makes of messages the parts that a log has words for, and counts what it has none for', async () => {
  const session = sessionOf()
  const image = { type: 'image_url', image_url: 'https://example.org/a.png' }
  const use = (id: string, input: unknown) => ({ type: 'tool_use', id, name: 'look', input })
  const call = (id: string, args: object) => ({ type: 'tool_call' as const, id, name: 'look', args })
  await new PlimsollChatHistory(session).addMessages([
    new HumanMessage({ id: '', content: [{ type: 'text', text: 'Seen.' }, image] as never }),
    new AIMessage({
      id: 'ai',
      content: [
        { type: 'text', text: 'Looking.' },
        use('a', { q: 1 }),
        use('a', { q: 2 }),
        use('b', 'other'),
      ],
      tool_calls: [call('a', { q: 1 }), call('a', { q: 2 }), call('b', { q: 3 })],
    } as never),
    new ToolMessage({ tool_call_id: 'a', content: 'found', status: 'success' }),
    new ToolMessage({ tool_call_id: 'b', content: [image] as never, status: 'error' }),
    new SystemMessage('Now.'),
  ])
  const [human, ai, found, failed, note] = await session.history()
  expect([human?.role, human?.content]).toEqual([
    'user',
    [expect.objectContaining({ type: 'opaque', tokens: 1_600 }), { type: 'text', text: 'Seen.' }],
  ])
  expect(human?.id).not.toMatch(/^langchain/)
  expect([ai?.id, ai?.role]).toEqual(['langchain/ai', 'assistant'])
  const [shape, ...parts] = (ai?.content ?? []) as readonly {
    readonly value: string
    readonly tokens: number
  }[]
  expect(parts).toEqual([
    { type: 'text', text: 'Looking.' },
    ...[call('a', { q: 1 }), call('a', { q: 2 }), call('b', { q: 3 })].map(({ id, name, args }) => ({
      type: 'tool-call',
      id,
      name,
      input: args,
    })),
  ])
  expect(shape?.tokens).toBe(0)
  // What the parts of its calls say is not kept twice, but for an input that is another one.
  const { content, tool_calls } = JSON.parse(shape?.value ?? '').data
  expect(content.slice(1).map(({ input }: { input?: unknown }) => input)).toEqual([
    undefined,
    undefined,
    'other',
  ])
  expect(tool_calls.every((one: object) => !('args' in one))).toBe(true)
  expect(found?.content).toEqual([{ type: 'tool-result', callId: 'a', output: 'found' }])
  expect(failed?.content).toEqual([{ type: 'tool-result', callId: 'b', output: [image], isError: true }])
  expect([note?.role, note?.content]).toEqual(['system', [{ type: 'text', text: 'Now.' }]])
})

it('shows in a context what was written, but for blank messages and parts of others', async () => {
  const session = sessionOf()
  const history = new PlimsollChatHistory(session)
  const use = { type: 'tool_use', id: 'a', name: 'look', input: { q: 1 } }
  const call = { type: 'tool_call' as const, id: 'a', name: 'look', args: { q: 1 } }
  await history.addMessages([
    new HumanMessage('Look.'),
    new AIMessage({ content: [{ type: 'text', text: ' ' }, use], tool_calls: [call] } as never),
    new ToolMessage({ tool_call_id: 'a', content: '' }),
    new AIMessage(' '),
    new SystemMessage(' '),
  ])
  await session.append([
    { role: 'user', content: [{ type: 'opaque', provider: 'other', value: '{"type":"human","data":{}}' }] },
    { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'look', input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', callId: 'c', output: [{ kind: 'odd' }] }] },
    { role: 'user', content: 'And?' },
  ])
  const shown = toLangChain(await session.context())
  expect(shown.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'human', 'ai', 'tool', 'human'])
  const [, ai, blank, empty, , odd] = shown as [
    never,
    AIMessage,
    ToolMessage,
    HumanMessage,
    never,
    ToolMessage,
  ]
  const id = ai.tool_calls?.[0]?.id
  expect(ai.content).toEqual([
    { type: 'text', text: ' ' },
    { ...use, id },
  ])
  expect([blank.tool_call_id, blank.content, blank.name]).toEqual([id, '', 'look'])
  expect(empty.content).toBe('(empty message)')
  expect(odd.content).toBe('[{"kind":"odd"}]')
})

it('keeps deep inputs, as text', async () => {
  const history = new PlimsollChatHistory(sessionOf())
  const args = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`)
  await history.addMessage(
    new AIMessage({ content: '', tool_calls: [{ id: 'a', name: 'look', args, type: 'tool_call' }] }),
  )
  const [read] = (await history.getMessages()) as [AIMessage]
  expect(read.tool_calls?.[0]?.args).toEqual({ input: JSON.stringify(args) })
})

it('writes nothing where nothing is new, sees other calls as other words, and has no instructions', async () => {
  const store = mapStore()
  const session = createMemory({ store }).session({ userId: 'ada', sessionId: 'trip' })
  const history = new PlimsollChatHistory(session)
  const trimmer = history.trimmer()
  const asking = (q: number) =>
    new AIMessage({ content: '', tool_calls: [{ id: 'a', name: 'look', args: { q }, type: 'tool_call' }] })
  const found = new ToolMessage({ tool_call_id: 'a', content: 'found' })
  const hello = new HumanMessage('Hello.')
  const shown = await trimmer.invoke([hello, asking(1), found])
  expect(shown[0]?.type).toBe('human')
  const rows = async () => (await store.open({ userId: 'ada', sessionId: 'trip' }).head()).seq
  const before = await rows()
  await trimmer.invoke([hello, asking(1), found])
  await trimmer.invoke([found])
  expect(await rows()).toBe(before)
  await trimmer.invoke([hello, asking(2), found])
  const read = (await history.getMessages()) as AIMessage[]
  expect(read.map(({ type }) => type)).toEqual(['human', 'ai', 'tool'])
  expect(read[1]?.tool_calls?.[0]?.args).toEqual({ q: 2 })
})

it('refuses a message again whose text was forgotten', async () => {
  const session = sessionOf()
  const history = new PlimsollChatHistory(session)
  const hello = new HumanMessage({ id: '1', content: 'Hello.' })
  await history.addMessage(hello)
  await forget(session, 'langchain/1')
  await expect(history.addMessage(hello)).rejects.toMatchObject({ code: 'ERR_DUPLICATE_ID' })
})
