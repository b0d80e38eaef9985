import { describe, expect, it } from 'vitest'
import { partGaps } from '../../src/features/compaction/parted-gaps.ts'
import type { Message } from '../../src/index.ts'
import { mapStore } from '../../src/index.ts'
import { readGaps } from '../../src/kernel/context/gaps.ts'
import { decide } from '../../src/kernel/log/decide.ts'
import { readRange } from '../../src/kernel/log/entries.ts'
import { sealOp } from '../../src/kernel/log/seal.ts'
import { user } from './support/messages.ts'

/** A log of six messages of one round, with a mark after the third: m1 m2 m3 mark m4 m5 m6. */
async function log() {
  const store = mapStore().open({ userId: 'ada' })
  for (const id of ['m1', 'm2', 'm3', 'mark', 'm4', 'm5', 'm6'])
    await store.commit(
      [
        id === 'mark'
          ? sealOp({ kind: 'mark', opId: id, base: null, entry: { type: 'rewind', id, hides: [] } as never })
          : sealOp({ kind: 'append', opId: id, round: 'm1', messages: [user(id) as Message] }),
      ],
      decide,
    )
  const rows = await readRange(store, undefined)
  const row = (id: string) => rows.find((one) => one.id === id)
  const from = (id: string) => rows.slice(rows.findIndex((one) => one.id === id))
  return { store, rows, row, from }
}

describe('messages before the entries that are held', () => {
  it('are one range to the last message before them', async () => {
    const { store, from } = await log()
    const gaps = (id: string) => readGaps(store, 'm1', from(id), undefined)
    expect(await gaps('m5')).toEqual([{ from: 'm1', to: 'm4', first: 1, last: 4 }])
    expect(await gaps('m4')).toEqual([{ from: 'm1', to: 'm3', first: 1, last: 3 }])
    expect(await gaps('m2')).toEqual([{ from: 'm1', to: 'm1', first: 1, last: 1 }])
    expect(await gaps('mark')).toEqual([{ from: 'm1', to: 'm3', first: 1, last: 3 }])
  })

  it('are none before the first one, without entries, and in an empty log', async () => {
    const { store, from } = await log()
    expect(await readGaps(store, 'm1', from('m1'), undefined)).toEqual([])
    expect(await readGaps(store, 'm1', [], undefined)).toEqual([])
    expect(await readGaps(store, undefined, from('m5'), undefined)).toEqual([])
  })

  it('are all of them where the entries hold none', async () => {
    const { store, row } = await log()
    const mark = row('mark')
    expect(await readGaps(store, 'm1', mark ? [mark] : [], undefined)).toEqual([
      { from: 'm1', to: 'm3', first: 1, last: 3 },
    ])
  })

  it('are those before the opener and those after it', async () => {
    const { store, row, from } = await log()
    const gaps = (opener: string, first: string) => readGaps(store, 'm1', from(first), row(opener))
    expect(await gaps('m3', 'm6')).toEqual([
      { from: 'm1', to: 'm2', first: 1, last: 2 },
      { from: 'm4', to: 'm5', first: 4, last: 5 },
    ])
    expect(await gaps('m1', 'm4')).toEqual([{ from: 'm2', to: 'm3', first: 2, last: 3 }])
    expect(await gaps('m2', 'm4')).toEqual([
      { from: 'm1', to: 'm1', first: 1, last: 1 },
      { from: 'm3', to: 'm3', first: 3, last: 3 },
    ])
    expect(await gaps('m3', 'm4')).toEqual([{ from: 'm1', to: 'm2', first: 1, last: 2 }])
    expect(await gaps('m1', 'm2')).toEqual([])
  })

  it('are parted at borders that fall into them', async () => {
    const { store, from } = await log()
    const gaps = await readGaps(store, 'm1', from('m6'), undefined)
    expect(gaps).toEqual([{ from: 'm1', to: 'm5', first: 1, last: 5 }])
    const at = (...borders: readonly [number, string | undefined][]) =>
      partGaps(
        store,
        gaps,
        borders.map(([last, next]) => ({ last, next })),
      )
    expect(await at([3, 'm4'])).toEqual([
      { from: 'm1', to: 'm3', first: 1, last: 3 },
      { from: 'm4', to: 'm5', first: 4, last: 5 },
    ])
    expect(await at([1, 'm2'], [4, 'm5'])).toEqual([
      { from: 'm1', to: 'm1', first: 1, last: 1 },
      { from: 'm2', to: 'm4', first: 2, last: 4 },
      { from: 'm5', to: 'm5', first: 5, last: 5 },
    ])
    for (const [last, next] of [
      [0, 'm1'],
      [5, 'm6'],
      [6, undefined],
      [3, undefined],
    ] as const)
      expect(await at([last, next])).toEqual(gaps)
  })
})
