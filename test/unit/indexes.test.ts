import { describe, expect, it } from 'vitest'
import { decide, EMPTY_HEAD } from '../../src/kernel/log/decide.ts'
import type { IndexEntry, Name, SealedOp } from '../../src/ports/op.ts'
import type { Decision, RegisterRow, Rows } from '../../src/ports/store.ts'
import { erase, put, remove } from '../contract/samples.ts'

type Changes = Pick<Decision, 'unlisted' | 'listed' | 'sums'>

/** What ops change of the indexes, over registers that are there. */
function changes(
  ops: readonly SealedOp[],
  registers: readonly RegisterRow[] = [],
  rest: Partial<Rows> = {},
): Changes {
  const { unlisted, listed, sums } = decide(ops, {
    head: { ...EMPTY_HEAD, seq: 9 },
    results: new Map(),
    entries: new Map(),
    registers: new Map(registers.map((row) => [row.key, row])),
    deleted: new Set(),
    dependents: new Map(),
    emptiedAt: 0,
    ...rest,
  })
  return { unlisted, listed, sums }
}

function register(key: string, index?: readonly IndexEntry[]): RegisterRow {
  return { key, version: 'v1', seq: 1, ...(index && { index }), body: '{}' }
}

const NOTHING: Changes = { unlisted: [], listed: [], sums: new Map() }
const IN = [{ group: 'g', order: '1', weight: 3 }]
const PLACE = { group: 'g', order: '1', key: 'x' }

describe('a decision about registers', () => {
  it('lists a new one in all its places, and adds up what it weighs in each group', () => {
    const index = [
      ...IN,
      { group: 'g', order: '2', weight: -1 },
      { group: 'h', weight: 4 },
      { group: 'i', order: '' },
    ]
    expect(changes([put('op', 'x', null, { index })])).toEqual({
      unlisted: [],
      listed: [PLACE, { ...PLACE, order: '2' }, { group: 'i', order: '', key: 'x' }],
      sums: new Map([
        ['g', { count: 2, weight: 2 }],
        ['h', { count: 1, weight: 4 }],
      ]),
    })
  })

  it('says nothing of one that is written without an index, or with the one that it has', () => {
    expect(changes([put('op', 'x', null)])).toEqual(NOTHING)
    expect(changes([put('op', 'x', 'v1', { index: IN })], [register('x', IN)])).toEqual(NOTHING)
    expect(changes([put('op', 'x', 'v1', { index: [...IN].reverse() })], [register('x', IN)])).toEqual(
      NOTHING,
    )
  })

  it('names only what differs', () => {
    const before = [...IN, { group: 'h', order: 'a' }, { group: 'sum', weight: 2 }]
    const after = [
      { group: 'g', order: '1', weight: 5 },
      { group: 'h', order: 'b' },
      { group: 'sum', weight: 2 },
    ]
    expect(changes([put('op', 'x', 'v1', { index: after })], [register('x', before)])).toEqual({
      unlisted: [{ group: 'h', order: 'a', key: 'x' }],
      listed: [{ group: 'h', order: 'b', key: 'x' }],
      sums: new Map([['g', { count: 0, weight: 2 }]]),
    })
  })

  it('lists one once in a place that its put names twice, and weighs it twice', () => {
    const index = [...IN, ...IN]
    expect(changes([put('op', 'x', null, { index })])).toEqual({
      unlisted: [],
      listed: [PLACE],
      sums: new Map([['g', { count: 2, weight: 6 }]]),
    })
    expect(changes([put('op', 'x', 'v1', { index: IN })], [register('x', index)])).toEqual({
      ...NOTHING,
      sums: new Map([['g', { count: -1, weight: -3 }]]),
    })
  })

  it('compares with what was there before the first of several puts, and leaves out what nets to nothing', () => {
    const there = [register('x', IN), register('y', [{ group: 'g', weight: -3 }])]
    const elsewhere = [{ group: 'h', order: '9', weight: 1 }]
    const ops = [put('op-1', 'x', 'v1', { index: elsewhere }), put('op-2', 'x', 'op-1', { index: IN })]
    expect(changes(ops, there)).toEqual(NOTHING)
    expect(changes([...ops, put('op-3', 'x', 'op-2'), put('op-4', 'z', null, { index: IN })], there)).toEqual(
      {
        unlisted: [PLACE],
        listed: [{ ...PLACE, key: 'z' }],
        sums: new Map(),
      },
    )
  })

  it('changes nothing by a conflict, a rejection or an op that comes again', () => {
    const elsewhere = [{ group: 'h', order: '9', weight: 1 }]
    const ops = [
      put('op-1', 'x', 'stale', { index: elsewhere }),
      put('op-2', 'gone', null, { index: elsewhere }),
      put('op-3', 'x', 'v1', { index: elsewhere }),
    ]
    const result = { status: 'accepted', seq: 1, applied: true } as const
    const rest = { deleted: new Set<Name>(['register:gone']), results: new Map([['op-3', result]]) }
    expect(changes(ops, [register('x', IN)], rest)).toEqual(NOTHING)
  })

  it('takes back the places of one that is deleted, and of what derives from it', () => {
    const there = [register('x', IN), register('y', IN), register('z', IN)]
    const rest = { dependents: new Map<Name, Name[]>([['register:x', ['register:y']]]) }
    expect(changes([remove('op', 'register:x')], there, rest)).toEqual({
      unlisted: [PLACE, { ...PLACE, key: 'y' }],
      listed: [],
      sums: new Map([['g', { count: -2, weight: -6 }]]),
    })
  })

  it('never lists what arrives deleted', () => {
    const rest = { deleted: new Set<Name>(['entry:m1']) }
    expect(changes([put('op', 'x', null, { index: IN, sources: ['entry:m1'] })], [], rest)).toEqual(NOTHING)
    expect(
      changes([put('op', 'x', 'v1', { index: IN, sources: ['entry:m1'] })], [register('x', IN)], rest),
    ).toEqual({
      unlisted: [PLACE],
      listed: [],
      sums: new Map([['g', { count: -1, weight: -3 }]]),
    })
  })

  it('takes nothing back after an erase, which wiped it', () => {
    const there = [register('x', IN), register('y', IN)]
    const ops = [
      put('op-1', 'x', 'v1'),
      erase('op-2'),
      put('op-3', 'y', null, { index: IN }),
      remove('op-4', 'register:x'),
    ]
    expect(changes(ops, there)).toEqual({
      unlisted: [],
      listed: [{ ...PLACE, key: 'y' }],
      sums: new Map([['g', { count: 1, weight: 3 }]]),
    })
  })
})
