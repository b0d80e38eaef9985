/**
 * The stores on disk, in one run: a call at the edge beside a raw worker and Cloudflare's own
 * sessions, in one workerd; the store of Node beside its SQLite and better-sqlite3; then the store
 * of browsers beside bare Dexie and bare IndexedDB, in one page of a Chromium. Each group of
 * figures is taken in turns.
 */
import type { BenchOptions, BenchReport } from './bench.ts'
import { type Machine, machine, machineLine } from './machine.ts'
import { type BrowserPlan, type BrowserReport, measureBrowser } from './stores/browser.ts'
import { browserGoals, browserRatios } from './stores/browser-goals.ts'
import { browserText } from './stores/browser-text.ts'
import { type EdgePlan, type EdgeReport, measureEdge } from './stores/edge.ts'
import { edgeGoals, edgeRatios } from './stores/edge-goals.ts'
import { edgeText } from './stores/edge-text.ts'
import { measureNode, type NodePlan, type NodeReport } from './stores/node.ts'
import { nodeGoals, nodeText } from './stores/node-goals.ts'
import { type Goal, goalTable } from './table.ts'

interface Plan {
  readonly edge: EdgePlan
  readonly node: NodePlan
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
  node: { calls: 400, sizes: [1_000, 1_000_000] },
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
  node: { calls: 150, sizes: [1_000, 20_000] },
  browser: {
    appends: 150,
    calls: 120,
    reopens: 20,
    ends: 80,
    sizes: [1_000, 20_000],
    imports: { messages: 10_000, batch: 1_000, laps: 1 },
  },
}

const PACKAGES = ['workerd', 'hono', 'agents', 'better-sqlite3', 'dexie', 'playwright']

interface StoresReport {
  readonly machine: Machine
  readonly edge: EdgeReport
  readonly node: NodeReport
  readonly browser: BrowserReport
  readonly goals: readonly Goal[]
}

export async function bench({ quick, progress }: BenchOptions): Promise<BenchReport> {
  const plan = quick ? QUICK : FULL
  const edge = await measureEdge(plan.edge, progress)
  const node = await measureNode(plan.node, progress)
  const browser = await measureBrowser(plan.browser, progress)
  const report = {
    bench: 'stores',
    machine: machine(PACKAGES),
    edge: { ...edge, ratios: edgeRatios(edge.rows) },
    node: { ...node, unit: 'microseconds' },
    browser: { ...browser, unit: 'milliseconds', ratios: browserRatios(browser.rows) },
    goals: [...edgeGoals(edge), ...nodeGoals(node), ...browserGoals(browser)],
  }
  return { json: report, text: text(report) }
}

function text({ machine, edge, node, browser, goals }: StoresReport): string {
  return [
    machineLine(machine),
    edgeText(edge),
    nodeText(node),
    browserText(browser),
    `Goals\n${goalTable(goals)}`,
  ].join('\n')
}
