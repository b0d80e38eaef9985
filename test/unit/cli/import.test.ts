import {
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  type StoredMessage,
} from '@langchain/core/messages'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toUIMessages } from '../../../src/bridges/ai-sdk/index.ts'
import { PlimsollChatHistory } from '../../../src/bridges/langchain/index.ts'
import { type Message, mapStore, PlimsollError } from '../../../src/index.ts'
import { partsOf, textOf } from '../../../src/kernel/log/message.ts'
import { readBranches, switchTo } from '../../../src/operations/branches.ts'
import { listSessions } from '../../../src/operations/sessions.ts'
import { exportFrom } from '../../../src/operations/transfer/export.ts'
import { importInto } from '../../../src/operations/transfer/import.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { chatGPT } from '../support/chatgpt.ts'
import { claude } from '../support/claude.ts'
import { jsonl, plimsoll } from '../support/command.ts'
import { runs } from '../support/runs.ts'

const ADA = { userId: 'ada' }

const word = fc.constantFrom('', 'x', 'y', 'x-2', '__proto__', 'constructor', '\ud83d', 'T'.repeat(300), '\0')
const role = fc.constantFrom('user', 'human', 'assistant', 'ai', 'tool', 'system', 'boss', 5, null)
const id = fc.constantFrom<unknown>('a', 'b', 'c', 5, null, undefined, `import/${'0'.repeat(64)}`)
const anything = fc.oneof(
  { weight: 3, arbitrary: fc.constant('Hi.') },
  fc.json({ maxDepth: 3 }).map((text): unknown => JSON.parse(text)),
  fc.constantFrom<unknown>('\ud83d half', null, [{ type: 'text', text: 'Hi.' }], [null], { length: 3 }),
)
const time = fc.constantFrom<unknown>(1e300, -1e15, 0, '2026-10-01', 'never', null)
const hostileMessages = fc.array(
  fc.oneof(
    fc.record({ role, content: anything, id, createdAt: time }, { requiredKeys: ['role', 'content'] }),
    fc.record({ type: role, data: fc.record({ content: anything, id, tool_calls: anything }) }),
    fc.record({ role, id, parts: fc.array(fc.record({ type: word, text: anything })) }),
    anything,
  ),
  { maxLength: 5 },
)
const claudeMessages = fc.array(
  fc.record({
    ...{ uuid: id, sender: role, text: anything, content: anything, created_at: time },
    parent_message_uuid: id,
  }),
  { maxLength: 5 },
)
const nodes = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', 'd'),
  fc.record({
    parent: id,
    children: fc.array(id),
    message: fc.record({
      ...{ id, author: fc.record({ role }), recipient: word, create_time: time },
      content: fc.record({ parts: fc.array(anything, { maxLength: 2 }) }),
    }),
  }),
)
const hostileConversation = fc.oneof(
  fc.record({ id: word, title: word, messages: hostileMessages }, { requiredKeys: ['messages'] }),
  fc.record({ uuid: word, name: word, chat_messages: claudeMessages, current_leaf_message_uuid: id }),
  fc.record({ conversation_id: word, mapping: nodes, current_node: id }),
  anything,
)
/** Files that nobody wrote with care. */
const hostileFiles = fc.oneof(
  hostileMessages,
  hostileConversation,
  fc.array(hostileConversation, { maxLength: 4 }),
  fc.record({ conversations: fc.array(hostileConversation, { maxLength: 4 }) }),
  fc.record({ conversations: fc.dictionary(word, hostileConversation) }),
)

/** What a memory holds after it imported what the command gave, twice. */
async function imported(out: string): Promise<{ readonly [sessionId: string]: readonly Message[] }> {
  const memory = fullMemory({ store: mapStore(), budget: 4_000 })
  const { skipped, conflicts } = await importInto(memory, ADA, [out])
  expect([skipped.count, conflicts.count]).toEqual([0, 0])
  const again = await importInto(memory, ADA, [out])
  expect(Object.values(again.parts).map(({ written }) => written)).toEqual([0, 0, 0, 0])
  const sessions = await listSessions(memory, ADA)
  const histories = sessions.map(async ({ sessionId }) => [
    sessionId,
    await memory.session({ ...ADA, sessionId }).history(),
  ])
  return Object.fromEntries(await Promise.all(histories))
}

function shown(messages: readonly Message[] | undefined): unknown {
  return messages?.map(({ role, content, createdAt, trust }) => [role, content, createdAt, trust])
}

/** What is said in versions that do not show. */
async function olderIn(out: string, sessionId: string): Promise<readonly string[]> {
  const memory = fullMemory({ store: mapStore(), budget: 4_000 })
  await importInto(memory, ADA, [out])
  const session = memory.session({ ...ADA, sessionId })
  const [branch] = await readBranches(session)
  const ids = branch?.versions ?? []
  const shows = (await session.history()).map(({ id }) => id)
  await switchTo(session, ids.find((id) => !shows.includes(id)) ?? '')
  const [first, ...older] = await session.history()
  expect(first?.role).toBe('user')
  return older.map(textOf)
}

describe('plimsoll import', () => {
  test('turns a log of a message a line into an export, in which nobody is more than an import', async () => {
    const file = jsonl(
      { role: 'human', content: 'Book the 9:40.', timestamp: '2026-10-01T08:00:00Z' },
      { role: 'ai', content: [{ type: 'text', text: 'Booked.' }], timestamp: 1_790_841_601 },
      { role: 'user', content: 'Thanks.' },
    )
    const { status, out, err } = await plimsoll(['import', 'logs/trip.jsonl'], { 'logs/trip.jsonl': file })
    expect({ status, err }).toEqual({ status: 0, err: 'plimsoll: 3 messages of 1 sessions, 0 left out\n' })
    expect(shown((await imported(out)).trip)).toEqual([
      ['user', 'Book the 9:40.', 1_790_841_600_000, 'import'],
      ['assistant', 'Booked.', 1_790_841_601_000, 'import'],
      ['user', 'Thanks.', 1_790_841_601_000, 'import'],
    ])
    expect((await plimsoll(['import', '-', '--session', 'trip'], { '-': file })).out).toBe(out)
  })

  test('gives sessions titles and ids that a memory takes, whatever the file calls them', async () => {
    const messages = [{ role: 'user', content: 'Hi.' }]
    const file = JSON.stringify([
      { id: 'long', title: 'T😀'.repeat(90), messages },
      { id: 'half', title: 'half \ud83d of one', messages },
      { id: 'x'.repeat(300), title: 'an id that is too long', messages },
      { id: 'good', title: 'Rain', messages },
    ])
    const files = { 'all.json': file }
    const { status, out, err } = await plimsoll(['import', 'all.json'], files)
    expect([status, err]).toEqual([0, 'plimsoll: 4 messages of 4 sessions, 0 left out\n'])
    expect(Object.keys(await imported(out))).toEqual(expect.arrayContaining(['good', 'half', 'long']))
    expect((await plimsoll(['import', 'all.json', '--dry-run'], files)).status).toBe(0)
  })

  test('takes a file of one user in the shapes of others, with calls and results', async () => {
    const openai = [
      { role: 'user', content: 'How is the weather?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"in":"Turin"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'Rain.' },
      { role: 'assistant', content: 'It rains.' },
    ]
    const langchain = [
      { type: 'human', data: { content: 'Hi.' } },
      { lc: 1, id: ['langchain', 'schema', 'AIMessage'], kwargs: { content: 'Hello.' } },
    ]
    const file = {
      user: 'ada',
      conversations: [
        { id: 'weather', title: 'Rain', messages: openai },
        { id: 'weather', history: langchain },
        { messages: [{ role: 'user', content: 'Alone.' }] },
      ],
    }
    const { status, out } = await plimsoll(['import', 'ada.json'], {
      'ada.json': JSON.stringify(file, null, 2),
    })
    expect(status).toBe(0)
    const sessions = await imported(out)
    expect(Object.keys(sessions)).toEqual(['ada-2', 'ada-3', 'weather'])
    expect(sessions['ada-2']?.map((message) => [message.role, textOf(message), message.createdAt])).toEqual([
      ['user', 'Hi.', 0],
      ['assistant', 'Hello.', 0],
    ])
    expect(sessions.weather?.map(({ role, trust }) => [role, trust])).toEqual([
      ['user', 'import'],
      ['assistant', 'import'],
      ['tool', 'tool'],
      ['assistant', 'import'],
    ])
    expect(JSON.stringify(sessions.weather?.[2]?.content)).toContain('Rain.')
    for (const one of [{ user: 'ada', history: langchain }, langchain]) {
      const { out } = await plimsoll(['import', 'x.json', '--from', 'json'], {
        'x.json': JSON.stringify(one),
      })
      expect(shown((await imported(out)).x)).toEqual(shown(sessions['ada-2']))
    }
  })

  test('takes what LangChain stores, so that its history gives back the same', async () => {
    const calls = [{ type: 'tool_call', id: 'c1', name: 'weather', args: { in: 'Turin' } }]
    const stored = [
      { type: 'system', data: { content: 'Be brief.', id: 'm0' } },
      { type: 'human', data: { content: [{ type: 'text', text: 'Rain?' }], id: 'm1', name: 'Ada' } },
      { type: 'ai', data: { content: '', id: 'm2', tool_calls: calls, response_metadata: { model: 'x' } } },
      {
        type: 'tool',
        data: { content: 'No.', tool_call_id: 'c1', status: 'error', id: 'm3', artifact: [1] },
      },
      { type: 'ai', data: { content: 'It does not.', id: 'm4', usage_metadata: { input_tokens: 3 } } },
    ]
    const messages = mapStoredMessagesToChatMessages(stored as unknown as StoredMessage[])
    const memory = fullMemory({ store: mapStore(), budget: 4_000 })
    // As its histories keep them, and as JSON.stringify makes of them.
    for (const [sessionId, file] of Object.entries({ stored, plain: messages })) {
      const { status, out, err } = await plimsoll(['import', `${sessionId}.json`], {
        [`${sessionId}.json`]: JSON.stringify(file),
      })
      expect({ status, err }).toEqual({ status: 0, err: 'plimsoll: 5 messages of 1 sessions, 0 left out\n' })
      await importInto(memory, ADA, [out])
      const history = new PlimsollChatHistory(memory.session({ ...ADA, sessionId }))
      const read = await history.getMessages()
      expect(mapChatMessagesToStoredMessages(read)).toEqual(mapChatMessagesToStoredMessages(messages))
      // What it knows is written once.
      await history.addMessages(messages)
      expect((await history.getMessages()).length).toBe(5)
    }
  })

  test('takes calls of LangChain that only OpenAI’s own form of them has', async () => {
    const tool_calls = [
      { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"in":"Turin"}' } },
    ]
    const file = [
      { type: 'human', content: 'Rain?' },
      { type: 'ai', data: { content: '', additional_kwargs: { tool_calls } } },
      { type: 'tool', data: { content: 'No.', tool_call_id: 'c1' } },
    ]
    const { out } = await plimsoll(['import', 'x.json'], { 'x.json': JSON.stringify(file) })
    const history = (await imported(out)).x ?? []
    expect(history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(partsOf(history[1] as Message)).toContainEqual({
      ...{ type: 'tool-call', id: 'c1', name: 'weather', input: { in: 'Turin' } },
    })
  })

  test('takes what the AI SDK stores, so that its chat shows the same', async () => {
    const chat = [
      {
        id: 'u1',
        role: 'user',
        metadata: { createdAt: 1_790_841_600_000 },
        parts: [{ type: 'text', text: 'Rain?' }],
      },
      {
        id: 'a1',
        role: 'assistant',
        parts: [
          { type: 'step-start' },
          { type: 'reasoning', text: 'Look.', state: 'done' },
          {
            type: 'tool-weather',
            toolCallId: 'c1',
            state: 'output-available',
            input: { in: 'Turin' },
            output: 'No.',
          },
          { type: 'step-start' },
          { type: 'text', text: 'It does not.', state: 'done' },
          { type: 'source-url', sourceId: 's', url: 'https://example.com/' },
        ],
      },
    ]
    const { status, out } = await plimsoll(['import', 'chats.json'], {
      'chats.json': JSON.stringify([{ id: 'rain', title: 'Rain', messages: chat }]),
    })
    expect(status).toBe(0)
    const { rain = [] } = await imported(out)
    expect(toUIMessages(rain)).toEqual(chat)
    expect(rain[0]?.createdAt).toBe(1_790_841_600_000)
    // Nothing names them: then their place does.
    const unnamed = chat.map(({ id: _, ...message }) => message)
    const again = await plimsoll(['import', 'x.json'], { 'x.json': JSON.stringify(unnamed) })
    expect(toUIMessages((await imported(again.out)).x ?? []).map(({ parts }) => parts)).toEqual(
      chat.map(({ parts }) => parts),
    )
  })

  test('takes messages for models of the AI SDK', async () => {
    const file = [
      { role: 'user', content: [{ type: 'text', text: 'Rain?' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: { in: 'Turin' } }],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'weather',
            output: { type: 'text', value: 'No.' },
          },
        ],
      },
    ]
    const { out } = await plimsoll(['import', 'x.json'], { 'x.json': JSON.stringify({ messages: file }) })
    const { x: history = [] } = await imported(out)
    expect(history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(partsOf(history[1] as Message)[0]).toMatchObject({
      type: 'tool-call',
      id: 'c1',
      input: { in: 'Turin' },
    })
    expect(partsOf(history[2] as Message)[0]).toMatchObject({
      type: 'tool-result',
      callId: 'c1',
      output: 'No.',
    })
  })

  test('takes what Claude exports, with files, calls and older answers', async () => {
    const { status, out, err } = await plimsoll(['import', 'conversations.json'], {
      'conversations.json': JSON.stringify([claude]),
    })
    expect({ status, err }).toEqual({
      status: 0,
      err: 'plimsoll: 5 messages of 1 sessions, older versions 1, 0 left out\n',
    })
    const { 'c-9': history = [] } = await imported(out)
    expect(history.map(({ role, createdAt }) => [role, new Date(createdAt).getUTCSeconds()])).toEqual([
      ['user', 1],
      ['assistant', 2],
      ['tool', 2],
      ['assistant', 2],
    ])
    expect(await olderIn(out, 'c-9')).toEqual(['I do not know.'])
  })

  test('of Claude keeps what it has no word for, and pairs calls that have no names', async () => {
    const content = [
      { type: 'tool_use', name: 'timetable', input: {} },
      { type: 'tool_result', name: 'timetable', content: [{ type: 'image', file: 'x' }], is_error: true },
      { type: 'widget', html: '<b>' },
    ]
    const chat_messages = [
      { uuid: 'm-1', sender: 'human', text: 'Hi.' },
      { uuid: 'm-2', sender: 'assistant', text: '', content },
    ]
    const { out } = await plimsoll(['import', 'x.json'], { 'x.json': JSON.stringify({ chat_messages }) })
    const { x: history = [] } = await imported(out)
    expect(history.flatMap((message) => partsOf(message))).toEqual([
      { type: 'text', text: 'Hi.' },
      { type: 'tool-call', id: 'm-2/0', name: 'timetable', input: {} },
      { type: 'tool-result', callId: 'm-2/0', output: content[1]?.content, isError: true },
      { type: 'opaque', provider: 'claude', value: content[2] },
    ])
  })

  test('of Claude leaves out blocks that say nothing or are none, and keeps results that are no list', async () => {
    const content = [
      ...[null, { type: 'text', text: '' }, { type: 'text', text: 'Look.' }],
      { type: 'tool_use', id: 't', name: 'look', input: {} },
      { type: 'tool_result', tool_use_id: 't', content: 'Rain.' },
    ]
    const chat_messages = [{ uuid: 'm', sender: 'assistant', text: '', content }]
    const { out, err } = await plimsoll(['import', 'x.json'], { 'x.json': JSON.stringify({ chat_messages }) })
    expect(err).toBe('plimsoll: 2 messages of 1 sessions, 0 left out\n')
    const { x: history = [] } = await imported(out)
    expect(history.flatMap((message) => partsOf(message))).toEqual([
      { type: 'text', text: 'Look.' },
      { type: 'tool-call', id: 't', name: 'look', input: {} },
      { type: 'tool-result', callId: 't', output: 'Rain.' },
    ])
  })

  test('only says what a file has, in a dry run', async () => {
    const files = { 'conversations.json': JSON.stringify([chatGPT, { ...chatGPT, conversation_id: 'c-2' }]) }
    const argv = ['import', 'conversations.json', '--dry-run']
    const none = async () => {
      throw new Error('nothing is to be sent')
    }
    for (const more of [[], ['--url', 'https://edge.test', '--token', 'x']]) {
      const { status, out, err, written } = await plimsoll([...argv, ...more], files, undefined, {
        fetch: none,
      })
      const line = '"Tea": user 1, assistant 4, tool 1, older versions 1'
      expect([status, out]).toEqual([0, `"c-1" ${line}\n"c-2" ${line}\n`])
      expect(err).toBe(
        'plimsoll: 12 messages of 2 sessions, older versions 2, 0 left out; a dry run: nothing was written\n',
      )
      expect(written).toEqual({})
    }
    for (const more of [
      ['--to', 'x'],
      ['--format', 'jsonl'],
    ])
      expect(await plimsoll([...argv, ...more], files)).toMatchObject({ status: 2, out: '' })
    const bad = { 'x.jsonl': jsonl({ role: 'user', content: 'Hi.' }, { role: 'boss', content: '?' }) }
    expect(await plimsoll(['import', 'x.jsonl', '--dry-run'], bad)).toMatchObject({
      status: 1,
      out: '"x" "": user 1\n',
    })
    const { out } = await plimsoll(['import', 'conversations.json'], files)
    const sent = await plimsoll(
      ['import', '-', '--dry-run', '--url', 'https://edge.test'],
      { '-': out },
      undefined,
      {
        fetch: none,
      },
    )
    expect(sent).toMatchObject({ status: 0, out: expect.stringContaining('log 14') })
  })

  test('takes what ChatGPT exports: each conversation with its older versions', async () => {
    const other = { ...chatGPT, conversation_id: 'c-2' }
    for (const indent of [0, 2]) {
      const file = JSON.stringify([chatGPT, other], null, indent)
      const { status, out } = await plimsoll(['import', 'conversations.json'], { 'conversations.json': file })
      expect(status).toBe(0)
      const sessions = await imported(out)
      expect(Object.keys(sessions).toSorted()).toEqual(['c-1', 'c-2'])
      expect(sessions['c-1']?.map(({ role, createdAt }) => [role, createdAt])).toEqual(
        ['user', 'assistant', 'tool', 'assistant'].map((role) => [role, 1_760_000_000_500]),
      )
      // Reasoning alone shows nothing, and is in the log.
      expect(textOf(sessions['c-1']?.at(-1) as Message)).toBe('Green tea.')
      expect(out).toContain('Which tea?')
      expect(await olderIn(out, 'c-1')).toEqual(['Another branch'])
    }
  })

  test('of ChatGPT pairs results with calls, version by version, and counts what is hidden or empty', async () => {
    const node = (id: string, parent: string | null, role: string, parts: unknown, more: object = {}) => ({
      [id]: { parent, message: { id, author: { role, name: 'browser' }, content: { parts }, ...more } },
    })
    const mapping = {
      ...node('a', null, 'user', ['Tea?', { text: 'Green.' }, { content_type: 'image' }, null]),
      ...node('b', 'a', 'assistant', ['look()'], { recipient: 'browser' }),
      ...node('c1', 'b', 'tool', ['Old.']),
      ...node('c2', 'b', 'tool', ['New.']),
      ...node('d', 'c2', 'tool', ['More.']),
      ...node('e', 'd', 'user', ['Secret.'], { metadata: { is_visually_hidden_from_conversation: true } }),
      ...node('f', 'e', 'user', [], { content: null }),
    }
    const files = { 'x.json': JSON.stringify({ mapping, current_node: 'f' }) }
    const { out, err } = await plimsoll(['import', 'x.json'], files)
    expect(err).toBe(
      'plimsoll: 5 messages of 1 sessions, older versions 1, hidden or empty there 2, 0 left out\n',
    )
    const { x: history = [] } = await imported(out)
    expect(history.flatMap((message) => partsOf(message))).toEqual([
      { type: 'text', text: 'Tea?\nGreen.\n[image]' },
      { type: 'tool-call', id: 'b', name: 'browser', input: 'look()' },
      { type: 'tool-result', callId: 'b', output: 'New.' },
      { type: 'text', text: '[browser] More.' },
    ])
  })

  test('gives the same bytes again, and goes on with a log that grew', async () => {
    const lines = Array.from({ length: 5 }, (_, at) => ({
      role: at % 2 ? 'assistant' : 'user',
      content: `No ${at}.`,
    }))
    const [short, long] = await Promise.all(
      [3, 5].map(
        async (count) => (await plimsoll(['import', '-'], { '-': jsonl(...lines.slice(0, count)) })).out,
      ),
    )
    const memory = fullMemory({ store: mapStore(), budget: 4_000 })
    await importInto(memory, ADA, [short ?? ''])
    expect((await importInto(memory, ADA, [long ?? ''])).parts.log).toEqual({ written: 2, there: 3 })
    expect((await plimsoll(['import', '-'], { '-': jsonl(...lines) })).out).toBe(long)
  })

  test('names what it leaves out, and ends with status 1', async () => {
    const file = `${jsonl({ role: 'user', content: 'Hi.' }, { role: 'boss', content: '?' }, [], { role: 'user' })}{"ro`
    const { status, out, err } = await plimsoll(['import', 'x.jsonl'], { 'x.jsonl': file })
    expect(status).toBe(1)
    expect(err.match(/x\.jsonl line \d+/g)).toEqual([2, 3, 4, 5].map((line) => `x.jsonl line ${line}`))
    expect((await imported(out)).x?.length).toBe(1)
    const odd = await plimsoll(['import', 'x.json'], {
      'x.json': '[{"role":"user","content":"Hi."}, null, 5]',
    })
    expect(odd.err.match(/message \d: not a JSON object/g)).toHaveLength(2)
    for (const text of ['null', '', '{"a":1}', 'oops', '"text"', '{"conversations":[{}]}'])
      expect(await plimsoll(['import', 'x.json'], { 'x.json': text })).toMatchObject({ status: 1, out: '' })
  })

  test('imports the conversations that have messages, and names those that have none', async () => {
    const messages = [{ role: 'user', content: 'Hi.' }]
    const conversations = [
      { id: 'good', messages },
      { id: 'none', messages: 5 },
      null,
      { id: 'empty', messages: [] },
    ]
    const files = { 'x.json': JSON.stringify({ conversations }) }
    const { status, out, err } = await plimsoll(['import', 'x.json'], files)
    expect(status).toBe(1)
    expect(err).toBe(`plimsoll: x.json: conversation "none" has no "messages"
plimsoll: x.json: conversation "x-3" has no "messages"
plimsoll: 1 messages of 1 sessions, empty sessions 1, 2 left out
`)
    expect(Object.keys(await imported(out))).toEqual(['good'])
    expect(await plimsoll(['import', 'x.json', '--dry-run'], files)).toMatchObject({
      status: 1,
      out: '"good" "": user 1\n"empty" "": empty\n',
    })
    const nothing = await plimsoll(['import', 'x.json'], { 'x.json': '{"conversations":[]}' })
    expect(nothing).toMatchObject({ status: 0, err: 'plimsoll: 0 messages of 0 sessions, 0 left out\n' })
    for (const value of [{ conversations: [null] }, { a: 1 }]) {
      const none = await plimsoll(['import', 'x.json'], { 'x.json': JSON.stringify(value) })
      expect(none).toMatchObject({
        status: 1,
        out: '',
        err: expect.stringMatching(/^plimsoll: x\.json: import: /),
      })
    }
  })

  test('takes the messages of a file that has conversations too, and of roles that stand inside', async () => {
    const messages = [{ data: { role: 'user', content: 'Hi.' } }, { kwargs: { role: 'ai', content: 'Ho.' } }]
    const files = { 'x.json': JSON.stringify({ messages, sessions: [{ messages }] }) }
    const { out } = await plimsoll(['import', 'x.json'], files)
    expect((await imported(out)).x?.map(textOf)).toEqual(['Hi.', 'Ho.'])
  })

  test('says so, and gives nothing, where a file cannot be read to its end', async () => {
    const reading = (fault: Error) => ({
      lines: async function* () {
        yield '{"role":"user","content":"Hi."}'
        throw fault
      },
    })
    const files = { 'x.jsonl': ' ' }
    const argv = ['import', 'x.jsonl', '--dry-run']
    const refused = await plimsoll(
      argv,
      files,
      undefined,
      reading(new PlimsollError('ERR_DECRYPT', 'no key')),
    )
    expect(refused).toMatchObject({ status: 1, out: '', err: 'plimsoll: x.jsonl: no key\n' })
    await expect(plimsoll(argv, files, undefined, reading(new Error('torn')))).rejects.toThrow('torn')
  })

  test('takes names and ids that it would give itself', async () => {
    const hi = { role: 'user', content: 'Hi.' }
    const first = await plimsoll(['import', 'x.json'], { 'x.json': JSON.stringify([hi, hi]) })
    const [, made = ''] = [...first.out.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id)
    const { out } = await plimsoll(['import', 'x.json'], {
      'x.json': JSON.stringify([{ role: 'user', id: made, parts: [{ type: 'text', text: 'Hi.' }] }, hi]),
    })
    expect((await imported(out)).x?.length).toBe(2)
    const conversations = [{ id: 'x-2', messages: [hi] }, { messages: [hi] }]
    const named = await plimsoll(['import', 'x.json'], { 'x.json': JSON.stringify({ conversations }) })
    expect(Object.keys(await imported(named.out))).toEqual(['x-2', 'x-2-2'])
  })

  test('loses no message of Claude’s that follows itself', async () => {
    const said = (uuid: string, parent: string) => ({
      ...{ uuid, sender: 'human', text: `Say ${uuid}.`, parent_message_uuid: parent },
    })
    const chat_messages = [said('a', 'b'), said('b', 'a'), said('x', 'x'), said('z', 'none')]
    const files = { 'x.json': JSON.stringify({ chat_messages }) }
    const { status, out, err } = await plimsoll(['import', 'x.json'], files)
    expect([status, err]).toEqual([0, 'plimsoll: 4 messages of 1 sessions, older versions 2, 0 left out\n'])
    const order = [...out.matchAll(/Say (.)\./g)].map(([, id]) => id)
    expect(order).toEqual(['a', 'b', 'x', 'z'])
    expect((await imported(out)).x?.map(textOf)).toEqual(['Say z.'])
  })

  test('writes what can be imported, whatever the file holds, and a dry run says the same', async () => {
    await fc.assert(
      fc.asyncProperty(hostileFiles, async (value) => {
        const files = { 'x.json': JSON.stringify(value) }
        const { status, out, err } = await plimsoll(['import', 'x.json', '--from', 'json'], files)
        const dry = await plimsoll(['import', 'x.json', '--from', 'json', '--dry-run'], files)
        expect(dry.status).toBe(status)
        if (out === '') return
        expect(dry.err).toBe(err.replace(/\n$/, '; a dry run: nothing was written\n'))
        const memory = fullMemory({ store: mapStore(), budget: 4_000 })
        const { skipped, conflicts, messages } = await importInto(memory, ADA, [out])
        expect([skipped.count, conflicts.count]).toEqual([0, 0])
        expect(err).toContain(`plimsoll: ${messages.written} messages of `)
      }),
      runs(200),
    )
  })

  test('names of an export what is there already, and what it refuses', async () => {
    const { out } = await plimsoll(['import', '-'], { '-': jsonl({ role: 'user', content: 'Hi.' }) })
    const lines = out.trimEnd().split('\n')
    const other = lines.slice(2, -1).map((line) => line.replace('Hi.', 'Ho.'))
    const doubled = [
      ...lines.slice(0, -1),
      ...other,
      JSON.stringify({ type: 'end', lines: lines.length + 1 }),
    ]
    const read = await plimsoll(['import', '-'], { '-': doubled.join('\n') })
    expect(read).toMatchObject({
      status: 1,
      err: 'plimsoll: standard input: log of session "input": another one is there\n',
    })
  })

  test('writes to a file, but never over its input', async () => {
    const file = { 'x.jsonl': jsonl({ role: 'user', content: 'Hi.' }) }
    const { status, out, written } = await plimsoll(['import', 'x.jsonl', '--to', 'y.jsonl'], file)
    expect({ status, out }).toEqual({ status: 0, out: '' })
    expect(Object.keys(await imported(`${written['y.jsonl']?.join('\n')}\n`))).toEqual(['x'])
    for (const argv of [
      ['x.jsonl', '--to', 'x.jsonl'],
      ['x.jsonl', '--to', 'sealed/y'],
      ['nowhere.jsonl'],
      ['x.jsonl', '--from', 'csv'],
      ['x.jsonl', 'y.jsonl'],
    ])
      expect(await plimsoll(['import', ...argv], file)).toMatchObject({ status: 2, out: '' })
  })

  test('says of an export whether it can be read', async () => {
    const { out } = await plimsoll(['import', '-'], { '-': jsonl({ role: 'user', content: 'Hi.' }) })
    const good = await plimsoll(['import', 'e.jsonl'], { 'e.jsonl': out })
    expect(good).toMatchObject({
      status: 0,
      out: 'e.jsonl: log 1, facts 0, profile 0, checkpoint 0; conflicts 0, skipped 0, lowered 0\n',
    })
    const bad = await plimsoll(['import', 'e.jsonl'], { 'e.jsonl': out.replace('"seq":1', '"seq":0') })
    expect(bad).toMatchObject({ status: 1, out: '', err: expect.stringMatching(/lines\[4\]: seq must be/) })
  })

  test('sends it to an edge, under the token of who gets it', async () => {
    const sent: { readonly url: string; readonly token: string | null; readonly body: unknown }[] = []
    const part = { written: 1, there: 0 }
    const answered = { parts: { log: part, facts: part, profile: part, checkpoint: part } }
    const none = { count: 0, first: [] }
    const fetch = async (url: string, init: RequestInit = {}) => {
      sent.push({ url, token: new Headers(init.headers).get('authorization'), body: init.body })
      return new Response(JSON.stringify({ ...answered, conflicts: none, skipped: none, lowered: none }))
    }
    const file = { '-': jsonl({ role: 'user', content: 'Hi.' }) }
    const { out } = await plimsoll(['import', '-'], file)
    const argv = ['import', '-', '--url', 'https://edge.test']
    const first = await plimsoll([...argv, '--token', 'secret'], file, undefined, { fetch })
    expect(first).toMatchObject({ status: 0, out: expect.stringContaining('log 1, facts 1') })
    const env = { PLIMSOLL_TOKEN: 'other' }
    await plimsoll([...argv, '--trust', 'user'], { '-': out }, undefined, { fetch, env })
    expect(sent.map(({ url, token }) => [url, token])).toEqual([
      ['https://edge.test/v1/me/import', 'Bearer secret'],
      ['https://edge.test/v1/me/import?trust=user', 'Bearer other'],
    ])
    expect(sent.map(({ body }) => String(body).trim())).toEqual([out.trim(), out.trim()])
    await plimsoll(argv, file, undefined, { fetch })
    expect(sent.at(-1)?.token).toBeNull()
    const refusing = async () => new Response('no', { status: 401 })
    const refused = await plimsoll([...argv, '--token', 'x'], file, undefined, { fetch: refusing })
    expect(refused).toMatchObject({ status: 1, err: expect.stringContaining('ERR_UNAUTHENTICATED') })
    for (const more of [
      ['--token', 'x', '--trust', 'keep'],
      ['--token', 'x', '--to', 'y'],
      ['--url', 'ftp://x', '--token', 'x'],
    ])
      expect(await plimsoll([...argv, ...more], file)).toMatchObject({ status: 2, out: '' })
    for (const [name, value] of [
      ['--token', 'x'],
      ['--trust', 'user'],
    ] as const)
      expect(await plimsoll(['import', '-', name, value], file)).toMatchObject({ status: 2 })
  })

  test('writes conversations as a file that people can read, of another program or of an export', async () => {
    const file = jsonl(
      { role: 'user', content: 'Book the 9:40.\n# Now', timestamp: '2026-10-01T08:00:00Z' },
      { role: 'assistant', content: 'Booked.', timestamp: '2026-10-01T08:01:00Z' },
    )
    const argv = ['import', 'trip.jsonl', '--format', 'markdown']
    const { status, out, err } = await plimsoll(argv, { 'trip.jsonl': file })
    expect({ status, err }).toEqual({ status: 0, err: 'plimsoll: 2 messages of 1 sessions, 0 left out\n' })
    expect(out).toBe(`# Memory

# Session trip

## user (2026-10-01 08:00 UTC, trust import)

> Book the 9:40.
> # Now

## assistant (2026-10-01 08:01 UTC, trust import)

> Booked.
`)
    const { written } = await plimsoll([...argv, '--to', 'trip.md'], { 'trip.jsonl': file })
    expect(`${written['trip.md']?.join('\n')}\n`).toBe(out)

    const memory = fullMemory({ store: mapStore(), budget: 4_000 })
    const session = memory.session({ ...ADA, sessionId: 'trip' })
    await session.commit({ messages: { role: 'user', content: 'Hi.' }, checkpoint: { step: 1 } })
    const lines: string[] = []
    for await (const line of exportFrom(memory, ADA)) lines.push(line)
    const read = await plimsoll(['import', '-', '--format', 'markdown'], { '-': lines.join('') })
    expect(read.out).toMatch(
      /## user \([^)]+\)\n\n> Hi\.\n[\s\S]*## Checkpoint\n\n> \{\n> {3}"step": 1\n> \}\n/,
    )
    const bad = await plimsoll(['import', '-', '--format', 'markdown'], { '-': lines[0] ?? '' })
    expect(bad).toMatchObject({ status: 1, err: expect.stringContaining('plimsoll: standard input: ') })
    for (const more of [
      ['--format', 'html'],
      ['--format', 'markdown', '--url', 'https://edge.test'],
    ])
      expect(await plimsoll(['import', '-', ...more], { '-': file })).toMatchObject({ status: 2, out: '' })
  })
})
