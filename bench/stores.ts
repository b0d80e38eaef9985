/**
 * The stores on disk, in one run: a call at the edge beside a raw worker and Cloudflare's own
 * sessions, in one workerd; then the store of browsers beside bare Dexie and bare IndexedDB, in one
 * page of a Chromium. Each group of figures is taken in turns.
 */
import type { BenchOptions, BenchReport } from './bench.ts'
import { type Machine, machine, machineLine } from './machine.ts'
import { type BrowserPlan, type BrowserReport, measureBrowser } from './stores/browser.ts'
import { browserGoals, browserRatios } from './stores/browser-goals.ts'
import { browserText } from './stores/browser-text.ts'
import { type EdgePlan, type EdgeReport, measureEdge } from './stores/edge.ts'
import { edgeGoals, edgeRatios } from './stores/edge-goals.ts'
import { edgeText } from './stores/edge-text.ts'
import { type Goal, goalTable } from './table.ts'

interface Plan {
  readonly edge: EdgePlan
  readonly browser: BrowserPlan
}

const FULL: Plan = {
  edge: {
    sizes: [1_000, 12_000, 100_000, 1_000_000],
    connections: [1, 8],
    rounds: 5,
    roundMs: 800,
    counted: 100,
  },
  browser: {
    appends: 500,
    calls: 400,
    reopens: 20,
    ends: 200,
    sizes: [1_000, 1_000_000],
    imports: { messages: 10_000, batch: 1_000, laps: 5 },
  },
}

const QUICK: Plan = {
  edge: { sizes: [1_000, 12_000], connections: [1, 8], rounds: 3, roundMs: 400, counted: 40 },
  browser: {
    appends: 150,
    calls: 120,
    reopens: 20,
    ends: 80,
    sizes: [1_000, 20_000],
    imports: { messages: 10_000, batch: 1_000, laps: 1 },
  },
}

const PACKAGES = ['workerd', 'hono', 'agents', 'dexie', 'playwright']

interface StoresReport {
  readonly machine: Machine
  readonly edge: EdgeReport
  readonly browser: BrowserReport
  readonly goals: readonly Goal[]
}

export async function bench({ quick, progress }: BenchOptions): Promise<BenchReport> {
  const plan = quick ? QUICK : FULL
  const edge = await measureEdge(plan.edge, progress)
  const browser = await measureBrowser(plan.browser, progress)
  const report = {
    bench: 'stores',
    machine: machine(PACKAGES),
    edge: { ...edge, ratios: edgeRatios(edge.rows) },
    browser: { ...browser, unit: 'milliseconds', ratios: browserRatios(browser.rows) },
    goals: [...edgeGoals(edge), ...browserGoals(browser)],
  }
  return { json: report, text: text(report) }
}

function text({ machine, edge, browser, goals }: StoresReport): string {
  return [machineLine(machine), edgeText(edge), browserText(browser), `Goals\n${goalTable(goals)}`].join('\n')
}
