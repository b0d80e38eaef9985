import { describe, expect, it, test } from 'vitest'
import { createMemory } from '../../src/create-memory.ts'
import type { Feature } from '../../src/kernel/feature.ts'
import { editMessage } from '../../src/operations/rewind.ts'
import type { OpResult } from '../../src/ports/op.ts'
import { SESSION } from '../../src/ports/session.ts'
import type { Store } from '../../src/ports/store.ts'
import { mapStore } from '../../src/stores/map.ts'
import { hashText } from '../../src/text/hash.ts'

/** Puts a register that it takes for absent. */
function putting(name: string, refuse?: (results: readonly OpResult[]) => Promise<void>): Feature {
  return {
    name,
    open: () => ({
      write: {
        check: async () => true,
        prepare: async (_, { part }) => ({
          ops: [{ kind: 'put', opId: part(name), key: `own/${name}`, base: null, value: 1 }],
          ...(refuse && { refuse }),
        }),
      },
    }),
  }
}

test('a feature hears what became of its own ops, also after one that does not ask', async () => {
  const heard: (readonly OpResult[])[] = []
  const second = putting('second', async (results) => {
    heard.push(results)
    throw new Error('given up')
  })
  const memory = createMemory({ store: mapStore(), budget: 1_000, use: [putting('first'), second] })
  const session = memory.session({ userId: 'ada' }) as unknown as {
    commit(input: object): Promise<unknown>
  }
  await session.commit({ second: true })
  await expect(session.commit({ first: true, second: true })).rejects.toThrow('given up')
  expect(heard).toEqual([[expect.objectContaining({ status: 'conflict' })]])
})

describe('what cannot be written', () => {
  const first = { role: 'user', content: 'a', id: 'a' } as const
  const feature: Feature = {
    name: 'own',
    open: () => ({
      write: {
        options: ['ownly'],
        check: async (_, value) => value,
        prepare: async (_, { part }) => ({
          ops: [{ kind: 'put', opId: part('own'), key: 'own/x', base: 'never', value: 1 }],
        }),
      },
    }),
  }
  const open = () =>
    createMemory({ store: mapStore(), budget: 1_000, use: [feature] }).session({
      userId: 'ada',
    }) as unknown as {
      append(input: unknown, options?: object): Promise<{ messages: readonly { id: string }[] }>
      commit(input: unknown, options?: object): Promise<unknown>
      history(): Promise<readonly unknown[]>
    }

  it.each<[string, string, (session: ReturnType<typeof open>) => Promise<unknown>]>([
    ['ERR_INVALID_ARGUMENT', 'append: messages must hold a message', (session) => session.append([])],
    [
      'ERR_INVALID_ARGUMENT',
      'commit: messages must hold a message, or a feature must have something to write',
      (session) => session.commit({ messages: [] }),
    ],
    [
      'ERR_INVALID_ARGUMENT',
      'commit: ownly belongs to own, which is not given',
      (session) => session.commit({ messages: first }, { ownly: 1 }),
    ],
    [
      'ERR_INVALID_ARGUMENT',
      'append: message.content',
      (session) => session.append({ role: 'user', content: 7 }),
    ],
    [
      'ERR_INVALID_ARGUMENT',
      'append: messages[1].content',
      (session) => session.append([first, { role: 'user', content: 7 }]),
    ],
    [
      'ERR_INVALID_ARGUMENT',
      'commit: messages.content',
      (session) => session.commit({ messages: { role: 'user' } }),
    ],
    [
      'ERR_INVALID_ARGUMENT',
      'commit: other is not known',
      (session) => session.commit({ messages: first, other: 1 }),
    ],
    [
      'ERR_INVALID_ARGUMENT',
      'commit: other is not known',
      (session) => session.commit({ messages: first }, { other: 1 }),
    ],
    ['ERR_INVALID_ARGUMENT', 'append: other is not known', (session) => session.append(first, { other: 1 })],
    ['ERR_INVALID_ARGUMENT', 'append: options must be', (session) => session.append(first, 7 as never)],
    [
      'ERR_INVALID_ARGUMENT',
      'commit: options must be',
      (session) => session.commit({ messages: first }, 7 as never),
    ],
    ['ERR_INVALID_ARGUMENT', 'append: opId', (session) => session.append(first, { opId: '' })],
    [
      'ERR_INVALID_ARGUMENT',
      'append: opId must not begin with entry:',
      (session) => session.append(first, { opId: 'entry:b' }),
    ],
    ['ERR_INVALID_ARGUMENT', 'append: round', (session) => session.append(first, { round: '' })],
    [
      'ERR_DUPLICATE_ID',
      'append: id a names another message already',
      (session) => session.append([first, first]),
    ],
    [
      'ERR_NOT_FOUND',
      'append: no message opened round none',
      (session) => session.append({ ...first, role: 'assistant' }, { round: 'none' }),
    ],
    [
      'ERR_CONFLICT',
      'commit: what it changes was changed by others again and again',
      (session) => session.commit({ own: true }),
    ],
  ])('is refused with %s: %s', async (code, message, write) => {
    const session = open()
    await expect(write(session)).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
    expect(await session.history()).toEqual([])
  })

  it('names all messages of a batch in which one is there already', async () => {
    const session = open()
    await session.append(first, { opId: 'one' })
    const again = session.append([first, { ...first, id: 'b', role: 'assistant' }], { opId: 'other' })
    await expect(again).rejects.toMatchObject({
      code: 'ERR_DUPLICATE_ID',
      message: 'append: id a, b names another message already',
      id: 'a, b',
    })
  })
})

test('a write is named after its messages where all have names, and else gets a new name each time', async () => {
  const store = mapStore()
  const session = createMemory({ store, budget: 1_000 }).session({ userId: 'ada', sessionId: 'trip' })
  const named = [
    { id: 'a', role: 'user', content: 'a' },
    { id: 'b', role: 'assistant', content: 'b' },
  ] as const
  expect(await session.append(named)).toMatchObject({ repeated: false, mismatch: false })
  expect(await session.append(named)).toMatchObject({ repeated: true, mismatch: false })
  const changed = [named[0], { ...named[1], content: 'c' }]
  expect(await session.append(changed)).toMatchObject({ repeated: true, mismatch: true, messages: named })
  const unnamed = { role: 'assistant', content: 'b' } as const
  expect(await session.append(unnamed)).toMatchObject({ repeated: false })
  expect(await session.append(unnamed)).toMatchObject({ repeated: false })
  const { rows } = await store.open({ userId: 'ada', sessionId: 'trip' }).entries()
  expect(new Set(rows.map(({ opId }) => opId)).size).toBe(3)
  expect(rows[0]?.opId).toBe(`append/${hashText('["a","b"]')}`)
})

test('a message that is written alone is one thing with its op, and with no other', async () => {
  const store = mapStore()
  const session = createMemory({ store, budget: 1_000 }).session({ userId: 'ada', sessionId: 'trip' })
  const message = { id: 'a', role: 'user', content: 'a' } as const
  expect(await session.append(message)).toMatchObject({ repeated: false })
  expect(await session.append([message])).toMatchObject({ repeated: true, mismatch: false })
  // Others may have more to write.
  for (const again of [
    session.commit({ messages: message }),
    editMessage(session, 'a', message),
    session.append(message, { opId: 'named' }),
  ])
    await expect(again).rejects.toMatchObject({ code: 'ERR_DUPLICATE_ID' })
  const { rows } = await store.open({ userId: 'ada', sessionId: 'trip' }).entries()
  expect(rows.map(({ opId }) => opId)).toEqual(['entry:a'])
})

test('an op may have the name of the first message, if messages are all that it writes', async () => {
  const store = mapStore()
  const session = createMemory({ store, budget: 1_000 }).session({ userId: 'ada', sessionId: 'trip' })
  const said = [
    { id: 'a', role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
    { role: 'user', content: 'c' },
  ] as const
  const named = { opId: 'entry:a' }
  const { messages } = await session.append(said, named)
  const others = [said, [said[0]], [said[0], { role: 'assistant', content: 'other' }]] as const
  for (const [index, other] of others.entries())
    expect(await session.append(other, named)).toMatchObject({
      messages,
      repeated: true,
      mismatch: index > 0,
    })
  const { rows } = await store.open({ userId: 'ada', sessionId: 'trip' }).entries()
  expect(rows.map(({ opId }) => opId).slice(0, 2)).toEqual(['entry:a', 'entry:a'])
  expect(rows).toHaveLength(3)
  for (const refused of [
    session.append(said.slice(1), named),
    session.append({ ...said[0], id: 'd' }, named),
    session.commit({ messages: said }, named),
    editMessage(session, 'a', [...said], named),
  ])
    await expect(refused).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT', argument: 'opId' })
})

test('features hear what is durable, each with what came of its own part, and may throw', async () => {
  const heard: unknown[] = []
  const hearing = (name: string, fails: boolean): Feature => ({
    name,
    open: () => ({
      write: {
        check: async () => (name === 'idle' ? undefined : true),
        prepare: async (_, { part }) => ({
          ops: [{ kind: 'put', opId: part(name), key: `own/${name}`, base: null, value: 1 }],
          outcome: (repeated) => ({ name, repeated }) as never,
        }),
        after: async ({ messages, outcome }) => {
          heard.push([name, messages.map(({ id }) => id), outcome])
          if (fails) throw new Error('nobody minds')
        },
      },
    }),
  })
  const use = [hearing('first', true), hearing('second', false), hearing('idle', false)]
  const session = createMemory({ store: mapStore(), budget: 1_000, use }).session({
    userId: 'ada',
  }) as unknown as {
    commit(input: object, options: object): Promise<unknown>
  }
  const input = { messages: { id: 'a', role: 'user', content: 'a' }, first: true, second: true, idle: true }
  for (const repeated of [false, true]) {
    heard.length = 0
    const outcomes = { first: { name: 'first', repeated }, second: { name: 'second', repeated } }
    expect(await session.commit(input, { opId: 'once' })).toMatchObject({ ...outcomes, repeated })
    expect(heard).toEqual([
      ['first', ['a'], outcomes.first],
      ['idle', ['a'], undefined],
      ['second', ['a'], outcomes.second],
    ])
  }
})

test('a repetition gives all that was written, in however many pages it is read', async () => {
  const store = mapStore()
  const paged: Store = {
    ...store,
    open: (scope) => {
      const opened = store.open(scope)
      const changesSince = opened.changesSince.bind(opened)
      opened.changesSince = async (seq) => {
        const { rows, head, more } = await changesSince(seq)
        const page = rows.filter((row) => row.seq === rows[0]?.seq)
        return { rows: page, head, more: more || page.length < rows.length }
      }
      return opened
    },
  }
  const session = createMemory({ store: paged, budget: 1_000 }).session({ userId: 'ada' })
  const said = ['a', 'b', 'c', 'd'].map((id) => ({ role: 'user', content: id, id }) as const)
  const { messages } = await session.append(said, { opId: 'all' })
  expect(messages).toHaveLength(4)
  expect(await session.append(said, { opId: 'all' })).toEqual({ messages, repeated: true, mismatch: false })
})

test('a repetition does not ask whether the session is still listed, nor does what follows it', async () => {
  const store = mapStore()
  let asked = 0
  const watched: Store = {
    ...store,
    open: (scope) => {
      const opened = store.open(scope)
      const register: typeof opened.register = (key) => {
        if (key.startsWith(SESSION)) asked++
        return opened.register(key)
      }
      return new Proxy(opened, {
        get: (target, name) => {
          if (name === 'register') return register
          const value: unknown = Reflect.get(target, name)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
    },
  }
  const session = createMemory({ store: watched, budget: 1_000 }).session({ userId: 'ada' })
  const first = { role: 'user', content: 'a', id: 'a' } as const
  await session.append(first)
  await session.append({ role: 'assistant', content: 'b' })
  expect(asked).toBe(1)
  await session.append(first)
  await session.append({ role: 'assistant', content: 'c' })
  expect(asked).toBe(1)
})

test('the id of a call has at most 1 024 bytes', async () => {
  const session = createMemory({ store: mapStore(), budget: 8_000 }).session({ userId: 'ada' })
  const calling = (id: string) =>
    session.append({ role: 'assistant', content: [{ type: 'tool-call', id, name: 'look', input: {} }] })
  await calling('é'.repeat(512))
  await expect(calling(`${'é'.repeat(512)}x`)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
})
