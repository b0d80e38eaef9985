import { describe, expect, it } from 'vitest'
import { lawChecker } from '../../src/assert-laws.ts'
import {
  type Context,
  countMessage,
  type LogRow,
  type Message,
  type MessageInput,
  mapStore,
  type Store,
  utf8Bound,
} from '../../src/index.ts'
import { decide } from '../../src/kernel/log/decide.ts'
import { sealMessage } from '../../src/kernel/log/message.ts'
import { sealOp } from '../../src/kernel/log/seal.ts'
import { createPolicy, RENDER_VERSION } from '../../src/kernel/policy.ts'
import { contextAt } from '../../src/operations/context-at.ts'
import { rewind } from '../../src/operations/rewind.ts'
import { capOutput } from '../../src/text/cap.ts'
import { hashJson, hashText } from '../../src/text/hash.ts'
import { type FullMemoryOptions, type FullSession, fullMemory } from '../contract/full-memory.ts'
import { changedStore } from '../everywhere/changed-store.ts'
import { answer, calls, shown, user } from './support/messages.ts'

/** Each test here holds one guard that no other test would miss. */

const scope = { userId: 'ada', sessionId: 'trip' }

function open(store: Store, options: Partial<FullMemoryOptions> = {}): FullSession {
  return fullMemory({ store, budget: 100_000, counter: utf8Bound, clock: () => 0, ...options }).session(scope)
}
const forget = (store: Store, id: string): Promise<unknown> =>
  store.open(scope).commit([sealOp({ kind: 'delete', opId: `forget ${id}`, target: `entry:${id}` })], decide)
const answers = (name: string, count: number): MessageInput[] =>
  Array.from({ length: count }, (_, index) => answer(`${name}${index}`, '.'))
const results = (id: string, ...outputs: readonly (readonly [callId: string, output: string])[]) =>
  ({
    id,
    role: 'tool',
    content: outputs.map(([callId, output]) => ({ type: 'tool-result', callId, output })),
  }) satisfies MessageInput
const outputs = ({ blocks }: Context): unknown[] =>
  blocks.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])))

describe('a log read from its end', () => {
  it('shows the newest of several rounds that opened further back, whichever was written to last', async () => {
    const session = open(mapStore())
    await session.append([user('u0'), user('u1')])
    await session.append(answers('b', 260), { round: 'u1' })
    await session.append(answers('a', 260), { round: 'u0' })
    const history = await session.history({ messages: 3 })
    expect(history.map(({ id }) => id)).toEqual(['b257', 'b258', 'b259'])
  })

  it('gives as many messages as are asked for, whatever was taken back between them', async () => {
    const session = open(mapStore())
    await session.append([user('u0'), ...answers('a', 60), user('u1'), ...answers('b', 200)])
    await rewind(session, 'u1')
    await session.append([user('u2'), ...answers('c', 9)])
    const history = await session.history()
    expect(history.map(({ id }) => id)).toEqual([
      ...Array.from({ length: 40 }, (_, index) => `a${index + 20}`),
      'u2',
      ...Array.from({ length: 9 }, (_, index) => `c${index}`),
    ])
  })

  it('gives the end of a round that is longer than a page, of any length', async () => {
    const session = open(mapStore())
    await session.append([user('u'), ...answers('a', 1_100)])
    for (const messages of [511, 512, 513, 700, 1_100]) {
      const history = await session.history({ messages })
      expect(history.map(({ id }) => id)).toEqual(
        Array.from({ length: messages }, (_, index) => `a${1_100 - messages + index}`),
      )
    }
  })

  it('holds once what was written while it was first read', async () => {
    const inner = mapStore()
    await open(inner).append(user('u'))
    let raced = false
    const store = changedStore(inner, (scope) => ({
      head: async () => {
        const head = await scope.head()
        if (!raced) {
          raced = true
          await open(inner).append(answer('a'))
        }
        return head
      },
    }))
    const session = open(store)
    expect(shown(await session.context())).toEqual(['u', 'a'])
    expect(shown(await session.context())).toEqual(['u', 'a'])
  })

  it('is of one moment, where the store can show one', async () => {
    const inner = mapStore()
    await open(inner).append([user('u'), answer('a')])
    const store = changedStore(inner, (home) => ({
      snapshot: (read) => read(inner.open(scope)),
      entries: async (query) => {
        // Others write between two reads.
        await forget(inner, 'a')
        return home.entries(query)
      },
    }))
    expect(shown(await open(store).context())).toEqual(['u', 'a'])
  })

  it('begins an epoch for what joins a round that shows though it opened out of sight', async () => {
    const store = mapStore()
    const session = open(store, { window: { keep: { messages: 4 } } })
    await session.append([user('u0'), user('u1')])
    await session.append(answers('a', 8), { round: 'u0' })
    await rewind(session, 'u1')
    expect(shown(await session.context({ newEpoch: true }))).toEqual(['u0', 'a4', 'a5', 'a6', 'a7'])
    await session.append(answer('b'), { round: 'u1' })
    const context = await session.context()
    expect(context.receipt.epoch).toMatchObject({ cause: 'late' })
    expect(shown(context)).toEqual(['u0', 'a4', 'a5', 'a6', 'a7', 'b'])
  })

  it('rebuilds a past window from the first row that it needs, where a later round was written before', async () => {
    const store = mapStore()
    const session = open(store, { window: { keep: { messages: 4 } } })
    await session.append([user('u0'), user('u1')])
    await session.append(answer('b'), { round: 'u1' })
    await session.append([answer('a0'), answer('a1'), answer('a2')], { round: 'u0' })
    const context = await session.context({ newEpoch: true })
    expect(shown(context)).toEqual(['u0', 'a1', 'a2', 'u1', 'b'])
    const rebuilt = await contextAt(session, 'a2')
    expect(rebuilt.context.hash).toBe(context.hash)
    expect(shown(rebuilt.context)).toEqual(shown(context))
  })
})

describe('an op', () => {
  it('names each of its bodies, by which stores that encrypt bind them', () => {
    for (const op of [
      { kind: 'put', opId: 'o', key: 'k', base: null, value: 1 },
      { kind: 'append', opId: 'o', round: 'm', messages: [answer('m'), answer('n')] as Message[] },
      { kind: 'mark', opId: 'o', base: null, entry: { type: 'rewind', id: 'r', to: 'm', hides: [] } },
    ] as const) {
      const { envelope, bodies } = sealOp(op as never)
      expect(envelope.ids).toHaveLength(bodies.length)
    }
  })
})

describe('a step', () => {
  it('whose result came after a later one begins an epoch, also where all came at once', async () => {
    const store = mapStore()
    const session = open(store)
    await session.append(user('u'))
    await session.context()
    await open(store).append([calls('c', 'x'), answer('a'), results('r', ['x', 'found'])])
    const cold = await open(store).context({ preview: true })
    const warm = await session.context({ preview: true })
    expect(shown(warm)).toEqual(['u', 'c', 'r', 'a'])
    expect(warm.hash).toBe(cold.hash)
    expect(warm.receipt.epoch).toBe('preview')
  })

  it('that opened its round shows its results, or that there are none, once they are read back', async () => {
    for (const result of [[], [results('r', ['a', 'found'])]]) {
      const store = mapStore()
      await open(store).append([calls('c', 'a'), ...result, ...answers('s', 100)])
      const context = await open(store).context()
      expect(shown(context).length).toBe(101 + result.length)
      expect(outputs(context)).toEqual([
        result.length > 0 ? 'found' : expect.stringContaining('this call was abandoned'),
      ])
    }
  })

  it('shows the result that took the place of one that was rewound', async () => {
    const session = open(mapStore())
    await session.append([user('u'), calls('c', 'a'), results('r', ['a', 'wrong'])])
    expect(outputs(await session.context())).toEqual(['wrong'])
    await rewind(session, 'r')
    await session.append(results('q', ['a', 'right']))
    const context = await session.context()
    expect(outputs(context)).toEqual(['right'])
    expect(shown(context)).toEqual(['u', 'c', 'q'])
  })

  it('shows another result of the same message, where that joins it after a step was forgotten', async () => {
    const store = mapStore()
    const session = open(store)
    await session.append([
      user('u'),
      calls('c1', 'a'),
      calls('c2', 'a'),
      results('r', ['a', 'for the newer'], ['a', 'for the older']),
      answer('done'),
    ])
    expect(outputs(await session.context())).toEqual(['for the older', 'for the newer'])
    await forget(store, 'c2')
    const context = await session.context()
    expect(outputs(context)).toEqual(['for the newer'])
    expect(context.hash).toBe((await open(store).context({ preview: true })).hash)
  })
})

describe('a context', () => {
  it('that waits says for which calls, of which step', async () => {
    const session = open(mapStore())
    await session.append([user('u'), calls('c', 'a', 'b', 'd'), results('r', ['b', 'found'])])
    await expect(session.context()).rejects.toMatchObject({
      message: 'context: 2 call(s) of the newest step have no result yet: find, find',
      pending: [
        { entry: 'c', callId: 'a', name: 'find' },
        { entry: 'c', callId: 'd', name: 'find' },
      ],
    })
  })

  it('names the output in a message of several by its place, and that of a message of one by the message', async () => {
    const session = open(mapStore(), { toolOutput: { first: 150, old: 100 } })
    const long = 'word '.repeat(100)
    await session.append([user('u'), calls('c', 'a', 'b'), results('r', ['a', long], ['b', long])])
    await session.append([calls('d', 'e'), results('q', ['e', long])])
    const references = outputs(await session.context()).map(
      (output) => /see (#[\d.]+)/.exec(String(output))?.[1],
    )
    expect(references).toEqual(['#3.1', '#3.2', '#5'])
  })

  it('says how much of its outputs it does not show', async () => {
    const session = open(mapStore(), { toolOutput: { first: 150, old: 100 } })
    const long = 'word '.repeat(100)
    const { messages } = await session.append([user('u'), calls('c', 'a'), results('r', ['a', long])])
    const { blocks, receipt } = await session.context()
    const stored = countMessage(utf8Bound, messages.at(-1) as Message)
    const shown = blocks.find(({ role }) => role === 'tool')?.tokens ?? 0
    expect(receipt.sections.find(({ name }) => name === 'window')).toMatchObject({
      cap: expect.any(Number),
      items: blocks.length,
      overflow: { count: 1, tokens: stored - shown, first: ['r'] },
    })
    expect(receipt.sections.find(({ name }) => name === 'tail')).not.toHaveProperty('cap')
  })

  it('names calls in 24 characters at most, made from the entry and the place of the call', async () => {
    const session = open(mapStore())
    await session.append([user('u'), calls('c', 'a', 'b'), results('r', ['a', '1'], ['b', '2'])])
    const { blocks } = await session.context()
    const named = blocks.flatMap(({ parts }) =>
      parts.flatMap((part) =>
        part.type === 'tool-call' ? part.id : part.type === 'tool-result' ? part.callId : [],
      ),
    )
    const name = `call_${hashText('c').slice(0, 14)}`
    expect(named).toEqual([`${name}_0`, `${name}_1`, `${name}_0`, `${name}_1`])
  })

  it('fails where its store does, and does not try again', async () => {
    const inner = mapStore()
    await open(inner).append(user('u'))
    let reads = 0
    const store = changedStore(inner, (scope) => ({
      head: async () => {
        if (reads++ === 0) throw new Error('the disk is gone')
        return await scope.head()
      },
      snapshot: undefined as never,
    }))
    await expect(open(store).context()).rejects.toThrow('the disk is gone')
  })
})

describe('no context', () => {
  it('is given that breaks a law, in development', async () => {
    const inner = mapStore()
    await open(inner).append([user('u'), answer('a'), user('v')])
    const without = (rows: readonly LogRow[]) => rows.filter(({ id }) => id !== 'a')
    // It has lost a message that it counts.
    const store = changedStore(inner, (scope) => ({
      entries: async (query) => {
        const { rows, more } = await scope.entries(query)
        return { rows: without(rows), more }
      },
    }))
    expect(shown(await open(store).context({ preview: true }))).toEqual(['u', 'v'])
    await expect(open(store, { laws: lawChecker }).context({ preview: true })).rejects.toMatchObject({
      code: 'ERR_LAW_BROKEN',
    })
  })

  it('is given without room, and the error says what the floor is', async () => {
    const session = open(mapStore(), { budget: 300 })
    await session.append(user('u', 'x'.repeat(400)))
    await expect(session.context()).rejects.toMatchObject({
      code: 'ERR_BUDGET_TOO_SMALL',
      message: 'context: the floor of 407 tokens is above the cap of 300',
      breakdown: { cap: 300, floor: 407, user: 404, step: 0, tail: 0 },
    })
  })
})

describe('a request', () => {
  it('that would end in an answer, or hold nothing, ends in a word of ours, by its own rule', async () => {
    const session = open(mapStore())
    expect((await session.context({ preview: true })).blocks).toMatchObject([
      { section: 'tail', role: 'user', rule: 'continue', from: [], trust: 'user' },
    ])
    await session.append([user('u'), answer('a')])
    expect((await session.context()).blocks.at(-1)).toMatchObject({ section: 'tail', rule: 'continue' })
    await session.append(user('v'))
    expect((await session.context()).blocks.at(-1)).toMatchObject({ section: 'window', from: ['v'] })
  })

  it.each<[string, object]>([
    ['context: tools must be a list', { tools: 'find' }],
    ['context: onPending', { onPending: 'wait' }],
    ['context: tail must be', { tail: 7 }],
    ['context: tail[1] must be an object', { tail: [{ name: 'now', text: '' }, 7] }],
    ['context: tail[0].name must be', { tail: [{ name: 'a b', text: '' }] }],
    ['context: tail[0].name must be', { tail: [{ name: '', text: '' }] }],
    ['context: tail[0].name must be', { tail: [{ name: 'a'.repeat(65), text: '' }] }],
    ['context: tail[0].name must be', { tail: [{ name: 7, text: '' }] }],
    ['context: tail[0].text must be', { tail: [{ name: 'now', text: 7 }] }],
    ['context: tail[0].other is not known', { tail: [{ name: 'now', text: '', other: 1 }] }],
    ['context: limits', { limits: 7 }],
    ['context: other is not known', { other: 1 }],
    ['context: options must be an object', 7 as never],
  ])('is not made where its options are wrong: %s', async (message, options) => {
    await expect(open(mapStore()).context(options)).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      message: expect.stringContaining(message),
    })
  })

  it('says by what counts were multiplied only where they were', async () => {
    const factor = { now: 1 }
    const counter = { ...utf8Bound, calibration: () => factor.now }
    const store = mapStore()
    const session = open(store, { counter })
    await session.append(user('u'))
    expect((await session.context()).receipt).not.toHaveProperty('calibration')
    factor.now = 2
    expect((await session.context({ newEpoch: true })).receipt).toMatchObject({ calibration: 2 })
    const { rows } = await store.open(scope).entries({ kinds: ['epoch'] })
    const marks = rows.map(({ body }) => JSON.parse(body ?? '{}'))
    expect(marks.map(({ calibration }) => calibration)).toEqual([undefined, 2])
  })
})

describe('a message', () => {
  it('has at most 8 MiB of JSON, and 4 KiB of metadata', async () => {
    const session = open(mapStore())
    const sealed = (content: string) =>
      sealMessage({ ...user('u'), content, createdAt: 0, trust: 'user' } as Message)
    const room = 8 * 1024 * 1024 - sealed('').length
    await session.append({ ...user('u', 'x'.repeat(room)), createdAt: 0 })
    await expect(session.append({ ...user('v', 'x'.repeat(room + 1)), createdAt: 0 })).rejects.toMatchObject({
      code: 'ERR_ENTRY_TOO_LARGE',
      message: 'append: message has 8388609 bytes, more than 8388608',
      size: 8_388_609,
      limit: 8_388_608,
    })
    const metadata = (length: number) => ({ note: 'x'.repeat(length - '{"note":""}'.length) })
    await session.append({ ...user('w'), metadata: metadata(4_096) })
    await expect(session.append({ ...user('x'), metadata: metadata(4_097) })).rejects.toMatchObject({
      code: 'ERR_ENTRY_TOO_LARGE',
      message: 'append: message.metadata has 4097 bytes, more than 4096',
    })
  })

  it('has a label that there is', async () => {
    const session = open(mapStore())
    await expect(session.append({ ...user('v'), trust: 'nobody' as never })).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      message: 'append: message.trust must be one of web, tool, import, assistant, user, system',
    })
  })

  it.each<[string, object]>([
    ['append: message.content must be a list of tool results', { role: 'tool', content: 'a' }],
    ['append: message.content must be a string or a list of parts', { role: 'user', content: 7 }],
    ['append: message.content[0].id must be at most 1024 bytes', calls('c', 'x'.repeat(1_025))],
  ])('is refused with its reason: %s', async (message, input) => {
    await expect(open(mapStore()).append(input as never)).rejects.toMatchObject({ message })
  })

  it('of a user may hold no part at all, and one of a tool may not', async () => {
    const session = open(mapStore())
    await session.append({ id: 'u', role: 'user', content: [] })
    await expect(session.append({ role: 'tool', content: [] })).rejects.toThrow('must hold a tool result')
  })

  it('is among the last 50 unless more are asked for, and counts with its results in characters', async () => {
    const session = open(mapStore())
    await session.append(answers('a', 60))
    expect(await session.history()).toHaveLength(50)
    await session.append([calls('c', 'x'), results('r', ['x', 'o'.repeat(1_000)]), answer('last')])
    const history = await session.history({ characters: 900 })
    expect(history.map(({ id }) => id)).toEqual(['last'])
  })

  it('before which history is asked for must show', async () => {
    await expect(open(mapStore()).history({ before: 7 as never })).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      message: expect.stringContaining('history: before'),
    })
    await expect(open(mapStore()).history({ before: 'gone' })).rejects.toMatchObject({
      code: 'ERR_NOT_FOUND',
      message: 'history: gone does not show in this session',
      id: 'gone',
    })
  })
})

describe('a capped output', () => {
  const text = Array.from(
    { length: 400 },
    (_, line) => `line ${line} calls ${'some'.padEnd(4 + (line % 9), 'x')}_${line} and says nothing else`,
  ).join('\n')
  const { count } = utf8Bound

  it('holds no more than it may where every line break counts', () => {
    for (let max = 400; max < 600; max++)
      expect(count(capOutput(text, max, count, '#1'))).toBeLessThanOrEqual(max)
  })

  it('is filled with its beginning, its end, and names that take less than a third', () => {
    for (let max = 400; max < 1_000; max += 50) {
      const output = capOutput(text, max, count, '#1')
      const [, names = ''] = /\n(names in the cut part: .*)\n/.exec(output) ?? []
      expect(count(output)).toBeGreaterThan(max * 0.9)
      expect(count(names)).toBeGreaterThan(max * 0.1)
      expect(count(names)).toBeLessThan(max / 3)
    }
  })
})

describe('a session that is listened to', () => {
  it('watches its store until the last listener left, and again for the next', async () => {
    let watching = 0
    const store = changedStore(mapStore(), () => ({
      watch: () => {
        watching++
        return () => {
          watching--
        }
      },
    }))
    const session = open(store)
    const stops = [session.subscribe(() => {}), session.subscribe(() => {})]
    const watched = [watching]
    for (const stop of stops) {
      stop()
      watched.push(watching)
    }
    const stop = session.subscribe(() => {})
    watched.push(watching)
    stop()
    watched.push(watching)
    expect(watched).toEqual([1, 1, 0, 1, 0])
  })
})

describe('a lane', () => {
  it('is named by all settings, the counter, and the version of the rules that render', () => {
    const options = { budget: 1_000, window: { max: { rounds: 4 } } }
    const sized = (news?: object) =>
      createPolicy(options, utf8Bound, () => ({ ...(news && { facts: news }) }) as never)
    const { lane, counter, ...settings } = sized()
    const name = (v: number, more: object = {}): string =>
      hashJson({ ...settings, ...more, counter: counter.id, v } as never).slice(0, 16)
    expect(lane).toBe(name(RENDER_VERSION))
    expect(lane).not.toBe(name(RENDER_VERSION + 1))
    // So are the settings of features.
    expect(sized({ newsTokens: 7 }).lane).toBe(name(RENDER_VERSION, { use: { facts: { newsTokens: 7 } } }))
  })

  it('names its epochs as every release does, for tabs of two releases may share a session', async () => {
    const session = open(mapStore(), { system: 'Be kind.' })
    await session.append(user('u'))
    expect((await session.context()).epoch).toBe(
      'epoch/5c8517e6d8b80c4ab1cc1f9b2492e04869d7292c4cc51a250bb09db7e0bd8811',
    )
  })
})
