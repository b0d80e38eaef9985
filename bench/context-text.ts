import { type Machine, machineLine } from './machine.ts'
import type { Paired } from './paired.ts'
import type { PairCount } from './pairs/count.ts'
import type { Reads } from './reads.ts'
import { BUDGET } from './subject.ts'
import { type Goal, goalTable, table, time } from './table.ts'
import type { Row } from './timing.ts'

export interface Ratio {
  readonly size: number
  readonly of: string
  readonly to: string
  /** How many times the p50 of `of` is that of `to`. */
  readonly ratio: number
  /** `of` was stopped in its first call, so it is at least this. */
  readonly atLeast?: true
}

export interface Growth {
  readonly what: string
  readonly from: number
  readonly to: number
  /** The e of cost ~ size^e, from the p50s. */
  readonly exponent: number
}

export interface ContextReport {
  readonly machine: Machine
  readonly cells: readonly Row[]
  readonly ratios: readonly Ratio[]
  readonly growth: readonly Growth[]
  readonly paired: readonly Paired[]
  readonly reads: readonly Reads[]
  readonly pairs: readonly PairCount[]
  readonly goals: readonly Goal[]
}

export function contextText(report: ContextReport): string {
  return [
    machineLine(report.machine),
    `One context of ${BUDGET} tokens, p50 / p99; an exchange is appended before each call, outside the timed part.\n${times(report.cells)}`,
    `Ratios of p50\n${ratioTable(report.ratios)}`,
    `Growth exponent of p50\n${growthTable(report.growth)}`,
    `In turns with the limit, in one process over the same exchanges: p50 / p99, and the ratio of each\n${pairedTable(report.paired)}`,
    `Read from the store by one context()\n${readTable(report.reads)}`,
    `Requests with a call parted from its result\n${pairTable(report.pairs)}`,
    `Goals\n${goalTable(report.goals)}`,
  ].join('\n')
}

function times(rows: readonly Row[]): string {
  const head = ['', 'messages', 'p50', 'p99', 'calls', 'shows', 'tokens', 'append', 'MiB', 'note']
  const lines = rows.map((row) => [
    row.what,
    `${row.size}`,
    row.p50 === undefined ? '-' : time(row.p50),
    row.p99 === undefined ? '-' : time(row.p99),
    `${row.calls}`,
    `${row.messages ?? ''}`,
    `${row.tokens ?? ''}`,
    row.append === undefined ? '' : time(row.append),
    `${row.residentMiB ?? ''}`,
    row.note ?? '',
  ])
  return table([head, ...lines])
}

function ratioTable(ratios: readonly Ratio[]): string {
  return table(
    ratios.map(({ of, to, size, ratio, atLeast }) => [
      `${of} / ${to}`,
      `${size}`,
      `${atLeast ? '> ' : ''}${ratio} x`,
    ]),
  )
}

function growthTable(growths: readonly Growth[]): string {
  return table(growths.map(({ what, from, to, exponent }) => [what, `${from} to ${to}`, exponent.toFixed(3)]))
}

function pairedTable(paired: readonly Paired[]): string {
  const head = ['', 'messages', 'p50', 'p99', 'p50 / limit', 'p99 / limit', 'calls', 'epochs']
  const lines = paired.flatMap(({ size, calls, epochs, limit, ratios }) => [
    [limit.what, `${size}`, time(limit.p50), time(limit.p99), '', '', `${calls}`, ''],
    ...ratios.map(({ what, micros, p50, p99 }) => [
      ...[
        what,
        `${size}`,
        time(micros.p50),
        time(micros.p99),
        `${p50} x`,
        `${p99} x`,
        `${calls}`,
        `${epochs}`,
      ],
    ]),
  ])
  return table([head, ...lines])
}

function readTable(reads: readonly Reads[]): string {
  const head = ['messages', 'contexts', 'rows, most', 'rows, sum', 'reads, sum', 'rows, cold', 'reads, cold']
  const lines = reads.map(({ size, contexts, mostRows, warmRows, warmReads, coldRows, coldReads }) =>
    [size, contexts, mostRows, warmRows, warmReads, coldRows, coldReads].map(String),
  )
  return table([head, ...lines])
}

function pairTable(pairs: readonly PairCount[]): string {
  const head = ['', 'histories', 'histories broken', 'requests', 'pairs broken', 'refused', 'empty']
  const lines = pairs.map((count) => [
    `${count.subject}, ${count.kind} histories`,
    `${count.histories}`,
    `${count.brokenHistories}`,
    `${count.requests}`,
    `${count.brokenPairs}`,
    `${count.refused}`,
    `${count.empty}`,
  ])
  return table([head, ...lines])
}
