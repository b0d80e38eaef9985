import { describe, expect, it } from 'vitest'
import { uncoveredBefore } from '../../src/features/compaction/coverage.ts'
import { accountOf } from '../../src/features/compaction/covered.ts'
import { holds } from '../../src/features/compaction/summary.ts'
import {
  charsPerToken,
  compaction,
  createMemory,
  type Feature,
  type LogRow,
  type Message,
  mapStore,
  type Op,
  type SummaryMark,
} from '../../src/index.ts'
import { leftOut } from '../../src/kernel/context/receipt.ts'
import { NOTHING } from '../../src/kernel/context/window.ts'
import type { Covering } from '../../src/kernel/cover.ts'
import { decide } from '../../src/kernel/log/decide.ts'
import { fold } from '../../src/kernel/log/fold.ts'
import { sealOp } from '../../src/kernel/log/seal.ts'
import { rewind } from '../../src/operations/rewind.ts'
import { content, filler, open, round, scope, untilSummary } from './support/compacting.ts'
import { Home } from './support/home.ts'

/**
 * A log of messages by id: `q…` is a question, which opens a round; `a…` an answer; `c…` a call of
 * the same number; `r…` its result; `e…` an answer with nothing in it. `a1@q1` belongs to round q1,
 * else to the newest. `-q1,a1` is a rewind of both, `+` takes the first rewind back, `!a1` forgets.
 */
function logOf(text: string): readonly LogRow[] {
  const home = new Home(decide)
  let newest = ''
  let rewind = ''
  for (const [index, word] of text.split(' ').entries()) {
    const opId = `op${index}`
    const mark = { type: 'rewind', id: `w${index}` } as const
    if (word.startsWith('-')) {
      rewind ||= mark.id
      home.commit([
        sealOp({ kind: 'mark', opId, base: null, entry: { ...mark, hides: word.slice(1).split(',') } }),
      ])
    } else if (word === '+')
      home.commit([sealOp({ kind: 'mark', opId, base: null, entry: { ...mark, undo: rewind } })])
    else if (word.startsWith('!'))
      home.commit([sealOp({ kind: 'delete', opId, target: `entry:${word.slice(1)}` })])
    else {
      const [id = '', own] = word.split('@')
      if (id.startsWith('q') || newest === '') newest = id
      const op: Op = { kind: 'append', opId, round: own ?? newest, messages: [messageOf(id)] }
      home.commit([sealOp(op)])
    }
  }
  return home.rows
}

function messageOf(id: string): Message {
  const callId = id.replace(/\D/g, '')
  const own = { id, createdAt: 0 }
  if (id.startsWith('q')) return { ...own, role: 'user', trust: 'user', content: id }
  if (id.startsWith('r'))
    return { ...own, role: 'tool', trust: 'tool', content: [{ type: 'tool-result', callId, output: id }] }
  const content = id.startsWith('c')
    ? [{ type: 'tool-call', id: callId, name: 'find', input: {} } as const]
    : ''
  return { ...own, role: 'assistant', trust: 'assistant', content: content || (id.startsWith('e') ? '' : id) }
}

function summaryOf(mark: Partial<SummaryMark> & Pick<SummaryMark, 'upto' | 'seen' | 'count'>): Covering {
  const rest = {
    text: '',
    carry: '',
    pinned: '',
    lost: { count: 0, first: [] },
    by: 'extract',
    spent: 0,
    at: 0,
  } as const
  return {
    mark: { type: 'summary', id: 's', lane: 'main', of: mark.count, trust: 'user', ...rest, ...mark },
    seq: 1,
    place: 1,
  }
}

const wordsOf = (rows: readonly { readonly id: string }[] = []): string => rows.map(({ id }) => id).join(' ')

/**
 * What a summary would be written from, in memory from entry `first` on, by rounds, and what it
 * would cover.
 */
function uncovered(
  text: string,
  to: string,
  { first, start, summary }: { first?: string; start?: string; summary?: Covering } = {},
) {
  const log = logOf(text)
  const rows = log.slice(first === undefined ? 0 : log.findIndex(({ id }) => id === first))
  const conversation = fold(rows)
  const placeOf = (id: string): number => conversation.units.findIndex(({ row }) => row.id === id)
  const begin = start ?? summary?.mark.upto
  const found = uncoveredBefore(
    {
      conversation,
      rows,
      whole: first === undefined,
      summary,
      start: begin === undefined ? 0 : placeOf(begin),
    },
    placeOf(to),
  )
  return found && { ...found.covers, rounds: found.rounds.map(wordsOf) }
}

describe('a summary is written from', () => {
  it('all that stands before the window, round by round', () => {
    const rest = { upto: 'q3', seen: 'q3', count: 4, of: 4 }
    expect(uncovered('q1 a1 q2 a2 q3', 'q3')).toEqual({ ...rest, rounds: ['q1 a1', 'q2 a2'] })
  })

  it('nothing where nothing stands before the window, or the one before it covers all that does', () => {
    expect(uncovered('q1 a1 q2', 'q1')).toBeUndefined()
    const known = summaryOf({ upto: 'q2', seen: 'q2', count: 2 })
    expect(uncovered('q1 a1 q2', 'q2', { summary: known })).toBeUndefined()
    expect(uncovered('q1 a1 q2', 'a1', { summary: known })).toBeUndefined()
  })

  it('nothing older than the window was, and says where it begins', () => {
    const rest = { from: 'q2', skipped: 2, upto: 'q3', seen: 'a3', count: 4 }
    expect(uncovered('q1 a1 q2 a2 q3 a3', 'q3', { first: 'q2' })).toEqual({
      ...rest,
      of: 2,
      rounds: ['q2 a2'],
    })
    // Nor what stands in a later round, and was there before the window began.
    expect(uncovered('q1 q2 a1@q1 q3', 'q3', { first: 'q1', start: 'a1' })).toMatchObject({
      from: 'a1',
      skipped: 2,
      of: 1,
      rounds: ['a1'],
    })
  })

  it('what the one before it does not cover, whenever that was read', () => {
    for (const seen of ['q2', 'a2'])
      expect(
        uncovered('q1 a1 q2 a2 q3', 'q3', { summary: summaryOf({ upto: 'q2', seen, count: 2, of: 7 }) }),
      ).toEqual({ upto: 'q3', seen: 'q3', count: 4, of: 9, rounds: ['q2 a2'] })
  })

  it('what is added to what the one before it covers, and begins where that one does', () => {
    const log = 'q1 a1 q2 b1@q1 a2@q2 q3'
    const mark = { upto: 'q2', count: 2, from: 'q1', skipped: 0 }
    expect(uncovered(log, 'q3', { summary: summaryOf({ ...mark, seen: 'q2' }) })).toMatchObject({
      from: 'q1',
      skipped: 0,
      rounds: ['b1', 'q2 a2'],
    })
    // What its writer had read is not told again.
    expect(uncovered(log, 'q3', { summary: summaryOf({ ...mark, seen: 'b1' }) })?.rounds).toEqual(['q2 a2'])
    // Where nobody knows what the writer had read, it is what it covers.
    expect(uncovered(log, 'q3', { summary: summaryOf({ ...mark, seen: 'gone' }) })?.rounds).toEqual([
      'b1',
      'q2 a2',
    ])
  })

  it('results that found no step, of rounds up to the one into which the cut falls', () => {
    expect(uncovered('q1 r7 a1 q2 a2', 'q2')?.rounds).toEqual(['q1 a1 r7'])
    expect(uncovered('q1 a1 r7 a2', 'a2')?.rounds).toEqual(['q1 a1 r7'])
    expect(uncovered('q1 c1 r1 r1b@q1 q2', 'q2')?.rounds).toEqual(['q1 c1 r1 r1b'])
    expect(uncovered('q1 a1 q2 a2 q3 r7', 'q2')?.rounds).toEqual(['q1 a1'])
    expect(uncovered('r7 q1 a1 q2', 'q2')?.rounds).toEqual(['q1 a1', 'r7'])
    const known = summaryOf({ upto: 'q2', seen: 'q2', count: 3 })
    expect(uncovered('q1 r7 a1 q2 a2 q3', 'q3', { summary: known })?.rounds).toEqual(['q2 a2'])
  })

  it('what joins rounds that are out of sight', () => {
    expect(uncovered('q1 c1 q2 a2 r1@q1 q3 a3', 'q3', { first: 'q2' })?.rounds).toEqual(['q2 a2', 'r1'])
  })

  it('nothing that is hidden, forgotten or empty', () => {
    expect(uncovered('q1 e1 a1 q2', 'q2')?.rounds).toEqual(['q1 a1'])
    expect(uncovered('q1 a1 b1 -b1 q2', 'q2')?.rounds).toEqual(['q1 a1'])
    expect(uncovered('q1 c1 q2 a2 r1@q1 -r1 q3', 'q3', { first: 'q2' })?.rounds).toEqual(['q2 a2'])
    expect(uncovered('q1 c1 q2 a2 r1@q1 !r1 q3', 'q3', { first: 'q2' })?.rounds).toEqual(['q2 a2'])
  })

  it('says where writers interleave, what shows on before its end', () => {
    const covers = uncovered('q1 q2 a1@q1 b1@q1', 'b1')
    expect(covers).toMatchObject({ upto: 'b1', count: 3, apart: { from: 'q2', count: 1 } })
    expect(uncovered('q1 q2 a1@q1', 'q2')).not.toHaveProperty('apart')
  })
})

describe('a summary holds', () => {
  const log = 'q1 a1 q2 b1@q1 a2@q2'
  const upTo = (seen: string, more: string): boolean =>
    holds({ ...summaryOf({ upto: 'q2', seen, count: 2 }).mark }, logOf(`${log} ${more}`.trim()))

  it('as long as nothing that it covers is hidden or shown again', () => {
    expect(upTo('a2', '')).toBe(true)
    expect(upTo('a2', '-a2')).toBe(true)
    expect(upTo('a2', '-q2,a2')).toBe(true)
    expect(upTo('a2', '-a1')).toBe(false)
    expect(upTo('a2', '-a2,a1')).toBe(false)
    // It stands after the summary's end in the log, and shows before it.
    expect(upTo('a2', '-b1')).toBe(false)
    expect(upTo('a2', '-nobody')).toBe(false)
    // Into its round the end falls.
    const within = summaryOf({ upto: 'b1', seen: 'b1', count: 2 }).mark
    expect(holds(within, logOf('q1 a1 b1 -a1'))).toBe(false)
    expect(holds(within, logOf('q1 a1 b1 -b1'))).toBe(true)
  })

  it('whatever was hidden before it was written, and not if that shows again', () => {
    expect(upTo('w5', '-a1')).toBe(true)
    expect(upTo('w5', '-a1 +')).toBe(false)
    expect(upTo('a2', '-a1 +')).toBe(true)
    expect(upTo('a2', '-a1 + -q1')).toBe(false)
  })

  it('where its end stands where it stood', () => {
    expect(holds(summaryOf({ upto: 'q2', seen: 'q2', count: 1 }).mark, logOf('q1 a1 q2'))).toBe(false)
  })
})

describe('the account of what is left out', () => {
  /** Of a log, in memory from entry `first` on, whose window begins at unit `from`. */
  function account(text: string, from: string, summary?: Covering, first?: string): string {
    const log = logOf(text)
    const begin = first === undefined ? 0 : log.findIndex(({ id }) => id === first)
    const rows = log.slice(begin)
    const conversation = fold(rows)
    const start = conversation.units.findIndex(({ row }) => row.id === from)
    const round = conversation.units[start]?.round
    const opener = round === from ? undefined : conversation.units.find(({ row }) => row.id === round)
    const units = [...(opener ? [opener] : []), ...conversation.units.slice(start)]
    const gaps =
      begin === 0 ? [] : [{ from: log[0]?.id ?? '', to: log[begin - 1]?.id ?? '', first: 1, last: begin }]
    const window = { ...NOTHING, from: start, units, ...(opener && { opener }) }
    const { covers, omitted } = leftOut(
      gaps,
      { conversation, rows },
      window,
      summary ? accountOf(summary, window, rows, {} as never).covers : () => false,
    )
    return [
      ...covers.map(({ from, to, count }) => `${from}-${to} ${count} summary`),
      ...omitted.map(({ from, to, count, reason }) => `${from}-${to} ${count} ${reason}`),
    ].join(', ')
  }

  it('names ranges, and parts them where the summary begins and ends', () => {
    expect(account('q1 a1 q2', 'q2')).toBe('q1-a1 2 window')
    expect(account('q1 a1 q2 a2 q3', 'q3', summaryOf({ upto: 'q2', seen: 'q2', count: 2 }))).toBe(
      'q1-a1 2 summary, q2-a2 2 window',
    )
    const later = summaryOf({ upto: 'q3', seen: 'q3', count: 4, from: 'q2', skipped: 2 })
    expect(account('q1 a1 q2 a2 q3', 'q3', later)).toBe('q2-a2 2 summary, q1-a1 2 window')
  })

  it('counts what stands apart as covered where the window begins at the end of the summary', () => {
    const log = 'q1 a1 q2 b1@q1 a2@q2 q3'
    const summary = summaryOf({ upto: 'q2', seen: 'b1', count: 2 })
    expect(account(log, 'q2', summary)).toBe('q1-a1 2 summary, b1-b1 1 summary')
    // What came since is not.
    expect(account(log, 'q2', summaryOf({ upto: 'q2', seen: 'q2', count: 2 }))).toBe(
      'q1-a1 2 summary, b1-b1 1 window',
    )
    // Nor where the window begins later: all of that the next summary has to cover.
    expect(account(log, 'q3', summary)).toBe('q1-a1 2 summary, q2-a2 3 window')
  })

  it('ends where another writer went on, where the window begins later', () => {
    const apart = { from: 'q2', count: 1 }
    const summary = summaryOf({ upto: 'b1', seen: 'b1', count: 3, apart })
    expect(account('q1 q2 a1@q1 b1@q1 q3', 'q3', summary)).toBe('q1-q1 1 summary, q2-b1 3 window')
  })

  it('is the same for what is not in memory', () => {
    for (const first of [undefined, 'q2']) {
      expect(account('q1 a1 q2 a2', 'q2', undefined, first)).toBe('q1-a1 2 window')
      expect(account('q1 c1 q2 r1@q1 a2@q2', 'q2', undefined, first)).toBe('q1-c1 2 window, r1-r1 1 window')
      const summary = summaryOf({ upto: 'q2', seen: 'r1', count: 2 })
      expect(account('q1 c1 q2 r1@q1 a2@q2', 'q2', summary, first)).toBe('q1-c1 2 summary, r1-r1 1 summary')
    }
  })

  it('names what does not show inside of a window, and no rewinds', () => {
    expect(account('q1 r7 a1', 'q1')).toBe('r7-r7 1 orphan')
    expect(account('q1 a1 -a1 q2', 'q2')).toBe('q1-a1 2 window')
    expect(account('q1 q2 b1@q1 a1@q1 a2@q2 -q2', 'a1')).toBe('q2-q2 1 rewound, b1-b1 1 window')
  })

  it('of a round into which the cut falls, has its question shown', () => {
    expect(account('q1 e1 a1 b1', 'b1')).toBe('e1-a1 2 window')
    const summary = summaryOf({ upto: 'a2', seen: 'd1', count: 4 })
    expect(account('q1 a1 q2 b2 a2 d1@q1', 'a2', summary)).toBe(
      'q1-a1 2 summary, b2-b2 1 summary, d1-d1 1 summary',
    )
  })

  it('gives results and empty messages of the window their own reason, and older ones that of their round', () => {
    expect(account('q1 r7 a1 q2 r8 a2 e1', 'q2')).toBe('q1-a1 3 window, r8-r8 1 orphan, e1-e1 1 empty')
    expect(account('q1 a1 q2 a2 r7@q1', 'q2')).toBe('q1-a1 2 window, r7-r7 1 window')
    // Into its round the cut falls: the step of a result may have been cut, an empty message has no
    // step.
    expect(account('q1 a1 a2 r7 e1', 'a2')).toBe('a1-a1 1 window, r7-r7 1 window, e1-e1 1 empty')
    expect(account('q1 c1 r1 a2 r1b', 'a2')).toBe('c1-r1 2 window, r1b-r1b 1 window')
  })
})

describe('a summary for which a call had no room', () => {
  it('or one that updates it, shows once there is room, unless what it covers was taken back meanwhile', async () => {
    for (const isTakenBack of [false, true]) {
      const store = mapStore()
      const session = open({ model: content() }, {}, store)
      await untilSummary(session)
      const withheld = await session.context({ tail: 'x'.repeat(3_600) })
      expect(withheld.receipt.summary).toBeUndefined()
      const entry = { type: 'rewind', id: 'w', hides: ['q0'] } as const
      const rewind: Op = { kind: 'mark', opId: 'w', base: null, entry }
      if (isTakenBack) await store.open(scope).commit([sealOp(rewind)], decide)
      const after = await session.context()
      expect(after.receipt.summary === undefined).toBe(isTakenBack)
      expect(after.epoch === withheld.epoch).toBe(isTakenBack)
    }
  })
})

describe('a call without room for a summary and all that features show', () => {
  it('leaves out what a feature can do without, and shows the summary', async () => {
    let isLong = false
    const hints: Feature<'hints'> = {
      name: 'hints',
      open: () => ({
        show: {
          read: async () => isLong,
          holds: (frozen, state) => frozen?.record === state,
          head: (state, { rung }) => {
            const text = state && rung === 0 ? 'x'.repeat(3_480) : 'short'
            const section = { in: 'memory', at: 1, name: 'hints', trust: 'user', text } as const
            return { sections: [section], sources: [], record: state as boolean }
          },
        },
      }),
    }
    const session = createMemory({
      store: mapStore(),
      budget: { contextWindow: 1_000, maxOutputTokens: 0, margin: 0 },
      counter: charsPerToken(4),
      use: [compaction({ model: content(filler.repeat(8)), ahead: false }), hints],
    }).session(scope)
    await untilSummary(session)
    isLong = true
    const { receipt, blocks } = await session.context()
    expect(receipt.summary).toBeDefined()
    expect(JSON.stringify(blocks)).toContain('short')
  })
})

describe('a report by which a call with a summary would be over the line', () => {
  it.each([
    ['begins one epoch by it, where there is room for the summary', 3, true],
    ['leaves the epoch as it is, where there is room for its pins alone', 6, false],
  ])('%s', async (_, reported, isBegun) => {
    let calibration = 1
    const counter = { ...charsPerToken(4), calibration: () => calibration }
    const session = open({ model: content(filler.repeat(8)) }, { counter })
    const { context: before } = await untilSummary(session)
    calibration = reported
    const after = await session.context()
    expect(after.receipt.summary?.id).toBe(before.receipt.summary?.id)
    expect(after.receipt.epoch).toMatchObject({ cause: 'budget', place: isBegun ? 3 : 2 })
    expect(after.receipt.calibration).toBe(isBegun ? reported : undefined)
    expect((await session.context()).receipt.epoch).toEqual(after.receipt.epoch)
  })
})

describe('the question of a round into which the cut falls', () => {
  it('shows whole while its round goes on, or is left to the summary, and nothing stands in for it', async () => {
    for (const [length, isFolded] of [
      [400, false],
      [940, true],
    ] as const) {
      const session = open({ model: content() })
      const question = 'word '.repeat((length * 4) / 5)
      await session.append({ id: 'q', role: 'user', content: question })
      let context = await session.context()
      for (let index = 0; index < 30 && !context.receipt.summary; index++) {
        await session.append([
          { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'read', input: {} }] },
          { role: 'tool', content: [{ type: 'tool-result', callId: 'a', output: filler.repeat(3) }] },
        ])
        context = await session.context()
      }
      const [memory, first] = context.blocks
      expect(memory?.section).toBe('memory')
      if (isFolded) expect(first?.role).toBe('assistant')
      else expect(first?.parts).toEqual([{ type: 'text', text: question }])
    }
  })
})

it('a rewind of the end of a window begins an epoch, however much room there is', async () => {
  const session = open({ model: content() })
  await session.append([...round(0), ...round(1)])
  await session.context()
  await rewind(session, 'q1')
  expect((await session.context()).receipt.epoch).toMatchObject({ cause: 'rewind' })
})
