import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/index.ts'
import { decide, EMPTY_HEAD, nothingWritten } from '../../src/kernel/log/decide.ts'
import { allOrNone, isRepeated, look, once, wasWritten } from '../../src/kernel/log/once.ts'
import { sealOp } from '../../src/kernel/log/seal.ts'
import type { OpResult, SealedOp } from '../../src/ports/op.ts'
import type { Rows } from '../../src/ports/store.ts'
import { user } from './support/messages.ts'

const op = (id: string, round = id): SealedOp =>
  sealOp({ kind: 'append', opId: `op-${id}`, round, messages: [user(id) as Message] })
const accepted = (seq: number): OpResult => ({ status: 'accepted', seq, applied: true })
const refused: OpResult = { status: 'rejected', reason: 'unknown-round' }

function rows(results: readonly (readonly [string, OpResult])[] = []): Rows {
  return {
    head: EMPTY_HEAD,
    results: new Map(results),
    entries: new Map(),
    registers: new Map(),
    deleted: new Set(),
    dependents: new Map(),
    emptiedAt: 0,
  }
}

describe('a batch', () => {
  it('writes what is accepted, and keeps the reason of what is not', () => {
    const decision = decide([op('a'), op('b', 'nowhere'), op('c')], rows())
    expect(decision.results).toEqual([accepted(1), refused, accepted(2)])
    expect(decision.log.map(({ id }) => id)).toEqual(['a', 'c'])
    expect(decision.refused).toEqual([{ opId: 'op-b', result: refused }])
  })

  it('of all or none writes nothing where one op is refused', () => {
    expect(allOrNone([op('a'), op('b', 'nowhere')], rows())).toEqual(nothingWritten([accepted(1), refused]))
    expect(allOrNone([op('a'), op('b')], rows())).toEqual(decide([op('a'), op('b')], rows()))
  })

  it('that goes once writes nothing where one of its ops was written before', () => {
    const before = rows([['op-a', accepted(7)]])
    const results = [{ ...accepted(7), repeated: true }, accepted(1)]
    expect(once([op('a'), op('b')], before)).toEqual(nothingWritten(results as readonly OpResult[]))
    expect(once([op('c'), op('b')], before)).toEqual(decide([op('c'), op('b')], before))
    expect(once([op('c'), op('b', 'nowhere')], before)).toEqual(nothingWritten([accepted(1), refused]))
  })

  it('can be looked at, and nothing is written', () => {
    expect(look([op('a')], rows())).toEqual(nothingWritten([accepted(1)]))
  })

  it('was written before where any of its ops says so', () => {
    const repeated: OpResult = { status: 'accepted', seq: 7, applied: true, repeated: true }
    expect(
      [repeated, accepted(1), refused, { ...refused, repeated: true } as OpResult].map(isRepeated),
    ).toEqual([true, false, false, false])
    expect(wasWritten([accepted(1), repeated])).toBe(true)
    expect(wasWritten([accepted(1), refused])).toBe(false)
    expect(wasWritten([])).toBe(false)
  })
})
