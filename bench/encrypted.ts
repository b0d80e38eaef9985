/**
 * The store that encrypts beside the same one in the clear, in one run: a call at the edge in one
 * workerd, then in one page of a Chromium. A call appends an exchange and builds the context.
 */
import { rmSync } from 'node:fs'
import { type BareWorker, BareWorkerd } from '../test/kill/bare-workerd.ts'
import type { BenchOptions, BenchReport } from './bench.ts'
import { type Machine, machine, machineLine } from './machine.ts'
import { median, quantile, round } from './stats.ts'
import { BenchPage } from './stores/chromium.ts'
import { BUDGET, bundleWorkers, freePorts } from './stores/edge-workers.ts'
import { type Durability, ENCRYPTED, OURS } from './stores/page-orders.ts'
import { temporaryFolder } from './stores/temporary.ts'
import { type EdgeRow, fillByOrder, type TurnPlan, takeTurns } from './stores/turns.ts'
import { type Goal, goalTable, table } from './table.ts'

interface Plan {
  readonly edge: TurnPlan
  readonly calls: number
}

const FULL: Plan = {
  edge: { sizes: [1_000, 12_000], connections: [1, 8], rounds: 5, roundMs: 800 },
  calls: 400,
}
const QUICK: Plan = {
  edge: { sizes: [1_000], connections: [1], rounds: 3, roundMs: 400 },
  calls: 120,
}
/** What a call may cost, as often as one in the clear. */
const MOST = 1.5
const PACKAGES = ['workerd', 'dexie', 'playwright']

interface BrowserRow {
  readonly what: string
  readonly durability: Durability
  readonly samples: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Of the encrypted calls, as a multiple of the others. */
interface Ratio {
  readonly where: string
  readonly time: number
  /** CPU time of workerd. */
  readonly cpu?: number
}

interface EncryptedReport {
  readonly machine: Machine
  readonly edge: readonly EdgeRow[]
  readonly browser: readonly BrowserRow[]
  readonly ratios: readonly Ratio[]
  readonly goals: readonly Goal[]
}

export async function bench({ quick, progress }: BenchOptions): Promise<BenchReport> {
  const plan = quick ? QUICK : FULL
  const edge = await measureEdge(plan.edge, progress)
  const browser = await measureBrowser(plan.calls, progress)
  const ratios = [...edgeRatios(edge), ...browserRatios(browser)]
  const report = {
    bench: 'encrypted',
    machine: machine(PACKAGES),
    edge,
    browser,
    ratios,
    goals: ratios.map(({ where, time }) => ({
      goal: `${where}: at most ${MOST} times a call in the clear`,
      measured: `${time}`,
      holds: time <= MOST,
    })),
  }
  return { json: report, text: text(report) }
}

async function measureEdge(plan: TurnPlan, progress: (line: string) => void): Promise<readonly EdgeRow[]> {
  const folder = temporaryFolder()
  await bundleWorkers(folder, [new URL('stores/workers/plimsoll.ts', import.meta.url)])
  const [plainPort = 0, encryptedPort = 0] = await freePorts(2)
  const worker = (name: string, port: number, variables: BareWorker['variables'] = {}): BareWorker => ({
    name,
    port,
    module: 'plimsoll.js',
    binding: 'SESSIONS',
    className: 'BenchSession',
    uniqueKey: name,
    variables: { BUDGET: `${BUDGET}`, ...variables },
  })
  const secret = { MEMORY_KEY: 'a-secret-of-the-bench-of-32-bytes-or-more' }
  const workerd = new BareWorkerd(folder, [
    worker('plain', plainPort),
    worker('encrypted', encryptedPort, secret),
  ])
  process.prependOnceListener('exit', () => void workerd.kill())
  try {
    await workerd.start()
    const subject = (name: string, port: number) => ({
      name,
      port,
      fill: (session: string, messages: number) => fillByOrder(port, session, messages),
    })
    const subjects = [subject(OURS, plainPort), subject(ENCRYPTED, encryptedPort)]
    return (await takeTurns(subjects, workerd, plan, progress)).rows
  } finally {
    await workerd.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureBrowser(
  calls: number,
  progress: (line: string) => void,
): Promise<readonly BrowserRow[]> {
  const profile = temporaryFolder()
  const page = await BenchPage.open(profile)
  try {
    const rows: BrowserRow[] = []
    for (const durability of ['strict', 'relaxed'] as const) {
      progress(`browser: calls, ${durability}`)
      for (const [what, times] of Object.entries(await page.call('measureEncrypted', durability, calls)))
        rows.push({
          what,
          durability,
          samples: times.length,
          p50Ms: round(median(times), 4),
          p99Ms: round(quantile(times, 0.99), 4),
        })
    }
    return rows
  } finally {
    await page.close()
    rmSync(profile, { recursive: true, force: true })
  }
}

function edgeRatios(rows: readonly EdgeRow[]): Ratio[] {
  return rows.flatMap((row) => {
    const plain = rows.find(
      ({ subject, messages, connections }) =>
        subject === OURS && messages === row.messages && connections === row.connections,
    )
    if (row.subject !== ENCRYPTED || !plain) return []
    return [
      {
        where: `workerd, ${row.messages} messages, ${row.connections} at a time`,
        time: round(plain.perSecond / row.perSecond),
        ...(row.cpuMicroseconds !== undefined &&
          plain.cpuMicroseconds !== undefined && { cpu: round(row.cpuMicroseconds / plain.cpuMicroseconds) }),
      },
    ]
  })
}

function browserRatios(rows: readonly BrowserRow[]): Ratio[] {
  return rows.flatMap((row) => {
    const plain = rows.find(({ what, durability }) => what === OURS && durability === row.durability)
    if (row.what !== ENCRYPTED || !plain) return []
    return [{ where: `Chromium, ${row.durability}`, time: round(row.p50Ms / plain.p50Ms) }]
  })
}

function text({ machine, edge, browser, ratios, goals }: EncryptedReport): string {
  const edgeTable = table([
    ['workerd', 'messages', 'at a time', 'calls/s', 'p50 ms', 'p99 ms', 'CPU us'],
    ...edge.map((row) => [
      row.subject,
      `${row.messages}`,
      `${row.connections}`,
      `${Math.round(row.perSecond)}`,
      `${row.p50Ms}`,
      `${row.p99Ms}`,
      `${row.cpuMicroseconds ?? ''}`,
    ]),
  ])
  const browserTable = table([
    ['Chromium', 'durability', 'samples', 'p50 ms', 'p99 ms'],
    ...browser.map((row) => [row.what, row.durability, `${row.samples}`, `${row.p50Ms}`, `${row.p99Ms}`]),
  ])
  const ratioTable = table([
    ['encrypted / in the clear', 'time', 'CPU'],
    ...ratios.map(({ where, time, cpu }) => [where, `${time}`, `${cpu ?? ''}`]),
  ])
  return [machineLine(machine), edgeTable, browserTable, ratioTable, `Goals\n${goalTable(goals)}`].join('\n')
}
