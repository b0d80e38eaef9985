import { describe, expect, it } from 'vitest'
import { BlockShelf } from '../../src/kernel/context/blocks.ts'
import { cutBack, exceededBy, extentOf } from '../../src/kernel/context/cut.ts'
import { leftOut, sectionUses } from '../../src/kernel/context/receipt.ts'
import { firstNeeded, Layout, NOTHING, type Window } from '../../src/kernel/context/window.ts'
import { countMessage } from '../../src/kernel/count.ts'
import { messageIn } from '../../src/kernel/log/bodies.ts'
import { addedLate, fold, grow, messagesOf, pendingCalls } from '../../src/kernel/log/fold.ts'
import { sealMessage } from '../../src/kernel/log/message.ts'
import { hashText } from '../../src/text/hash.ts'
import { type Case, caseOf } from './support/windows.ts'

const CASES = 600

/** A window, without what it shares with others. */
const plain = ({ opener, units, ...window }: Window): object => ({
  ...window,
  units: units.map(({ row }) => row.id),
  opener: opener?.row.id,
})

const shelfOf = ({ policy }: Case): BlockShelf =>
  new BlockShelf(policy, (_, message) => countMessage(policy.counter, message))

/** All that can be said of how a conversation is cut back and shown. */
function told(seed: number): unknown {
  const one = caseOf(seed)
  const { rows, policy } = one
  const conversation = fold(rows)
  const { units, unshown, loose, end } = conversation
  const shelf = shelfOf(one)
  const layout = new Layout(units, shelf)
  const tokens = { system: 1, memory: 2, tools: seed % 2, framing: 0 }
  const cuts = Array.from({ length: 5 }, () => {
    const task = one.task(units.length)
    const band = cutBack(layout, policy, task)
    if (!band) return 'no room'
    const window = layout.show(band, rows)
    expect(window.tokens).toBeLessThanOrEqual(task.room)
    const said = [true, false].map((isCovered) =>
      leftOut([], { conversation, rows }, window, (ordinal) => isCovered && ordinal <= 4),
    )
    return [
      band,
      plain(window),
      said,
      firstNeeded(rows, window)?.id,
      exceededBy(policy, units, window),
      [true, false].map((withOpener) => ({ ...extentOf(units, window, withOpener) })),
      sectionUses({ tokens } as never, window.blocks, task.room, shelf),
    ]
  })
  const openers = rows.filter(({ id, round }) => id === round).map(({ id }) => id)
  const rowsOf = (id: string) => rows.filter(({ round }) => round === id)
  return [
    unshown.map(({ row, reason, opened }) => [row.id, reason, opened]),
    loose.map(({ id }) => id),
    end && [end.id, openers.indexOf(end.id), end.opened, rowsOf(end.id).length],
    units.map(({ row, round }) => [row.id, round, openers.indexOf(round), rowsOf(round).indexOf(row)]),
    messagesOf(units).map(({ id }) => id),
    pendingCalls(units).map(({ part, index }) => [part.id, index]),
    rows.map(({ seq }) => addedLate(units, seq)),
    units.map((_, index) => [
      layout.openerOf(index)?.row.id,
      layout.openerTokens(index),
      layout.isNewestRound(index),
    ]),
    layout.floor(),
    layout.newestUser(),
    plain(layout.newest()),
    cuts,
  ]
}

describe('windows of random conversations', () => {
  it('are what they always were: contexts must not change without a new version of how they are shown', () => {
    const all = Array.from({ length: CASES }, (_, seed) => JSON.stringify(told(seed)))
    expect(hashText(all.join('\n'))).toBe('d1a8762d4620d415b3d7644eb1e1e342ab52b48c4dbcfdc1bba89dcfc2c8ce88')
  })

  it('are the same where units came one by one', () => {
    for (let seed = 0; seed < CASES / 4; seed++) {
      const one = caseOf(seed)
      const { rows, policy } = one
      const half = fold(rows.slice(0, rows.length >> 1))
      const band = cutBack(new Layout(half.units, shelfOf(one)), policy, one.task(half.units.length))
      if (!band) continue
      let conversation = half
      let layout = new Layout(half.units, shelfOf(one))
      layout.show(band, rows)
      for (const row of rows.slice(rows.length >> 1)) {
        const grown = grow(conversation, [row], messageIn)
        if (!grown) break
        conversation = grown
        layout = layout.grown(conversation.units)
        const fresh = new Layout(conversation.units, shelfOf(one)).show(band, rows)
        expect(plain(layout.show(band, rows))).toEqual(plain(fresh))
        for (const [index, unit] of conversation.units.entries())
          expect(layout.indexOf(unit.row.id, rows)).toBe(index)
      }
    }
  })

  it('show the newest unit whole, also where it is the only one', async () => {
    const { policy } = caseOf(1)
    const sealed = { role: 'assistant', createdAt: 0, trust: 'assistant' } as const
    const body = sealMessage({
      ...sealed,
      id: 'a',
      content: [
        { type: 'reasoning', text: 'thought', signature: 's' },
        { type: 'text', text: 'said' },
      ],
    })
    const rows = [
      { seq: 1, place: 0, kind: 'message', id: 'a', opId: 'a', ordinal: 1, round: 'a', body },
    ] as const
    const { units } = fold(rows)
    const layout = new Layout(units, shelfOf({ ...caseOf(1), policy }))
    expect(
      layout
        .newest()
        .blocks.at(-1)
        ?.parts.map(({ type }) => type),
    ).toEqual(['reasoning', 'text'])
  })

  it('are nothing where there is nothing', () => {
    const one = caseOf(1)
    const layout = new Layout([], shelfOf(one))
    expect(layout.newest()).toBe(NOTHING)
    expect(layout.floor()).toEqual({ user: 0, step: 0 })
    expect(layout.indexOf(null, [])).toBe(0)
    expect(layout.indexOf('gone', [])).toBe(-1)
    expect(cutBack(layout, one.policy, one.task(0))).toEqual({ windowFrom: null, cuts: {}, from: 0 })
    expect(layout.show({ windowFrom: null, cuts: {} }, [])).toEqual(NOTHING)
  })
})
