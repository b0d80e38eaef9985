import { describe, expect, it } from 'vitest'
import type { LogRow } from '../../../src/ports/store.ts'
import { type Claim, claimIn, claimOf, misplaced } from '../../../src/stores/encrypted/order.ts'

const rowOf = (seq: number, opId: string, place = 0): LogRow => ({
  seq,
  place,
  kind: 'message',
  id: `${opId}/${place}`,
  opId,
  ordinal: seq,
  body: 'sealed',
})

/** The ids of misplaced rows, where each row's writer saw the op of that seq last. */
function found(rows: readonly LogRow[], saw: readonly (readonly [number, string] | undefined)[]): string[] {
  const claims = new Map<LogRow, Claim>()
  rows.forEach((row, index) => {
    const [seq, opId] = saw[index] ?? []
    const seen = seq === undefined || opId === undefined ? undefined : { seq, opId }
    claims.set(row, claimIn(`${claimOf(seen, undefined)}null\ntext`))
  })
  return [...misplaced(rows, claims, false)].map(({ id }) => id)
}

describe('rows that say where they stand', () => {
  it('are none misplaced where each is behind what its writer saw', () => {
    const rows = [rowOf(5, 'a'), rowOf(5, 'a', 1), rowOf(6, 'b'), rowOf(7, 'c')]
    expect(found(rows, [undefined, undefined, [5, 'a'], [6, 'b']])).toEqual([])
  })

  it('are found where another text says that their op has another seq', () => {
    const rows = [rowOf(5, 'a'), rowOf(6, 'c'), rowOf(8, 'd')]
    expect(found(rows, [undefined, [5, 'a'], [7, 'c']])).toEqual(['c/0'])
  })

  it('are found where one was moved to the seq of another op', () => {
    const rows = [rowOf(5, 'a'), rowOf(5, 'b'), rowOf(8, 'd')]
    expect(found(rows, [undefined, undefined, [7, 'b']])).toEqual(['a/0', 'b/0'])
  })

  it('are found where they stand before what their writer saw', () => {
    expect(found([rowOf(5, 'a'), rowOf(6, 'b')], [[6, 'b'], undefined])).toContain('a/0')
  })
})
