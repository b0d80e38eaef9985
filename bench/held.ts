/**
 * What is held in memory: bytes a message in the map store, and what a session whose context nobody
 * asked for costs after many messages, beside a new one that reads the same.
 */
import type { BenchOptions, BenchReport } from './bench.ts'
import { runChild } from './child.ts'
import type { Held, Read } from './held-cell.ts'
import { machine, machineLine } from './machine.ts'
import { type Goal, goalTable, table } from './table.ts'

const MOST_BYTES = 1_024
const MOST_MS = 22
const MOST_MIB = 2
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
    ...(['appended to it', 'written by another', 'another lane'] as const).map((name): Goal => {
      const { ms, heapMiB } = held.reads[name]
      return {
        goal: `a session that idled (${name}) reads within ${MOST_MS} ms and ${MOST_MIB} MiB`,
        measured: `${ms.toFixed(1)} ms, ${heapMiB.toFixed(1)} MiB`,
        holds: ms <= MOST_MS && heapMiB <= MOST_MIB,
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
