/**
 * The stores on disk, in one run: a call at the edge beside a raw worker and Cloudflare's own
 * sessions, in one workerd; the store of Node beside its SQLite and better-sqlite3; then the store
 * of browsers beside bare Dexie and bare IndexedDB, in one page of a Chromium. Each group of
 * figures is taken in turns.
 */
import type { BenchOptions, BenchReport } from './bench.ts'
import { type Machine, machine, machineLine } from './machine.ts'
import { type Picture, plotBars } from './picture/bars.ts'
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
  edge: { sizes: [1_000, 4_000], connections: [1, 8], rounds: 3, roundMs: 300, counted: 40 },
  node: { calls: 100, sizes: [1_000, 20_000] },
  browser: {
    appends: 150,
    calls: 120,
    reopens: 8,
    ends: 40,
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
  const plots = [edgePlot(edge), nodePlot(node), browserPlot(browser)]
  return { json: report, text: text(report), plots }
}

/** One caller at a time, in the shortest log: the raw worker is the limit. */
function edgePlot({ rows }: EdgeReport): Picture {
  const [first] = rows
  const bars = rows
    .filter(({ messages, connections }) => messages === first?.messages && connections === first.connections)
    .map(({ subject, p50Ms }) => ({ name: subject, value: p50Ms, isOurs: subject.startsWith('plimsoll') }))
  return plotBars('stores-edge.svg', { title: 'A call at the edge, median', unit: 'ms', bars })
}

/** The same rows by the drivers alone are the limit. */
function nodePlot({ rows }: NodeReport): Picture {
  const [first] = rows
  const bars = rows
    .filter(({ synchronous, messages }) => synchronous === 'full' && messages === first?.messages)
    .map(({ what, p50 }) => ({ name: what, value: p50 / 1_000, isOurs: what.startsWith('plimsoll') }))
  const title = 'Node: an exchange appended, and what a model is shown, on disk; median'
  return plotBars('stores-node.svg', { title, unit: 'ms', bars })
}

/** The same tables without the library are the limit. */
function browserPlot({ rows }: BrowserReport): Picture {
  const bars = rows
    .filter(({ part, durability }) => part === 'append' && durability === 'strict')
    .map(({ what, p50Ms }) => ({ name: what, value: p50Ms, isOurs: what.startsWith('plimsoll') }))
  return plotBars('stores-browser.svg', { title: 'Chromium: an append, on disk; median', unit: 'ms', bars })
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
