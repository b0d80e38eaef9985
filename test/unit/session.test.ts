import { describe, expect, it } from 'vitest'
import { isPlimsollError, type Message, type MessageInput, mapStore, type Scope } from '../../src/index.ts'
import { textOf } from '../../src/kernel/log/message.ts'
import { deleteSession } from '../../src/operations/delete-session.ts'
import { addExchange } from '../../src/operations/exchange.ts'
import { rewind, undo } from '../../src/operations/rewind.ts'
import { listSessions, titleSession } from '../../src/operations/sessions.ts'
import { type FullSession, fullMemory } from '../contract/full-memory.ts'

const setUp = (
  options = {},
): { open: (scope?: Partial<Scope>) => FullSession; memory: ReturnType<typeof fullMemory> } => {
  let ids = 0
  const memory = fullMemory({
    store: mapStore(),
    budget: 16_000,
    clock: () => 7,
    newId: () => `id-${++ids}`,
    ...options,
  })
  return { memory, open: (scope = {}) => memory.session({ userId: 'ada', sessionId: 'trip', ...scope }) }
}
const failing = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise
  } catch (error) {
    if (isPlimsollError(error)) return { code: error.code, argument: error.argument }
    throw error
  }
  return 'nothing was refused'
}
const calls = (...ids: string[]): MessageInput => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool-call', id, name: 'find', input: {} })),
})
const result = (callId: string, output = 'found'): MessageInput => ({
  role: 'tool',
  content: [{ type: 'tool-result', callId, output }],
})
const shown = (messages: readonly Message[]): string[] => messages.map(textOf)

describe('append', () => {
  it('fills in id, time and trust, and gives the message as it is stored', async () => {
    const { messages } = await setUp().open().append({ role: 'user', content: 'Hello' })
    expect(messages).toEqual([{ id: 'id-1', role: 'user', content: 'Hello', createdAt: 7, trust: 'user' }])
  })

  it('gives back every byte: NUL, emoji, right-to-left, line separators, keys of objects', async () => {
    const session = setUp().open()
    const content = 'a\u0000b 🚆 مرحبا \u2028 \u202e'
    const input = JSON.parse('{"__proto__":{"a":1},"constructor":"x","":[1,null,true,0.5]}')
    await session.append([
      { role: 'user', content },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'find', input }] },
    ])
    const [user, assistant] = await session.history()
    expect(user?.content).toBe(content)
    expect(JSON.stringify(assistant?.content)).toBe(
      JSON.stringify([{ type: 'tool-call', id: 'c', name: 'find', input }]),
    )
  })

  it('is a no-op when repeated by op id or by message ids, and says so', async () => {
    const session = setUp().open()
    const first = await session.append({ role: 'user', content: 'Hello' }, { opId: 'op' })
    expect(first.repeated).toBe(false)
    expect(
      await session.append({ id: 'id-1', role: 'user', content: 'Hello' }, { opId: 'op' }),
    ).toMatchObject({ repeated: true, mismatch: false, messages: first.messages })
    await session.append({ id: 'mine', role: 'user', content: 'Again' })
    expect(await session.append({ id: 'mine', role: 'user', content: 'Again' })).toMatchObject({
      repeated: true,
      mismatch: false,
    })
    expect(shown(await session.history())).toEqual(['Hello', 'Again'])
  })

  it('keeps the first body and reports a mismatch when the same op comes with another one', async () => {
    const session = setUp().open()
    await session.append({ id: 'mine', role: 'user', content: 'First' })
    const second = await session.append({ id: 'mine', role: 'user', content: 'Second' })
    expect(second).toMatchObject({ repeated: true, mismatch: true })
    expect(shown(second.messages)).toEqual(['First'])
  })

  it('writes all messages or none', async () => {
    const session = setUp().open()
    await session.append({ id: 'taken', role: 'user', content: 'First' })
    const batch: MessageInput[] = [
      { role: 'user', content: 'Second' },
      { id: 'taken', role: 'user', content: 'Third' },
    ]
    expect(await failing(session.append(batch, { opId: 'batch' }))).toMatchObject({
      code: 'ERR_DUPLICATE_ID',
    })
    expect(
      await failing(
        session.append([
          { id: 'twin', role: 'user', content: '' },
          { id: 'twin', role: 'user', content: '' },
        ]),
      ),
    ).toMatchObject({ code: 'ERR_DUPLICATE_ID' })
    expect(shown(await session.history())).toEqual(['First'])
    expect((await session.append(batch.slice(0, 1), { opId: 'batch' })).repeated).toBe(false)
  })

  it('keeps the order in which it was called, without waiting', async () => {
    const session = setUp().open()
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => session.append({ role: 'user', content: `${index}` })),
    )
    expect(shown(await session.history())).toEqual(Array.from({ length: 20 }, (_, index) => `${index}`))
  })

  it('reads back as many messages as fit a number of characters, the newest step whole in any case', async () => {
    const session = setUp().open()
    for (let index = 0; index < 30; index++)
      await session.append({ role: 'user', content: `${index} ${'x'.repeat(index === 25 ? 5_000 : 100)}` })
    const read = async (characters: number, before?: string) =>
      (await session.history({ messages: 30, characters, ...(before !== undefined && { before }) })).map(
        ({ content }) => Number.parseInt(`${content}`, 10),
      )
    expect(await read(0)).toEqual([29])
    expect((await read(1_000)).length).toBeLessThanOrEqual(10)
    // The long one is where it stops, and what a page of its own begins with.
    expect(await read(4_000)).toEqual([26, 27, 28, 29])
    const [first] = await session.history({ messages: 4 })
    expect(await read(4_000, first?.id)).toEqual([25])
    expect(await read(20_000)).toHaveLength(30)
  })

  it('refuses what cannot be kept or shown, before anything is written', async () => {
    const session = setUp().open()
    const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])
    const refused: readonly (readonly [string, unknown])[] = [
      ['message.role', { role: 'robot', content: '' }],
      ['message.role', { role: '__proto__', content: '' }],
      ['message.content', { role: 'user', content: 'half a \ud83d character' }],
      ['message.content', { role: 'user', content: 5 }],
      ['message.content', { role: 'tool', content: 'plain' }],
      ['message.content', { role: 'tool', content: [] }],
      [
        'message.content[0]',
        { role: 'user', content: [{ type: 'tool-call', id: 'c', name: 'n', input: {} }] },
      ],
      [
        'message.content[0].id',
        { role: 'assistant', content: [{ type: 'tool-call', id: 5, name: 'n', input: {} }] },
      ],
      [
        'message.content[0].input',
        { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'n', input: deep(33) }] },
      ],
      [
        'message.content[0].input.at',
        {
          role: 'assistant',
          content: [{ type: 'tool-call', id: 'c', name: 'n', input: { at: new Date(0) } }],
        },
      ],
      [
        'message.content[0].output',
        { role: 'tool', content: [{ type: 'tool-result', callId: 'c', output: Number.NaN }] },
      ],
      ['message.id', { id: 12, role: 'user', content: '' }],
      ['message.id', { id: '', role: 'user', content: '' }],
      ['message.id', { id: 'epoch/1', role: 'user', content: '' }],
      ['message.id', { id: 'é'.repeat(129), role: 'user', content: '' }],
      ['message.id', { id: '\udc00', role: 'user', content: '' }],
      [
        'message.trust',
        { role: 'tool', trust: 'user', content: [{ type: 'tool-result', callId: 'c', output: '' }] },
      ],
      ['message.createdAt', { role: 'user', content: '', createdAt: 'now' }],
      ['messages', []],
    ]
    for (const [argument, input] of refused)
      expect(await failing(session.append(input as MessageInput))).toEqual({
        code: 'ERR_INVALID_ARGUMENT',
        argument,
      })
    expect(
      await failing(session.append({ role: 'user', content: 'x'.repeat(8 * 1024 * 1024) })),
    ).toMatchObject({ code: 'ERR_ENTRY_TOO_LARGE' })
    expect(
      await failing(session.append({ role: 'user', content: '', metadata: { note: 'x'.repeat(4_096) } })),
    ).toMatchObject({ code: 'ERR_ENTRY_TOO_LARGE' })
    expect(
      await failing(session.append({ role: 'assistant', content: '' }, { round: 'nowhere' })),
    ).toMatchObject({ code: 'ERR_NOT_FOUND' })
    expect(await session.history()).toEqual([])
  })

  it('shares nothing with the objects it was given', async () => {
    const session = setUp().open()
    const input = { query: 'Turin' }
    await session.append({
      role: 'assistant',
      content: [{ type: 'tool-call', id: 'c', name: 'find', input }],
    })
    input.query = 'Milan'
    expect(JSON.stringify(await session.history())).toContain('Turin')
  })
})

describe('rounds and steps', () => {
  it('are not mixed when two writers race: each joins the round that it saw', async () => {
    const { open } = setUp()
    const one = open()
    await one.append({ role: 'user', content: 'One' })
    const two = open()
    await two.append({ role: 'user', content: 'Two' })
    await one.append({ role: 'assistant', content: 'To one' })
    await two.append({ role: 'assistant', content: 'To two' })
    expect(shown(await open().history())).toEqual(['One', 'To one', 'Two', 'To two'])
  })

  it('take in a late result where its call is, and begin an epoch', async () => {
    const session = setUp().open()
    await session.append([
      { role: 'user', content: 'Go' },
      calls('a'),
      { role: 'user', content: 'Never mind' },
    ])
    const before = await session.context()
    expect(before.blocks.map(({ rule }) => rule)).toEqual(['verbatim', 'verbatim', 'abandoned', 'verbatim'])
    await session.append(result('a'))
    const after = await session.context()
    expect(after.receipt.epoch).toMatchObject({ cause: 'late' })
    expect(after.blocks.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(after.blocks.every(({ rule }) => rule === 'verbatim')).toBe(true)
  })

  it('take in a late result whose step left the window long ago, and read no further for one that has none', async () => {
    const session = setUp({ budget: 400 }).open()
    await session.append([{ id: 'go', role: 'user', content: 'Go' }, calls('late')])
    for (let round = 0; round < 400; round++) await addExchange(session, `q${round}`, `a${round}`)
    await session.append(result('late', 'here at last'))
    await session.append(result('nobody'))
    const history = await session.history({ messages: 2_000 })
    expect(history.slice(0, 3).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(history.length).toBe(803)
    const context = await session.context()
    expect(context.receipt.omitted[0]).toMatchObject({ from: 'go', reason: 'window' })
    expect(JSON.stringify(context.blocks)).not.toContain('here at last')
  })

  it('wait for results of the newest step, and say which', async () => {
    const session = setUp().open()
    await session.append([{ role: 'user', content: 'Go' }, calls('a', 'b'), result('b')])
    await expect(session.context()).rejects.toMatchObject({
      code: 'ERR_TOOL_PENDING',
      pending: [{ callId: 'a', name: 'find' }],
    })
    const abandoned = await session.context({ onPending: 'abandon' })
    expect(abandoned.blocks.at(-1)).toMatchObject({ section: 'tail', rule: 'abandoned' })
    await session.append(result('a'))
    const whole = await session.context()
    expect(whole.epoch).toBe(abandoned.epoch)
    expect(whole.blocks.slice(0, 3)).toEqual(abandoned.blocks.slice(0, 3))
  })

  it('render call ids that are unique though the data reuse theirs, and keep the originals', async () => {
    const session = setUp().open()
    await session.append([
      { role: 'user', content: 'Go' },
      calls('c', 'c'),
      result('c', '1'),
      result('c', '2'),
      calls('c'),
      result('c', '3'),
    ])
    const { blocks } = await session.context()
    const rendered = blocks.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool-call' ? part.id : [])),
    )
    const answered = blocks.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool-result' ? part.callId : [])),
    )
    expect(new Set(rendered).size).toBe(3)
    expect(answered).toEqual(rendered)
    expect(JSON.stringify(await session.history())).not.toContain(rendered[0])
  })
})

describe('history', () => {
  it('pages through a long conversation without gaps or repeats', async () => {
    const session = setUp().open()
    for (let round = 0; round < 700; round++)
      await session.append([
        { role: 'user', content: `q${round}` },
        { role: 'assistant', content: `a${round}` },
      ])
    const seen: string[] = []
    for (let before: string | undefined; ; ) {
      const page = await session.history({ messages: 300, ...(before !== undefined && { before }) })
      if (page.length === 0) break
      seen.unshift(...shown(page))
      before = page[0]?.id
    }
    expect(seen).toEqual(Array.from({ length: 700 }, (_, round) => [`q${round}`, `a${round}`]).flat())
    expect(shown(await session.history({ rounds: 2 }))).toEqual(['q698', 'a698', 'q699', 'a699'])
  })

  it('gives a message once whose results belong to two steps', async () => {
    const session = setUp().open()
    await session.append([
      { role: 'user', content: 'Go' },
      calls('a'),
      calls('b'),
      {
        role: 'tool',
        content: [
          { type: 'tool-result', callId: 'a', output: 1 },
          { type: 'tool-result', callId: 'b', output: 2 },
        ],
      },
    ])
    expect((await session.history()).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ])
  })

  it('keeps steps whole', async () => {
    const session = setUp().open()
    await session.append([{ role: 'user', content: 'Go' }, calls('a', 'b'), result('a'), result('b')])
    expect((await session.history({ messages: 1 })).map(({ role }) => role)).toEqual([
      'assistant',
      'tool',
      'tool',
    ])
  })
})

describe('rewind and undo', () => {
  it('do once what is asked for twice under one op id', async () => {
    const { open } = setUp()
    const session = open()
    for (const id of ['one', 'two', 'three']) await session.append({ id, role: 'user', content: id })
    const shown = async () => (await session.history()).map(({ id }) => id)
    const first = await rewind(session, 'three', { opId: 'a' })
    expect(await rewind(session, 'three', { opId: 'a' })).toBe(first)
    const second = await rewind(session, 'two', { opId: 'b' })
    expect(await undo(session, undefined, { opId: 'c' })).toBe(second)
    expect(await undo(session, undefined, { opId: 'c' })).toBe(second)
    expect(await shown()).toEqual(['one', 'two'])
    expect(await failing(undo(session, undefined, { opId: 'a' }))).toMatchObject({ code: 'ERR_DUPLICATE_ID' })
    expect(await failing(rewind(session, 'one', { opId: 'c' }))).toMatchObject({ code: 'ERR_DUPLICATE_ID' })
    expect(await undo(open(), undefined, { opId: 'c' })).toBe(second)
  })

  it('hide a message and all after it, and bring them back', async () => {
    const session = setUp().open()
    await addExchange(session, 'One', 'First answer')
    await session.append([
      { id: 'second', role: 'user', content: 'Two' },
      { role: 'assistant', content: 'Second answer' },
    ])
    await session.context()
    const rewound = await rewind(session, 'second')
    await session.append([
      { id: 'third', role: 'user', content: 'Two, but better' },
      { role: 'assistant', content: 'Third answer' },
    ])
    expect(shown(await session.history())).toEqual(['One', 'First answer', 'Two, but better', 'Third answer'])
    const context = await session.context()
    expect(context.receipt.epoch).toMatchObject({ cause: 'rewind' })
    expect(context.receipt.omitted).toMatchObject([{ from: 'second', count: 2, reason: 'rewound' }])
    await rewind(session, 'third')
    expect(await undo(session, rewound)).toBe(rewound)
    expect(shown(await session.history())).toEqual(['One', 'First answer', 'Two', 'Second answer'])
    expect(await failing(undo(session, rewound))).toMatchObject({ code: 'ERR_NOT_FOUND' })
    expect(await failing(rewind(session, 'third'))).toMatchObject({ code: 'ERR_NOT_FOUND' })
  })

  it('keep a rewound question out of sight when a late reply joins its round', async () => {
    const { open } = setUp()
    const session = open()
    await session.append([
      { id: 'question', role: 'user', content: 'Forget this' },
      { role: 'assistant', content: 'I will' },
    ])
    await rewind(session, 'question')
    await session.append({ role: 'assistant', content: 'A late reply' }, { round: 'question' })
    for (const one of [session, session, open()]) {
      expect(JSON.stringify((await one.context()).blocks)).not.toContain('Forget this')
      expect(shown(await one.history())).toEqual(['A late reply'])
    }
  })

  it('regenerate an answer inside its round', async () => {
    const session = setUp().open()
    await session.append([
      { role: 'user', content: 'One' },
      { id: 'answer', role: 'assistant', content: 'Bad' },
    ])
    await rewind(session, 'answer')
    await session.append({ role: 'assistant', content: 'Good' })
    expect(shown(await session.history({ rounds: 1 }))).toEqual(['One', 'Good'])
  })
})

describe('subscribe and getSnapshot', () => {
  it('give the same object until something changes, and tell of other sessions’ writes', async () => {
    const { open } = setUp()
    const watching = open()
    expect(watching.getSnapshot()).toMatchObject({ loaded: false, messages: [] })
    let told = 0
    const stop = watching.subscribe(() => told++)
    await open().append({ role: 'user', content: 'Hello' })
    await watching.history()
    const snapshot = watching.getSnapshot()
    expect(shown(snapshot.messages)).toEqual(['Hello'])
    expect(watching.getSnapshot()).toBe(snapshot)
    await watching.history()
    expect(watching.getSnapshot()).toBe(snapshot)
    await watching.append({ role: 'assistant', content: 'Hi' })
    expect(watching.getSnapshot()).not.toBe(snapshot)
    expect(shown(watching.getSnapshot().messages)).toEqual(['Hello', 'Hi'])
    const before = told
    stop()
    await open().append({ role: 'user', content: 'Unheard' })
    await watching.history()
    expect(told).toBe(before)
  })
})

describe('addExchange', () => {
  it('gives the plain last-20-exchanges window, with a huge budget', async () => {
    const session = setUp({
      budget: 10_000_000,
      window: { max: { rounds: 20 }, keep: { rounds: 20 } },
    }).open()
    let window: readonly Message[] = []
    for (let round = 0; round < 50; round++) {
      window = await addExchange(session, `q${round}`, `a${round}`)
      const from = Math.max(0, round - 19)
      expect(shown(window)).toEqual(
        Array.from({ length: round - from + 1 }, (_, at) => [`q${from + at}`, `a${from + at}`]).flat(),
      )
    }
  })

  it('grows to max and is cut back to keep, with a band', async () => {
    const session = setUp({ window: { max: { rounds: 6 } } }).open()
    const sizes: number[] = []
    for (let round = 0; round < 12; round++)
      sizes.push((await addExchange(session, `q${round}`, `a${round}`)).length / 2)
    expect(sizes).toEqual([1, 2, 3, 4, 5, 6, 3, 4, 5, 6, 3, 4])
  })
})

describe('sessions', () => {
  it('are listed from their first message on, titled and deleted', async () => {
    const { memory, open } = setUp()
    expect(await listSessions(memory, { userId: 'ada' })).toEqual([])
    await open({ sessionId: 'b' }).append({ role: 'user', content: 'Hello' })
    await open({ sessionId: 'a' }).append({ role: 'user', content: 'Hello' })
    await open({ sessionId: 'a' }).append({ role: 'user', content: 'Again' })
    await titleSession(memory, { userId: 'ada' }, 'a', 'Turin')
    expect(await listSessions(memory, { userId: 'ada' })).toEqual([
      { sessionId: 'a', title: 'Turin', createdAt: 7 },
      { sessionId: 'b', title: '', createdAt: 7 },
    ])
    await deleteSession(memory, { userId: 'ada' }, 'a')
    await deleteSession(memory, { userId: 'ada' }, 'a')
    expect((await listSessions(memory, { userId: 'ada' })).map(({ sessionId }) => sessionId)).toEqual(['b'])
    expect(await open({ sessionId: 'a' }).history()).toEqual([])
    expect(await failing(titleSession(memory, { userId: 'ada' }, 'a', 'x'))).toMatchObject({
      code: 'ERR_NOT_FOUND',
    })
    await open({ sessionId: 'a' }).append({ role: 'user', content: 'Again' })
    expect((await listSessions(memory, { userId: 'ada' })).map(({ sessionId }) => sessionId)).toEqual([
      'a',
      'b',
    ])
  })

  it('are listed again when a session that is still open goes on after its deletion', async () => {
    const { memory, open } = setUp()
    const session = open()
    await session.append({ role: 'user', content: 'Hello' })
    await deleteSession(memory, { userId: 'ada' }, 'trip')
    await session.append({ role: 'user', content: 'Still here' })
    expect((await listSessions(memory, { userId: 'ada' })).map(({ sessionId }) => sessionId)).toEqual([
      'trip',
    ])
    expect(shown(await session.history())).toEqual(['Still here'])
    expect((await session.context()).blocks.length).toBe(1)
  })

  it('are found behind more deleted ones than a page holds', async () => {
    const { memory, open } = setUp()
    for (let index = 0; index < 520; index++) {
      const sessionId = `a${String(index).padStart(4, '0')}`
      await open({ sessionId }).append({ role: 'user', content: 'x' })
      await deleteSession(memory, { userId: 'ada' }, sessionId)
    }
    await open({ sessionId: 'z' }).append({ role: 'user', content: 'x' })
    expect((await listSessions(memory, { userId: 'ada' })).map(({ sessionId }) => sessionId)).toEqual(['z'])
  })

  it('are kept apart, whatever their ids spell', async () => {
    const { open } = setUp()
    const scopes: Partial<Scope>[] = [
      { userId: 'a:b', sessionId: 'c' },
      { userId: 'a', sessionId: 'b:c' },
      { userId: 'é', sessionId: 'x' },
      { userId: 'e\u0301', sessionId: 'x' },
      { userId: '__proto__', sessionId: 'constructor' },
      { userId: 'ada', sessionId: 'trip ' },
      { tenant: 'ada', userId: 'trip' },
    ]
    for (const [index, scope] of scopes.entries())
      await open(scope).append({ role: 'user', content: `${index}` })
    for (const [index, scope] of scopes.entries())
      expect(shown(await open(scope).history())).toEqual([`${index}`])
    expect(await open().history()).toEqual([])
    const { memory } = setUp()
    expect(() => memory.session({ userId: '' })).toThrow(expect.objectContaining({ argument: 'userId' }))
    expect(() => memory.session({ userId: 'a'.repeat(257) })).toThrow(
      expect.objectContaining({ argument: 'userId' }),
    )
  })
})
