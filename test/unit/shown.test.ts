import { describe, expect, it } from 'vitest'
import { lawChecker } from '../../src/assert-laws.ts'
import { type Context, isPlimsollError, type MessageInput, mapStore, utf8Bound } from '../../src/index.ts'
import { contextAt } from '../../src/operations/context-at.ts'
import { forget } from '../../src/operations/forget/forget.ts'
import { rewind, undo } from '../../src/operations/rewind.ts'
import { type FullMemoryOptions, type FullSession, fullMemory } from '../contract/full-memory.ts'

const SCOPE = { userId: 'ada', sessionId: 'trip' }

function open(options: Partial<FullMemoryOptions> = {}): FullSession {
  return fullMemory({ store: mapStore(), budget: 16_000, ...options }).session(SCOPE)
}

async function talk(session: FullSession, rounds: number, filler = ''): Promise<void> {
  for (let index = 0; index < rounds; index++) {
    await session.append([
      { id: `u${index}`, role: 'user', content: `Question ${index} about the trip. ${filler}` },
      { id: `a${index}`, role: 'assistant', content: `Answer ${index}: the train leaves at nine. ${filler}` },
    ])
    await session.context()
  }
}

const shown = ({ blocks }: Context): readonly string[] =>
  blocks.filter(({ section }) => section === 'window').flatMap(({ from }) => from)

describe('what a context shows, and what its receipt says', () => {
  it('a preview that begins an epoch without the summary does not name it', async () => {
    const session = open({ budget: 600, counter: utf8Bound, compaction: {} })
    await talk(session, 12, 'x'.repeat(40))
    await session.append({ id: 'last', role: 'user', content: 'Again?' })
    await rewind(session, 'u3')
    const { blocks, receipt } = await session.context({ preview: true })
    expect(blocks.filter(({ section }) => section === 'memory')).toEqual([])
    expect(receipt.summary).toBeUndefined()
  })

  it('previews break no law, though a rewind takes back what one of them showed', async () => {
    const session = open({ laws: lawChecker })
    await session.append([
      { id: 'u', role: 'user', content: 'Hello.' },
      { id: 'a', role: 'assistant', content: 'One.' },
    ])
    await session.context({ preview: true })
    await rewind(session, 'a')
    await session.append({ id: 'b', role: 'assistant', content: 'Two.' })
    expect(shown(await session.context({ preview: true }))).toEqual(['u', 'b'])
  })

  it('older messages show where all that showed was forgotten', async () => {
    const session = open({ window: { max: { rounds: 2 }, keep: { rounds: 1 } } })
    await talk(session, 5)
    const before = shown(await session.context())
    for (const id of before) await forget(session, id)
    const after = shown(await session.context())
    expect(before).toEqual(['u4', 'a4'])
    expect(after).toEqual(['u3', 'a3'])
  })

  it('what is left shows where an edit hides all that a window began with, a summary that it ended included', async () => {
    const session = open({ compaction: {}, window: { max: { rounds: 4 }, keep: { rounds: 1 } } })
    await talk(session, 9)
    const [first = ''] = shown(await session.context())
    await rewind(session, first)
    await session.context()
    await session.append({ id: 'x', role: 'user', content: 'Something else.' })
    await session.context()
    await rewind(session, 'u3')
    const left = ['u0', 'a0', 'u1', 'a1', 'u2', 'a2']
    expect(shown(await session.context())).toEqual(left)
    await session.append({ id: 'y', role: 'user', content: 'And the first question again?' })
    expect(shown(await session.context())).toEqual([...left, 'y'])
  })

  it.each<[string, MessageInput, readonly string[] | 'ERR_TOOL_PENDING']>([
    ['a note', { id: 'x', role: 'system', content: 'A note.' }, ['x']],
    [
      'a call',
      { id: 'x', role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'find', input: {} }] },
      'ERR_TOOL_PENDING',
    ],
  ])(
    '%s that another tab adds to a round that was rewound shows in all of them',
    async (_, message, expected) => {
      const store = mapStore()
      const [one, other] = [open({ store }), open({ store })]
      await one.append({ id: 'u1', role: 'user', content: 'Hello.' })
      await other.context()
      await rewind(one, 'u1')
      await one.context()
      await other.append(message)
      for (const session of [one, other, open({ store })]) {
        const found = await session.context().then(shown, (error) => isPlimsollError(error) && error.code)
        expect(found).toEqual(expected)
      }
    },
  )

  it('an epoch that begins with a late reply of a round that was rewound is the same when it is rebuilt', async () => {
    const session = open()
    await session.append({ id: 'u1', role: 'user', content: 'Hello.' })
    await session.context()
    await rewind(session, 'u1')
    await session.context()
    await session.append({ id: 'x', role: 'assistant', content: 'A late reply.' }, { round: 'u1' })
    const { blocks } = await session.context({ newEpoch: true })
    const past = await contextAt(session, 'x')
    expect([past.verified, past.reason]).toEqual([false, 'unrecorded'])
    expect(past.context.blocks).toEqual(blocks)
    await session.append({ role: 'user', content: 'Go on.' })
    expect((await contextAt(session, 'x')).verified).toBe(true)
  })

  it('an undo brings back what stood before all that was in memory', async () => {
    const options = { store: mapStore(), counter: utf8Bound }
    const window = { max: { messages: 3 }, keep: { messages: 1 } }
    const session = open({ ...options, budget: 400, window })
    await session.append([
      { id: 'u2', role: 'user', content: 'Hello.' },
      { id: 'a3', role: 'assistant', content: 'Yes?' },
      { id: 'u4', role: 'user', content: 'More.' },
    ])
    await rewind(session, 'u4')
    await session.append({
      id: 'c',
      role: 'assistant',
      content: [{ type: 'tool-call', id: 'x', name: 'find', input: {} }],
    })
    await session.context({ newEpoch: true, onPending: 'abandon' })
    await undo(session)
    expect(shown(await session.context()).at(-1)).toBe('u4')
    expect(shown(await open({ ...options, budget: 500 }).context()).at(-1)).toBe('u4')
  })

  it('a rewind hides what shows after a message, though it was written before all that is in memory', async () => {
    const session = open()
    await session.append({ id: 'u1', role: 'user', content: 'Hello.' })
    await session.append({ id: 'u2', role: 'user', content: 'Are you there?' })
    await rewind(session, 'u2')
    await session.append({ id: 'a1', role: 'assistant', content: 'Yes.' })
    await forget(session, 'u1')
    await session.context()
    await undo(session)
    expect((await session.history()).map(({ id }) => id)).toEqual(['a1', 'u2'])
    await rewind(session, 'a1')
    expect(await session.history()).toEqual([])
  })

  it('a rewind inside a long round hides a round that another tab began meanwhile', async () => {
    const store = mapStore()
    await open({ store }).append([
      { id: 'u1', role: 'user', content: 'Begin.' },
      { id: 'u2', role: 'user', content: 'And this?' },
    ])
    for (let step = 0; step < 80; step++)
      await open({ store }).append({ id: `a${step}`, role: 'assistant', content: 'Done.' }, { round: 'u1' })
    const session = open({ store })
    await rewind(session, 'a79')
    expect((await session.history({ messages: 100 })).at(-1)?.id).toBe('a78')
  })
})
