import { describe, expect, it } from 'vitest'
import type { Message, ScopeStore } from '../../src/index.ts'
import { mapStore } from '../../src/index.ts'
import { decide } from '../../src/kernel/log/decide.ts'
import { readRange } from '../../src/kernel/log/entries.ts'
import { fold } from '../../src/kernel/log/fold.ts'
import { answersFromOutside, partByRound, partId, readRoundsOfCalls } from '../../src/kernel/log/rounds.ts'
import { sealOp } from '../../src/kernel/log/seal.ts'
import type { LogRow } from '../../src/ports/store.ts'
import { hashText } from '../../src/text/hash.ts'
import { answer, calls, result, user } from './support/messages.ts'

const whole = (...messages: readonly object[]): readonly Message[] => messages as readonly Message[]

/** Rounds of ops, each with the ids of its messages. */
function parted(messages: readonly Message[], current?: string, waiting: readonly [string, string][] = []) {
  const ops = partByRound('op', messages, current, new Map(waiting))
  expect(ops.map(({ opId }) => opId)).toEqual(ops.map((_, index) => partId('op', index)))
  expect(ops.every(({ kind }) => kind === 'append')).toBe(true)
  return ops.map((op) => [op.round, ...op.messages.map(({ id }) => id)])
}

const pair = {
  role: 'tool',
  id: 'r',
  content: ['c1', 'c2'].map((callId) => ({ type: 'tool-result', callId })),
}

describe('messages that are written together', () => {
  it('are one op a round: a user message opens one, and others join it', () => {
    expect(parted(whole(user('u'), answer('a'), answer('b'), user('v'), answer('c')))).toEqual([
      ['u', 'u', 'a', 'b'],
      ['v', 'v', 'c'],
    ])
  })

  it('join the current round, or open one where there is none', () => {
    expect(parted(whole(answer('a'), answer('b')), 'u')).toEqual([['u', 'a', 'b']])
    expect(parted(whole(answer('a'), answer('b')))).toEqual([['a', 'a', 'b']])
    expect(parted(whole(result('r', 'c'), answer('b')))).toEqual([
      ['r', 'r'],
      ['b', 'b'],
    ])
  })

  it('go to the rounds of the calls that they answer, and what follows them does not', () => {
    expect(parted(whole(result('r', 'c'), answer('a')), 'u', [['c', 'old']])).toEqual([
      ['old', 'r'],
      ['u', 'a'],
    ])
    expect(parted(whole(user('u'), calls('a', 'c'), user('v'), result('r', 'c'), answer('b')))).toEqual([
      ['u', 'u', 'a'],
      ['v', 'v'],
      ['u', 'r'],
      ['v', 'b'],
    ])
    expect(parted(whole(pair), 'u', [['c2', 'old']])).toEqual([['old', 'r']])
    const both: [string, string][] = [
      ['c2', 'newer'],
      ['c1', 'older'],
    ]
    expect(parted(whole(pair), 'u', both)).toEqual([['older', 'r']])
    expect(parted(whole(pair), 'u', [['other', 'old']])).toEqual([['u', 'r']])
  })

  it('have a round from outside only where they answer what they do not call before', () => {
    const of = (...messages: readonly object[]): string[] => [...answersFromOutside(whole(...messages))]
    expect(of(calls('a', 'c1'), pair)).toEqual(['c2'])
    expect(of(result('r', 'c1'), calls('a', 'c1'))).toEqual(['c1'])
    expect(of(user('u'), answer('a'))).toEqual([])
  })

  it('are named after the op, the first part like the op itself', () => {
    expect(partId('op', 0)).toBe('op')
    expect(partId('op', 1)).toBe(`part/${hashText('["op",1]')}`)
    expect(partId('op', 'facts')).toBe(`part/${hashText('["op","facts"]')}`)
  })
})

describe('rounds of calls that wait', () => {
  /** A log of rounds, and how often it was read. */
  async function logOf(...rounds: readonly (readonly object[])[]) {
    const scope = mapStore().open({ userId: 'ada' })
    for (const [index, messages] of rounds.entries()) {
      const [first] = whole(...messages)
      const round = first?.id as string
      const op = { kind: 'append', opId: `op-${index}`, round, messages: whole(...messages) } as const
      await scope.commit([sealOp(op)], decide)
    }
    const reads: unknown[] = []
    const store: ScopeStore = {
      ...scope,
      entries: async (query) => {
        if (query?.last !== undefined) reads.push(query)
        return await scope.entries(query)
      },
    }
    const all = await readRange(scope, undefined)
    /** A view that holds the last so many rows, with an opener where it is given. */
    const view = (last: number, opener?: LogRow) => {
      const rows = [...(opener ? [opener] : []), ...all.slice(all.length - last)]
      const conversation = fold(opener ? rows.slice(1) : rows, undefined, opener)
      return { rows, opener, conversation, whole: last === all.length }
    }
    const find = async (seen: ReturnType<typeof view>, ...ids: readonly string[]) =>
      Object.fromEntries(await readRoundsOfCalls(store, seen, new Set(ids)))
    return { all, view, find, reads }
  }

  const filler = (count: number): readonly object[] =>
    Array.from({ length: count }, (_, index) => (index === 0 ? user('filler') : answer(`filler-${index}`)))

  it('are found in memory, and nothing is read', async () => {
    const { view, find, reads } = await logOf(
      [user('u'), calls('a', 'c1', 'c2'), result('r', 'c1')],
      [user('v'), calls('b', 'c3')],
    )
    expect(await find(view(5), 'c1', 'c2', 'c3', 'none')).toEqual({ c2: 'u', c3: 'v' })
    expect(await find(view(2), 'c3')).toEqual({ c3: 'v' })
    expect(await find(view(2))).toEqual({})
    expect(reads).toEqual([])
  })

  it('are those of the newest step, where ids are used again', async () => {
    const { view, find } = await logOf([user('u'), calls('a', 'c')], [user('v'), calls('b', 'c')])
    expect(await find(view(4), 'c')).toEqual({ c: 'v' })
  })

  it('are read back page by page, to the call or to the beginning', async () => {
    const { view, find, reads } = await logOf([user('u'), calls('a', 'c')], filler(600), [user('v')])
    expect(await find(view(1), 'c')).toEqual({ c: 'u' })
    expect(reads).toEqual([
      { last: 512, to: 'v' },
      { last: 512, to: 'filler-88' },
    ])
    reads.length = 0
    expect(await find(view(1), 'none')).toEqual({})
    expect(reads).toHaveLength(2)
  })

  it('are not looked for further back than 4 096 entries', async () => {
    const { view, find, reads } = await logOf([user('u'), calls('a', 'c')], filler(4_200), [user('v')])
    expect(await find(view(1), 'c')).toEqual({})
    expect(reads).toHaveLength(8)
  })

  it('do not come from the opener of a round whose results may stand before what is read', async () => {
    const { all, view, find } = await logOf([calls('a', 'c'), result('r', 'c')], filler(3), [user('v')])
    expect(await find(view(1, all[0]), 'c')).toEqual({})
  })

  it('are none in a log that is empty', async () => {
    const { view, find, reads } = await logOf()
    expect(await find({ ...view(0), whole: false }, 'c')).toEqual({})
    expect(reads).toEqual([])
  })
})
