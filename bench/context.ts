/**
 * What a context costs as the history grows, in one run: Plimsoll, the least that a token window
 * can cost, and the peers, each over the same histories in a process of its own, in turns. Then
 * what is counted rather than timed: rows read from the store, and tool calls parted from their
 * results.
 */

import type { BenchOptions, BenchReport } from './bench.ts'
import { CELL_LIMIT_MS, CUT_OFF } from './cells.ts'
import { contextText, type Growth, type Ratio } from './context-text.ts'
import { machine } from './machine.ts'
import { type Paired, timePaired } from './paired.ts'
import { countPairs, type PairCount } from './pairs/count.ts'
import type { Picture } from './picture/bars.ts'
import { drawLines } from './picture/lines.ts'
import { countReads, type Reads } from './reads.ts'
import { growth, round } from './stats.ts'
import { BUDGET } from './subject.ts'
import type { Goal } from './table.ts'
import { PACKAGES, type Row, time } from './timing.ts'

const OURS = 'plimsoll'
const LIMIT = 'limit'
const SIZES = [100, 1_000, 10_000, 100_000, 1_000_000]
const READ_SIZES = [100, 100_000] as const

const MOST_OF_LIMIT = 2
const MOST_GROWTH = 0.05
/** Of a request as text, in turns with the limit: least and goal. */
const MOST_OF_PAIR = { p50: 0.5, p99: 2 }

/** Least factors by which a peer is slower, at a size. */
const FACTORS = [
  { subject: 'mastra-contiguous', size: 1_000, least: 20 },
  { subject: 'mastra-contiguous', size: 100_000, least: 500 },
  { subject: 'langchain', size: 10_000, least: 10_000 },
]

export async function bench({ quick, progress }: BenchOptions): Promise<BenchReport> {
  const rows = await time({
    sizes: quick ? SIZES.slice(0, 3) : SIZES,
    cellMs: quick ? 500 : 4_000,
    rounds: quick ? 3 : 8,
    progress,
  })
  const paired = await timePaired(quick ? [1_000] : [1_000, 10_000], quick ? 3_000 : 20_000, progress)
  progress('rows read')
  const reads = await countReads(quick ? [READ_SIZES[0], 10_000] : READ_SIZES)
  progress('broken pairs')
  const pairs = await countPairs(quick ? 200 : 10_000, progress)
  const report = {
    bench: 'context',
    machine: machine(PACKAGES),
    budgetTokens: BUDGET,
    unit: 'microseconds',
    cells: rows,
    ratios: ratios(rows),
    growth: growths(rows),
    paired,
    reads,
    pairs,
    goals: [...goals(rows, reads, pairs), ...paired.flatMap(goalsOf)],
  }
  return { json: report, text: contextText(report), plots: [plotOf(rows)] }
}

/** Ours over the limit, with and without rendering, and each peer over ours. */
function ratios(rows: readonly Row[]): Ratio[] {
  return [...new Set(rows.map(({ size }) => size))].flatMap((size) => {
    const at = rows.filter((row) => row.size === size)
    const [ours, rendered, cold] = at.filter(({ subject }) => subject === OURS)
    const limit = at.findLast(({ subject }) => subject === LIMIT)
    const peers = at.filter(({ subject }) => subject !== OURS && subject !== LIMIT)
    return [
      ...[ours, rendered, cold].map((row) => ratio(row, limit)),
      ...peers.map((peer) => ratio(peer, ours)),
    ].flatMap((found) => found ?? [])
  })
}

function ratio(of: Row | undefined, to: Row | undefined): Ratio | undefined {
  if (!of || to?.p50 === undefined) return undefined
  const found = { size: of.size, of: of.what, to: to.what }
  if (of.p50 !== undefined) return { ...found, ratio: round(of.p50 / to.p50) }
  return of.note === CUT_OFF
    ? { ...found, ratio: round((CELL_LIMIT_MS * 1_000) / to.p50), atLeast: true }
    : undefined
}

/** From decade to decade and, last, over all. */
function growths(rows: readonly Row[]): Growth[] {
  return [...new Set(rows.map(({ what }) => what))].flatMap((what) => {
    const timed = rows.filter((row) => row.what === what && row.p50 !== undefined)
    const pairs = timed.slice(1).map((row, index) => [timed[index], row] as const)
    if (timed.length > 2) pairs.push([timed[0], timed.at(-1) as Row])
    return pairs.flatMap(([small, large]) => {
      if (small?.p50 === undefined || large.p50 === undefined) return []
      const exponent = growth({ size: small.size, cost: small.p50 }, { size: large.size, cost: large.p50 })
      return [{ what, from: small.size, to: large.size, exponent: Number(exponent.toFixed(3)) }]
    })
  })
}

function goals(rows: readonly Row[], reads: readonly Reads[], pairs: readonly PairCount[]): Goal[] {
  const find = (subject: string, size: number) =>
    rows.find((row) => row.subject === subject && row.size === size)
  const factor = (goal: string, found: Ratio | undefined, holds: (ratio: number) => boolean): Goal => ({
    goal,
    measured: found ? `${found.atLeast ? '> ' : ''}${found.ratio} x` : '',
    holds: found && holds(found.ratio),
  })
  const sizes = [...new Set(rows.map(({ size }) => size))]
  const overall = growths(rows.filter(({ what }) => what === rows[0]?.what)).at(-1)
  const ours = pairs.filter(({ subject }) => subject === OURS)
  const broken = ours.reduce((sum, count) => sum + count.brokenHistories, 0)
  return [
    ...sizes.map((size) => {
      const limit = rows.findLast((row) => row.subject === LIMIT && row.size === size)
      const goal = `context() at ${size} messages <= ${MOST_OF_LIMIT} x the limit`
      return factor(goal, ratio(find(OURS, size), limit), (measured) => measured <= MOST_OF_LIMIT)
    }),
    {
      goal: `growth exponent of context() from ${overall?.from} to ${overall?.to} messages <= ${MOST_GROWTH}`,
      measured: `${overall?.exponent}`,
      holds: overall && overall.exponent <= MOST_GROWTH,
    },
    ...FACTORS.map(({ subject, size, least }) => {
      const goal = `${subject} at ${size} messages >= ${least} x context()`
      return factor(goal, ratio(find(subject, size), find(OURS, size)), (measured) => measured >= least)
    }),
    {
      goal: `rows read by context() are the same at ${reads.map(({ size }) => size).join(' and ')} messages`,
      measured: reads.map(({ warmRows, coldRows }) => `${warmRows} + ${coldRows} cold`).join(', '),
      holds: new Set(reads.map((read) => JSON.stringify({ ...read, size: 0 }))).size === 1,
    },
    {
      goal: 'histories with a broken pair: 0',
      measured: `${broken} of ${ours.map(({ histories }) => histories).join(' + ')}`,
      holds: ours.length > 0 && broken === 0,
    },
  ]
}

function goalsOf({ size, ratios }: Paired): Goal[] {
  const whole = ratios.at(-1)
  return (['p50', 'p99'] as const).map((at) => ({
    goal: `${whole?.what} at ${size} messages, ${at} <= ${MOST_OF_PAIR[at]} x that of the limit, in turns`,
    measured: `${whole?.[at]} x`,
    holds: whole && whole[at] <= MOST_OF_PAIR[at],
  }))
}

function plotOf(rows: readonly Row[]): Picture {
  const names = [...new Set(rows.map(({ what }) => what))]
  const ours = names.filter((name) => name.startsWith(OURS))
  const series = [...ours.slice(0, 1), ...names.filter((name) => !ours.includes(name))].map((name) => ({
    name,
    points: rows.flatMap(({ what, size, p50 }) =>
      what === name && p50 !== undefined ? [{ x: size, y: p50 }] : [],
    ),
  }))
  const title = 'One context against the length of the history, median'
  const svg = drawLines({ title, xUnit: 'messages in the log', yUnit: 'microseconds', series })
  return { file: 'context.svg', title, svg }
}
