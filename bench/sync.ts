/**
 * Sync in one run, two devices in Chromiums of their own: a thousand exchanges that were written
 * without a network, sent, and fetched by a second device, beside the least that it takes and the
 * peers; and how long a change takes from one screen to the other.
 */
import { loadavg } from 'node:os'
import type { BenchOptions, BenchReport } from './bench.ts'
import { type Machine, machine, machineLine } from './machine.ts'
import { type Picture, plotBars } from './picture/bars.ts'
import { withEdge } from './sync/edge-home.ts'
import { madeExchanges, recordedExchanges } from './sync/exchanges.ts'
import { syncGoals, transferRatios } from './sync/goals.ts'
import { withLab } from './sync/lab.ts'
import {
  type HomeOrder,
  OURS,
  PATHS,
  POUCHDB,
  POUCHDB_DEFAULT,
  RXDB_DEFAULT,
  SUBJECTS,
  type SubjectName,
  TOKEN,
} from './sync/orders.ts'
import { measurePokes, type PokeRow } from './sync/pokes.ts'
import { pokesText, transferText } from './sync/text.ts'
import { type Cell, measureTransfer, type TransferReport } from './sync/transfer.ts'
import { type Goal, goalTable } from './table.ts'

interface Plan {
  readonly exchanges: number
  readonly rounds: number
  readonly pokes: number
}

const FULL: Plan = { exchanges: 1_000, rounds: 9, pokes: 100 }
const QUICK: Plan = { exchanges: 300, rounds: 2, pokes: 10 }

const PACKAGES = ['dexie', 'rxdb', 'pouchdb-browser', 'playwright', 'wrangler']

/** The default of browsers' databases. PouchDB knows no other. */
const RELAXED: ReadonlySet<SubjectName> = new Set([RXDB_DEFAULT, POUCHDB, POUCHDB_DEFAULT])

const CELLS: readonly Cell[] = SUBJECTS.flatMap((subject) =>
  (RELAXED.has(subject) ? (['relaxed'] as const) : (['strict', 'relaxed'] as const)).map((durability) => ({
    subject,
    durability,
  })),
)

interface SyncReport {
  readonly machine: Machine
  /** Mean number of processes that wanted to run, over the last minute: before and after. */
  readonly load: readonly number[]
  readonly texts: string
  readonly transfer: TransferReport
  readonly pokes: readonly PokeRow[]
  readonly goals: readonly Goal[]
}

export async function bench({ quick, data, progress }: BenchOptions): Promise<BenchReport> {
  const { exchanges: count, rounds, pokes: samples } = quick ? QUICK : FULL
  const before = loadavg()[0] ?? 0
  const exchanges = data === undefined ? madeExchanges(count) : await recordedExchanges(data, count)
  const { transfer, pokes } = await withLab(async (lab) => {
    const transfer = await measureTransfer({ cells: CELLS, exchanges, rounds }, lab, progress)
    progress('pokes')
    const { url } = lab.server
    const home: HomeOrder = { url: `${url}/${PATHS[OURS]}`, token: TOKEN, session: 'pokes', hints: 'events' }
    const reference = await measurePokes('reference server', home, lab, samples)
    const edge = await withEdge(url, (home) => measurePokes('wrangler dev', home, lab, samples))
    return { transfer, pokes: [reference, edge] }
  })
  const report = {
    bench: 'sync',
    machine: machine(PACKAGES),
    load: [before, loadavg()[0] ?? 0],
    texts: data === undefined ? 'made' : 'recorded',
    transfer: { ...transfer, ratios: transferRatios(transfer.rows) },
    pokes,
    goals: syncGoals(transfer, pokes),
  }
  return { json: report, text: text(report), plots: [plotOf(transfer)] }
}

/** In the durability that browsers have by default; the least that it takes is the limit. */
function plotOf({ rows, exchanges }: TransferReport): Picture {
  const bars = rows
    .filter(({ durability }) => durability === 'relaxed')
    .map(({ subject, direction, ms }) => ({
      name: `${direction}: ${subject}`,
      value: ms,
      isOurs: subject === OURS,
    }))
  const title = `${exchanges} exchanges sent, and fetched by a second device; median`
  return plotBars('sync.svg', { title, unit: 'ms', bars })
}

function text({ machine, load, texts, transfer, pokes, goals }: SyncReport): string {
  const [before, after] = load
  return [
    machineLine(machine),
    `Load of the machine ${before} before, ${after} after; ${texts} texts\n`,
    transferText(transfer),
    pokesText(pokes),
    `Goals\n${goalTable(goals)}`,
  ].join('\n')
}
