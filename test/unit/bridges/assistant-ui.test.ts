import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { toUIMessages } from '../../../src/bridges/ai-sdk/index.ts'
import { type MessageFormat, plimsollHistory } from '../../../src/bridges/assistant-ui/index.ts'
import { mapStore, PlimsollError, type Session, type Store } from '../../../src/index.ts'
import { partsOf, textOf } from '../../../src/kernel/log/message.ts'
import { forget } from '../../../src/operations/forget/forget.ts'
import { rewind } from '../../../src/operations/rewind.ts'
import type { ScopeStore } from '../../../src/ports/store.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { runs } from '../support/runs.ts'

interface Message {
  readonly id: string
  readonly role: 'user' | 'assistant' | 'system'
  readonly createdAt: Date
  readonly content: readonly { readonly type: string; readonly [field: string]: unknown }[]
  readonly [field: string]: unknown
}

const createdAt = new Date(1_790_000_000_000)
const text = (words: string) => ({ type: 'text', text: words })
const user = (id: string, words = id): Message => ({
  ...{ id, role: 'user', createdAt, content: [text(words)], attachments: [], metadata: { custom: {} } },
})
const assistant = (id: string, content: Message['content'] = [text(id)], more: object = {}): Message => ({
  ...{ id, role: 'assistant', createdAt, content, status: { type: 'complete', reason: 'stop' } },
  metadata: { custom: {}, steps: [], unstable_state: null },
  ...more,
})

let session: Session
/** What a page that was opened just now has. */
const opened = () => plimsollHistory<Message>(session)
const put = async (...items: readonly (readonly [Message, string | null])[]) => {
  for (const [message, parentId] of items) await opened().append({ message, parentId })
}
const shown = async () => (await session.history()).map(textOf)
const tree = async () => {
  const { headId, messages } = await opened().load()
  return [headId, ...messages.map(({ message, parentId }) => `${parentId ?? ''}>${message.id}`)]
}

beforeEach(() => {
  session = fullMemory({ store: mapStore(), budget: 8_000 }).session({ userId: 'ada', sessionId: 'trip' })
})

describe('a thread of assistant-ui', () => {
  it('begins empty', async () => {
    expect(await opened().load()).toEqual({ headId: null, messages: [] })
  })

  it('comes back as it was, and a model is shown what was said', async () => {
    const call = {
      ...{ type: 'tool-call', toolCallId: 'c1', toolName: 'weather', args: { in: 'Turin' } },
      argsText: '{"in": "Turin"}',
      result: { rain: true },
      artifact: [1],
    }
    const failed = {
      ...{
        type: 'tool-call',
        toolCallId: 'c2',
        toolName: 'weather',
        args: {},
        argsText: '{}',
        result: 'No.',
      },
      isError: true,
    }
    const messages = [
      {
        id: 's',
        role: 'system',
        createdAt,
        content: [text('Be brief. '.repeat(1_000))],
        metadata: { custom: {} },
      },
      { ...user('u', 'Rain?'), metadata: { custom: { place: 'Turin' } } },
      assistant('a', [
        { type: 'reasoning', text: 'Look.' },
        call,
        failed,
        { type: 'source', sourceType: 'url', id: 's1', url: 'https://example.com' },
        text(''),
        text('It rains.'),
      ]),
    ] as const
    await put([messages[0], null], [messages[1], 's'], [messages[2], 'u'])
    const { messages: read, headId } = await opened().load()
    expect(headId).toBe('a')
    expect(read).toEqual([
      { message: messages[0], parentId: null },
      { message: messages[1], parentId: 's' },
      { message: messages[2], parentId: 'u' },
    ])
    const { blocks } = await session.context()
    const sent = JSON.stringify(blocks)
    for (const words of ['Rain?', 'It rains.', '"rain":true', 'No.']) expect(sent).toContain(words)
    expect(sent).not.toContain('data-assistant-ui')
  })

  it('has edits and replies that were made again as versions', async () => {
    await put([user('u1'), null], [assistant('a1'), 'u1'], [user('u2'), 'a1'], [assistant('a2'), 'u2'])
    await put([assistant('a3'), 'u2'])
    expect(await shown()).toEqual(['u1', 'a1', 'u2', 'a3'])
    await put([user('u4'), 'a1'], [assistant('a4'), 'u4'])
    expect(await shown()).toEqual(['u1', 'a1', 'u4', 'a4'])
    expect((await tree()).toSorted()).toEqual([
      '>u1',
      'a1>u2',
      'a1>u4',
      'a4',
      'u1>a1',
      'u2>a2',
      'u2>a3',
      'u4>a4',
    ])
    // Said under an answer that does not show: it shows then.
    await put([user('u5'), 'a2'])
    expect(await shown()).toEqual(['u1', 'a1', 'u2', 'a2', 'u5'])
    await put([user('u6'), null])
    expect(await shown()).toEqual(['u6'])
    await put([assistant('a6'), 'a4'])
    expect(await shown()).toEqual(['u1', 'a1', 'u4', 'a4', 'a6'])
  })

  it('is what a tree of versions is, whatever is said under what', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { minLength: 1, maxLength: 8 }), async (picks) => {
        session = fullMemory({ store: mapStore(), budget: 8_000 }).session({
          userId: 'ada',
          sessionId: 'trip',
        })
        const parents: (string | null)[] = []
        for (const [place, pick] of picks.entries()) {
          const parent = pick % (place + 1)
          parents.push(parent === 0 ? null : `m${parent - 1}`)
          const made = place % 2 === 0 ? user(`m${place}`) : assistant(`m${place}`)
          await put([made, parents[place] ?? null])
          const path: string[] = []
          for (let at: string | null = `m${place}`; at; at = parents[Number(at.slice(1))] ?? null)
            path.unshift(at)
          expect(await shown()).toEqual(path)
        }
        const { messages } = await opened().load()
        const seen = new Set<string | null>([null])
        for (const { message, parentId } of messages) {
          expect(seen).toContain(parentId)
          expect(parents[Number(message.id.slice(1))]).toBe(parentId)
          seen.add(message.id)
        }
        expect(seen.size).toBe(picks.length + 1)
      }),
      runs(30),
    )
  })

  it('takes another state of a message in its place, and keeps what follows it', async () => {
    const asked = { type: 'tool-call', toolCallId: 'c1', toolName: 'buy', args: {}, argsText: '{}' }
    const waits = assistant('a1', [asked], { status: { type: 'requires-action', reason: 'tool-calls' } })
    await put([user('u1'), null], [waits, 'u1'])
    await expect(session.context()).rejects.toMatchObject({ code: 'ERR_TOOL_PENDING' })
    const done = assistant('a1', [{ ...asked, result: 'Bought.' }, text('Bought it.')])
    await opened().update({ message: done, parentId: 'u1' })
    expect((await opened().load()).messages.map(({ message }) => message)).toEqual([user('u1'), done])
    await put([user('u2'), 'a1'], [assistant('a2'), 'u2'])
    await put([assistant('a3'), 'u2'])
    const later = assistant('a1', [{ ...asked, result: 'Refunded.' }, text('Bought it.')])
    await opened().update({ message: later, parentId: 'u1' })
    expect(await shown()).toContain('a3')
    expect((await shown()).at(-1)).toBe('a3')
    expect((await opened().load()).messages.map(({ message }) => message)).toContainEqual(later)
    expect(JSON.stringify((await session.context()).blocks)).toContain('Refunded.')
    // One that does not show now.
    const older = assistant('a2', [text('Older.')])
    await opened().update({ message: older, parentId: 'u2' })
    expect((await shown()).at(-1)).toBe('a3')
    expect((await opened().load()).messages.map(({ message }) => message)).toContainEqual(older)
    const head = await session.history()
    await opened().update({ message: later, parentId: 'u1' })
    await opened().append({ message: assistant('a3'), parentId: 'u2' })
    expect(await session.history()).toEqual(head)
  })

  it('writes in order what a runtime writes at once, and refuses what follows nothing', async () => {
    const history = opened()
    await Promise.all([
      history.append({ message: user('u1'), parentId: null }),
      history.append({ message: assistant('a1'), parentId: 'u1' }),
      history.append({ message: user('u2'), parentId: 'a1' }),
    ])
    expect(await shown()).toEqual(['u1', 'a1', 'u2'])
    const late = history.append({ message: assistant('a2'), parentId: 'u2' })
    expect((await history.load()).headId).toBe('a2')
    await late
    await expect(history.append({ message: user('u9'), parentId: 'nobody' })).rejects.toMatchObject({
      code: 'ERR_NOT_FOUND',
    })
    await history.append({ message: assistant('a2'), parentId: 'u2' })
    expect(await shown()).toEqual(['u1', 'a1', 'u2', 'a2'])
  })

  it('goes on from a reply that says nothing, and in its place', async () => {
    await put([user('u1'), null], [assistant('a1', []), 'u1'])
    expect(await tree()).toEqual(['a1', '>u1', 'u1>a1'])
    await put([assistant('a2'), 'u1'])
    expect(await tree()).toEqual(['a2', '>u1', 'u1>a1', 'u1>a2'])
    expect(await shown()).toEqual(['u1', 'a2'])
    await put([user('u2'), 'a1'])
    expect(await shown()).toEqual(['u1', 'u2'])
    expect((await tree()).toSorted()).toEqual(['>u1', 'a1>u2', 'u1>a1', 'u1>a2', 'u2'])
  })

  it('shows what others write to the session', async () => {
    await put([user('u1'), null])
    await session.append([
      { id: 'r1', role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'look', input: {} }] },
      { id: 'r2', role: 'tool', content: [{ type: 'tool-result', callId: 'c', output: 'Found.' }] },
      { id: 'r3', role: 'assistant', content: 'Here.' },
    ])
    const { headId, messages } = await opened().load()
    expect([headId, messages.map(({ parentId }) => parentId)]).toEqual(['r1', [null, 'u1']])
    expect(messages[1]?.message).toMatchObject({
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'look', result: 'Found.' }, text('Here.')],
      status: { type: 'complete' },
    })
    await put([user('u2'), 'r1'])
    // What they hide is gone: nothing says what it followed.
    await session.append({ id: 'r4', role: 'assistant', content: 'Wrong.' })
    await rewind(session, 'r4')
    expect(await tree()).toEqual(['u2', '>u1', 'u1>r1', 'r1>u2'])
    expect(await shown()).toEqual(['u1', '', '', 'Here.', 'u2'])
  })

  it('shows each role of what others write in the shape that its runtime has', async () => {
    await session.append([
      { id: 's', role: 'system', content: 'Be brief.' },
      { id: 'u', role: 'user', content: 'Hi.' },
    ])
    const messages = (await opened().load()).messages.map(({ message }) => message)
    const [createdAt, id] = [expect.any(Date), expect.any(String)]
    const [custom, content] = [{ custom: {} }, [text('Be brief.')]]
    expect(messages).toEqual([
      { id, createdAt, role: 'system', content, metadata: custom },
      { id, createdAt, role: 'user', content: [text('Hi.')], attachments: [], metadata: custom },
    ])
  })

  it('keeps parts that are none, and shows a model pictures and files', async () => {
    const parts = [
      { type: 'image', image: 'data:image/png;base64,AAAA' },
      { type: 'file', data: 'AAAA', mimeType: 'text/plain' },
    ]
    const odd = [text('x'), null] as unknown as Message['content']
    await put([{ ...user('u1'), content: parts }, null], [assistant('a1', odd), 'u1'])
    expect((await opened().load()).messages.map(({ message }) => message.content)).toEqual([parts, odd])
    const [said] = await session.history()
    expect(partsOf(said as never).flatMap((part) => (part.type === 'media' ? part.mediaType : []))).toEqual([
      'image/*',
      'text/plain',
    ])
  })

  it('writes nothing again where a version shows again, and says so where the store fails', async () => {
    const store = mapStore()
    let fails = false
    const failing: Store = {
      ...store,
      open: (scope) => {
        const inner = store.open(scope)
        const commit: ScopeStore['commit'] = async (...given) => {
          const isNow = fails
          fails = false
          if (isNow) throw new PlimsollError('ERR_STORAGE', 'torn')
          return inner.commit(...given)
        }
        return new Proxy(inner, {
          get: (target, key) => {
            const value: unknown = key === 'commit' ? commit : Reflect.get(target, key)
            return typeof value === 'function' ? value.bind(target) : value
          },
        })
      },
    }
    const scope = { userId: 'ada', sessionId: 'trip' }
    session = fullMemory({ store: failing, budget: 8_000 }).session(scope)
    const said = async () =>
      (await store.open(scope).changesSince(0)).rows.filter(({ kind }) => kind === 'message').length
    await put([user('u1'), null], [assistant('a1'), 'u1'], [assistant('a2'), 'u1'], [user('u2'), 'a1'])
    expect(await said()).toBe(4)
    for (const parentId of ['a2', 'u1']) {
      fails = true
      await expect(opened().append({ message: user(`x-${parentId}`), parentId })).rejects.toThrow('torn')
      expect(await said()).toBe(4)
    }
  })

  it('goes on where a message was forgotten', async () => {
    await put([user('u1'), null], [assistant('a1'), 'u1'], [user('u2'), 'a1'])
    await forget(session, 'a1')
    expect(await tree()).toEqual(['u2', '>u1', 'u1>u2'])
    // Where it does not show, what followed it goes with it.
    await put([assistant('a2'), 'u2'], [user('u3'), 'a2'], [assistant('a3'), 'u2'])
    await forget(session, 'a2')
    expect(await tree()).toEqual(['a3', '>u1', 'u1>u2', 'u2>a3'])
  })
})

describe('a thread with a format of its own', () => {
  interface UIMessage {
    readonly id: string
    readonly role: string
    readonly parts: readonly object[]
    readonly metadata?: unknown
  }
  /** As assistant-ui's for the AI SDK. */
  const format: MessageFormat<UIMessage, { [key: string]: unknown }> = {
    format: 'ai-sdk/v6',
    encode: ({ message: { id: _, ...message } }) => message,
    decode: ({ id, parent_id: parentId, content }) => ({
      parentId,
      message: { id, ...content } as unknown as UIMessage,
    }),
    getId: ({ id }) => id,
  }
  const ui = (id: string, role = 'user', ...parts: readonly object[]): UIMessage => ({
    ...{ id, role, parts: parts.length > 0 ? parts : [{ type: 'text', text: id }] },
  })
  const called = ui(
    ...(['a1', 'assistant', { type: 'step-start' }] as const),
    { type: 'tool-look', toolCallId: 'c', state: 'output-available', input: {}, output: 'Found.' },
    { type: 'text', text: 'Here.', state: 'done' },
    { type: 'data-x', data: { a: 1 } },
  )

  it('comes back as it was, with versions', async () => {
    const history = opened().withFormat(format)
    await history.append({ message: ui('u1'), parentId: null })
    await history.append({ message: { ...called, metadata: { tokens: 3 } }, parentId: 'u1' })
    await history.append({ message: ui('a2', 'assistant'), parentId: 'u1' })
    const { headId, messages } = await opened().withFormat(format).load()
    expect(headId).toBe('a2')
    expect(messages.toSorted((one, other) => (one.message.id < other.message.id ? -1 : 1))).toEqual([
      { parentId: 'u1', message: { ...called, metadata: { tokens: 3 } } },
      { parentId: 'u1', message: ui('a2', 'assistant') },
      { parentId: null, message: ui('u1') },
    ])
    await history.update(
      { message: ui('a2', 'assistant', { type: 'text', text: 'Better.' }), parentId: 'u1' },
      'a2',
    )
    expect(await shown()).toEqual(['u1', 'Better.'])
    // As assistant-ui's own messages, too; and as the AI SDK's.
    expect((await opened().load()).messages.map(({ message }) => message.content)).toContainEqual([
      text('Better.'),
    ])
    expect(toUIMessages(await session.history()).map(({ role }) => role)).toEqual(['user', 'assistant'])
  })

  it('is kept whole where it is of no known shape, and left out where another one reads', async () => {
    const other: MessageFormat<{ id: string; type: string; content: string }, { [key: string]: unknown }> = {
      format: 'langchain',
      encode: ({ message }) => ({ ...message }),
      decode: ({ parent_id: parentId, content }) => ({ parentId, message: content as never }),
      getId: ({ id }) => id,
    }
    await put([user('u1'), null])
    const message = { id: 'l1', type: 'ai', content: 'Hello.' }
    await opened().withFormat(other).append({ message, parentId: 'u1' })
    expect((await session.history()).map(({ role }) => role)).toEqual(['user', 'assistant'])
    await put([user('u2'), 'l1'])
    expect(await opened().withFormat(other).load()).toEqual({
      headId: 'l1',
      messages: [{ message, parentId: null }],
    })
    expect(await opened().withFormat(format).load()).toEqual({ headId: null, messages: [] })
  })
})
