/**
 * The stores on disk, in one run: a call at the edge beside a raw worker and Cloudflare's own sessions, in one workerd.
 */
import type { BenchOptions, BenchReport } from './bench.ts'
import { type Machine, machine, machineLine } from './machine.ts'
import { type EdgePlan, type EdgeReport, measureEdge } from './stores/edge.ts'
import { edgeGoals, edgeRatios } from './stores/edge-goals.ts'
import { edgeText } from './stores/edge-text.ts'
import { type Goal, goalTable } from './table.ts'

interface Plan {
  readonly edge: EdgePlan
}

const FULL: Plan = {
  edge: {
    sizes: [1_000, 12_000, 100_000, 1_000_000],
    connections: [1, 8],
    rounds: 5,
    roundMs: 1_000,
    counted: 100,
  },
}

const QUICK: Plan = {
  edge: { sizes: [1_000, 12_000], connections: [1, 8], rounds: 3, roundMs: 400, counted: 40 },
}

const PACKAGES = ['workerd', 'hono', 'agents']

interface StoresReport {
  readonly machine: Machine
  readonly edge: EdgeReport
  readonly goals: readonly Goal[]
}

export async function bench({ quick, progress }: BenchOptions): Promise<BenchReport> {
  const plan = quick ? QUICK : FULL
  const edge = await measureEdge(plan.edge, progress)
  const report = {
    bench: 'stores',
    machine: machine(PACKAGES),
    edge: { ...edge, ratios: edgeRatios(edge.rows) },
    goals: edgeGoals(edge),
  }
  return { json: report, text: text(report) }
}

function text({ machine, edge, goals }: StoresReport): string {
  return [machineLine(machine), edgeText(edge), `Goals\n${goalTable(goals)}`].join('\n')
}
