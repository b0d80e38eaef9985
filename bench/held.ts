/**
 * What is held in memory: bytes a message in the map store, and what a session whose context nobody asked for costs after
 * many messages, beside a new one that reads the same.
 */
import type { BenchOptions, BenchReport } from './bench.ts'
import { runChild } from './child.ts'
import type { Held, Read } from './held-cell.ts'
import { machine, machineLine } from './machine.ts'
import { type Goal, goalTable, table } from './table.ts'

const MOST_BYTES = 1_024
/** A session that idled may take so many times what a new one takes. */
const MOST_OF_NEW = 2
const LIMIT_MS = 300_000

export async function bench({ quick, progress }: BenchOptions): Promise<BenchReport> {
  const size = quick ? 10_000 : 100_000
  progress(`${size} messages`)
  const options = { limitMs: LIMIT_MS, execArgv: ['--expose-gc'] }
  const { messages, stopped } = await runChild<Held>('./held-cell.ts', [`${size}`], options)
  const [held] = messages
  if (!held) throw new Error(`held: ${stopped}`)
  const goals: readonly Goal[] = [
    {
      goal: `mapStore holds <= ${MOST_BYTES} bytes a message beyond its text`,
      measured: `${held.bytesBeyondText}`,
      holds: held.bytesBeyondText <= MOST_BYTES,
    },
    ...(['appended to it', 'written by another'] as const).map((name): Goal => {
      const ratio = held.reads[name].ms / held.reads['a new one'].ms
      return {
        goal: `a session that idled (${name}) reads within ${MOST_OF_NEW} x a new one`,
        measured: `${ratio.toFixed(2)} x`,
        holds: ratio <= MOST_OF_NEW,
      }
    }),
  ]
  const report = { bench: 'held', machine: machine([]), size, ...held, goals }
  const rows = Object.entries(held.reads).map(([name, { ms, heapMiB, rows }]: [string, Read]) => [
    name,
    ms.toFixed(1),
    heapMiB.toFixed(1),
    `${rows}`,
  ])
  const text = [
    machineLine(report.machine),
    `${size} messages of 200 characters: ${held.bytesBeyondText} bytes a message beyond its text\n`,
    `A context after them\n${table([['session', 'ms', 'heap MiB', 'rows read'], ...rows])}`,
    `Goals\n${goalTable(goals)}`,
  ].join('\n')
  return { json: report, text }
}
