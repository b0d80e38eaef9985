import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { messageIn } from '../../src/kernel/log/bodies.ts'
import { addedLate, type Conversation, fold, grow, pendingCalls } from '../../src/kernel/log/fold.ts'
import { sealOp } from '../../src/kernel/log/seal.ts'
import type { RewindMark } from '../../src/ports/op.ts'
import type { LogRow } from '../../src/ports/store.ts'
import { logs } from './support/logs.ts'
import { flatten, showReference } from './support/reference.ts'
import { runs } from './support/runs.ts'
import { shownIn } from './support/shown.ts'

function row(id: string, round: string, ordinal: number, role: string, content: unknown): LogRow {
  return {
    seq: ordinal,
    place: 0,
    kind: 'message',
    id,
    opId: id,
    ordinal,
    round,
    body: JSON.stringify({ role, content, createdAt: 0, trust: role }),
  }
}

describe('fold, over any log,', () => {
  it('shows what a reader of the whole log would expect', () => {
    fc.assert(
      fc.property(logs(), (rows) => {
        expect(shownIn(fold(rows))).toEqual(showReference(rows))
      }),
      runs(1_000),
    )
  })

  it('grown by rows that follow, is what all rows give, and has them at its end; or it is folded again', () => {
    const content = ({ origin: _, end, ...rest }: Conversation) => ({
      ...rest,
      end: end && { id: end.id, opened: end.opened },
    })
    let grew = 0
    fc.assert(
      fc.property(logs(), fc.array(fc.nat(3)), (rows, steps) => {
        const bounds = steps.map((_, index) => steps.slice(0, index + 1).reduce((sum, step) => sum + step, 0))
        let before = fold(rows.slice(0, bounds[0] ?? 0))
        for (const [index, bound] of bounds.slice(1).entries()) {
          const from = bounds[index] ?? 0
          const kept = content(fold(rows.slice(0, from)))
          const after = grow(before, rows.slice(from, bound), messageIn)
          expect(content(before)).toEqual(kept)
          const whole = fold(rows.slice(0, bound))
          if (after) {
            grew++
            expect(content(after)).toEqual(content(whole))
            expect(after.origin).toBe(before.origin)
            expect(after.units.slice(0, before.units.length)).toEqual(before.units)
            const seen = rows.slice(0, from).at(-1)?.seq ?? 0
            expect(addedLate(after.units, seen)).toBe(false)
          } else expect(whole.origin).not.toBe(before.origin)
          before = after ?? whole
        }
      }),
      runs(1_000),
    )
    expect(grew).toBeGreaterThan(100)
  })

  it('grows by new rounds, by steps of the newest, and by results that come with their step', () => {
    const call = [{ type: 'tool-call', id: 'c', name: 'find', input: {} }]
    const result = [{ type: 'tool-result', callId: 'c', output: 'found' }]
    const log = [
      row('u1', 'u1', 1, 'user', 'Hi.'),
      row('a1', 'u1', 2, 'assistant', call),
      row('t1', 'u1', 3, 'tool', result),
      row('u2', 'u2', 4, 'user', 'More.'),
    ]
    const grows = (from: number, to: number) =>
      grow(fold(log.slice(0, from)), log.slice(from, to), messageIn) !== undefined
    expect([grows(0, 1), grows(1, 3), grows(1, 4), grows(3, 4)]).toEqual([true, true, true, true])
    // Its step shows already.
    expect(grows(2, 3)).toBe(false)
  })

  it('has each message of results once in its step, however many results it holds', () => {
    const call = (id: string) => ({ type: 'tool-call', id, name: 'find', input: {} })
    const result = (callId: string) => ({ type: 'tool-result', callId, output: 'found' })
    const [, step] = fold([
      row('u1', 'u1', 1, 'user', 'Hi.'),
      row('a1', 'u1', 2, 'assistant', ['a', 'b', 'c', 'd'].map(call)),
      row('t1', 'u1', 3, 'tool', ['a', 'b'].map(result)),
      row('t2', 'u1', 4, 'tool', ['c', 'd'].map(result)),
    ]).units
    const shown = step?.results.map(({ row, joined }) => [row.id, joined.map(({ part }) => part.callId)])
    expect(shown).toEqual([
      ['t1', ['a', 'b']],
      ['t2', ['c', 'd']],
    ])
  })

  it('shows rounds one after the other, in the order of their first messages', () => {
    fc.assert(
      fc.property(logs(), (rows) => {
        const { units } = fold(rows)
        const openers = rows.filter((row) => row.round === row.id).map(({ id }) => id)
        const rounds = units.map(({ round }) => round)
        expect(rounds.filter((round, index) => round !== rounds[index - 1])).toEqual(
          openers.filter((id) => rounds.includes(id)),
        )
        for (const id of rounds) {
          const shown = units.filter(({ round }) => round === id).map(({ row }) => row)
          expect(shown).toEqual(rows.filter((row) => shown.includes(row)))
        }
      }),
      runs(300),
    )
  })

  it('joins each result at most once, to a call of its id that stood before it in its round', () => {
    fc.assert(
      fc.property(logs(), (rows) => {
        const { units } = fold(rows)
        const joined = units.flatMap((unit) =>
          unit.results.flatMap(({ row, joined }) => joined.map((one) => ({ ...one, row, unit }))),
        )
        expect(new Set(joined.map(({ part }) => part)).size).toBe(joined.length)
        expect(new Set(joined.map(({ call }) => call)).size).toBe(joined.length)
        for (const { part, call, row, unit } of joined) {
          expect(part.callId).toBe(call.part.id)
          expect(row.round).toBe(unit.round)
          expect(row.ordinal).toBeGreaterThan(unit.row.ordinal)
          expect(unit.calls).toContain(call)
        }
        for (const { results } of units) {
          const ordinals = results.map(({ row }) => row.ordinal)
          expect(ordinals).toEqual([...new Set(ordinals)].sort((a, b) => a - b))
        }
        const answered = units.flatMap(({ calls }) => calls.filter((call) => call.answered))
        expect(new Set(answered)).toEqual(new Set(joined.map(({ call }) => call)))
      }),
      runs(300),
    )
  })

  it('joins a result to the newest step in which its call is unanswered', () => {
    fc.assert(
      fc.property(logs(['rewind', 'undo', 'forget']), (rows) => {
        for (const { row, results } of fold(rows).units)
          for (const result of results)
            for (const { part } of result.joined.slice(0, 1)) {
              const then = fold(rows.filter(({ ordinal }) => ordinal < result.row.ordinal))
              const open = then.units.filter(
                (unit) =>
                  unit.round === result.row.round &&
                  unit.calls.some((call) => call.part.id === part.callId && !call.answered),
              )
              // Results before it in its own message may have answered newer ones.
              if (result.joined[0]?.index === 0) expect(open.at(-1)?.row.id).toBe(row.id)
            }
      }),
      runs(200),
    )
  })

  it('accounts for every message once: shown, loose, or not shown for a reason', () => {
    fc.assert(
      fc.property(logs(), fc.nat(), (rows, at) => {
        const part = rows.slice(at % (rows.length + 1))
        const { units, unshown, loose, hidden } = fold(part)
        const shown = units.flatMap((unit) => [unit.row, ...unit.results.map(({ row }) => row)])
        const all = [...new Set(shown), ...unshown.map(({ row }) => row), ...loose]
        expect(all.map(({ ordinal }) => ordinal).sort((a, b) => a - b)).toEqual(
          part.filter(({ kind }) => kind === 'message').map(({ ordinal }) => ordinal),
        )
        for (const { row, reason, opened } of unshown) {
          expect(part.find(({ id, kind }) => id === row.round && kind === 'message')?.ordinal).toBe(opened)
          expect(reason === 'rewound').toBe(hidden.has(row.id))
          if (reason !== 'rewound') expect(reason === 'forgotten').toBe(row.body === null)
        }
        const messages = part.filter(({ kind }) => kind === 'message').map(({ id }) => id)
        for (const row of loose) expect(messages).not.toContain(row.round)
      }),
      runs(300),
    )
  })

  it('calls a result a duplicate where its step is known, and an orphan where none is', () => {
    fc.assert(
      fc.property(logs(), (rows) => {
        const { units, unshown } = fold(rows)
        for (const { row, reason } of unshown) {
          if (reason !== 'orphan' && reason !== 'duplicate') continue
          const { content } = JSON.parse(row.body as string) as { content: { callId: string }[] }
          const ids = content.map(({ callId }) => callId)
          const known = units.filter((unit) => unit.round === row.round && unit.row.ordinal < row.ordinal)
          const calls = known.flatMap((unit) => unit.calls).filter((call) => ids.includes(call.part.id))
          expect(reason).toBe(calls.length > 0 ? 'duplicate' : 'orphan')
          for (const call of calls) expect(call.answered).toBe(true)
        }
      }),
      runs(300),
    )
  })

  it('takes rewinds as a set, in whatever order they come', () => {
    fc.assert(
      fc.property(
        logs().chain((rows) =>
          fc.tuple(
            fc.constant(rows),
            fc.shuffledSubarray(rewindsIn(rows), { minLength: rewindsIn(rows).length }),
          ),
        ),
        ([rows, rewinds]) => {
          const others = rows.filter(({ kind }) => kind !== 'rewind')
          const { units, hidden } = fold(rows)
          for (const moved of [fold([...rewinds, ...others]), fold([...others, ...rewinds, ...rewinds])]) {
            expect(shownIn(moved)).toEqual(shownIn({ units }))
            expect(moved.hidden).toEqual(hidden)
          }
        },
      ),
      runs(300),
    )
  })

  it('shows what it showed before, when a rewind was taken back', () => {
    fc.assert(
      fc.property(logs(), fc.nat(), (rows, at) => {
        const ids = rows.filter(({ kind }) => kind === 'message').map(({ id }) => id)
        const hides = ids.slice(at % (ids.length + 1))
        const rewound = [...rows, rewindRow(rows, { type: 'rewind', id: 'rewind', hides })]
        expect(fold(rewound).units.some(({ row }) => hides.includes(row.id))).toBe(false)
        const undone = [...rewound, rewindRow(rewound, { type: 'rewind', id: 'undo', undo: 'rewind' })]
        expect(shownIn(fold(undone))).toEqual(shownIn(fold(rows)))
      }),
      runs(300),
    )
  })

  it('shows of its end, from where a round opens, what the whole shows of the rounds that open there', () => {
    fc.assert(
      fc.property(logs(), (rows) => {
        const whole = fold(rows)
        rows.forEach((row, index) => {
          if (row.round !== row.id) return
          const end = rows.slice(index)
          const part = fold(end)
          const opened = new Set(end.filter(({ id, round }) => id === round).map(({ id }) => id))
          expect(shownIn(part)).toEqual(
            shownIn({ units: whole.units.filter(({ round }) => opened.has(round)) }),
          )
          expect(part.loose).toEqual(
            end.filter(({ kind, round }) => kind === 'message' && !opened.has(round as string)),
          )
        })
        expect(whole.loose).toEqual([])
      }),
      runs(200),
    )
  })

  it('shows of its end, from where a step begins, what the whole shows there, after the message that opened its round', () => {
    fc.assert(
      fc.property(logs(['rewind', 'undo']), fc.nat(), (rows, at) => {
        const whole = fold(rows)
        const first = whole.units[at % Math.max(1, whole.units.length)]
        const opener = whole.units.find(({ row }) => row.id === first?.round)?.row
        if (!first || !opener || first.row === opener) return
        const end = rows.slice(rows.indexOf(first.row))
        const opened = new Set([
          opener.id,
          ...end.filter(({ id, round }) => id === round).map(({ id }) => id),
        ])
        const part = shownIn(fold(end, undefined, opener))
        const tail = whole.units.filter(
          ({ row, round }) => opened.has(round) && row.ordinal >= first.row.ordinal,
        )
        expect(part[0]).toEqual({ id: opener.id, round: opener.id, calls: [], results: [] })
        expect(part.slice(1)).toEqual(shownIn({ units: tail }))
      }),
      runs(400),
    )
  })

  it('waits for the calls of the newest step that have no result, and for no others', () => {
    fc.assert(
      fc.property(logs(), (rows) => {
        const { units } = fold(rows)
        const waiting =
          showReference(rows)
            .at(-1)
            ?.calls.filter((answered) => !answered).length ?? 0
        expect(pendingCalls(units)).toHaveLength(waiting)
        for (const call of pendingCalls(units)) expect(units.at(-1)?.calls).toContain(call)
      }),
      runs(200),
    )
  })
})

describe('addedLate', () => {
  it('says whether, row by row, what shows ever grew elsewhere than at its end', () => {
    fc.assert(
      fc.property(logs(['rewind', 'undo', 'forget']), (rows) => {
        const { units } = fold(rows)
        const grewInside = rows.map((_, index) => {
          const before = flatten(showReference(rows.slice(0, index)))
          const after = flatten(showReference(rows.slice(0, index + 1)))
          return before.some((id, place) => after[place] !== id)
        })
        for (let seq = 0; seq <= (rows.at(-1)?.seq ?? 0); seq++)
          expect(addedLate(units, seq), `after ${seq}`).toBe(
            rows.some((row, index) => row.seq > seq && grewInside[index]),
          )
      }),
      runs(500),
    )
  })

  it('learns nothing from what a rewind hid, or by what was forgotten', () => {
    fc.assert(
      fc.property(logs(), fc.nat(), (rows, at) => {
        const seq = at % (rows.length + 1)
        const { units } = fold(rows)
        const shown = units.flatMap((unit) => [unit.row, ...unit.results.map(({ row }) => row)])
        const late = shown.some(
          (row, place) => row.seq > seq && shown.slice(place).some((other) => other.ordinal < row.ordinal),
        )
        expect(addedLate(units, seq)).toBe(late)
      }),
      runs(300),
    )
  })
})

const rewindsIn = (rows: readonly LogRow[]): LogRow[] => rows.filter(({ kind }) => kind === 'rewind')

function rewindRow(rows: readonly LogRow[], entry: RewindMark): LogRow {
  const [body = null] = sealOp({ kind: 'mark', opId: entry.id, base: null, entry }).bodies
  const { seq = 0, ordinal = 0 } = rows.at(-1) ?? {}
  return {
    seq: seq + 1,
    place: 0,
    kind: 'rewind',
    id: entry.id,
    opId: entry.id,
    ordinal,
    base: null,
    applied: true,
    body,
  }
}
