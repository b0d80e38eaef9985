/**
 * The tool loops of other libraries over recorded conversations of coding agents: with a session's
 * context inside of them, and with what each library has itself to keep requests short. Each
 * request is measured as the model receives it.
 */
import { loadO200k } from '../src/counters/o200k.ts'
import { type Measured, measure } from '../test/ai-sdk/measure.ts'
import type { Request } from '../test/ai-sdk/replay.ts'
import { MOST_STEPS, recordedIn } from './ai-sdk/recorded.ts'
import type { BenchOptions, BenchReport } from './bench.ts'
import { loops as aiSdk } from './loops/ai-sdk.ts'
import { loop as langChain } from './loops/langchain.ts'
import { loop as openAIAgents } from './loops/openai-agents.ts'
import { machine, machineLine } from './machine.ts'
import { type Goal, goalTable, table } from './table.ts'

const BUDGET = 16_000
const MOST_COST = 0.4
const LOOPS = [openAIAgents, langChain, ...aiSdk]

interface Row extends Measured {
  readonly means: string
  readonly isOurs: boolean
}

export async function bench({ quick, data, progress }: BenchOptions): Promise<BenchReport> {
  if (data === undefined) {
    const text =
      'loops: skipped; it replays recordings: pass --data DIR, with DIR/transcripts/coding-openai.jsonl\n'
    return { json: { bench: 'loops', skipped: 'no --data' }, text }
  }
  const counter = await loadO200k()
  const recordings = await recordedIn(data, quick)
  const rows: Row[] = []
  const goals: Goal[] = []
  for (const loop of LOOPS) {
    const { ours, theirs } = loop.means(counter, BUDGET)
    const measured: Row[] = []
    for (const { name, play } of [ours, ...theirs]) {
      const all: Request[][] = []
      for (const recorded of recordings) {
        progress(`${name}: ${recorded.id}, ${recorded.steps} steps`)
        all.push(await play(recorded))
      }
      measured.push({ means: name, isOurs: name === ours.name, ...measure(all, counter, BUDGET) })
    }
    rows.push(...measured)
    goals.push(...goalsOf(measured))
  }
  const about = machine(LOOPS.flatMap(({ packages }) => packages))
  const text = [
    machineLine(about),
    `${recordings.length} conversations, at most ${MOST_STEPS} steps each, ${BUDGET} tokens; cost = 0.1 x repeated + 1.25 x other tokens\n${rowTable(rows)}`,
    `Goals\n${goalTable(goals)}`,
  ].join('\n')
  return {
    json: { bench: 'loops', machine: about, budgetTokens: BUDGET, steps: MOST_STEPS, rows, goals },
    text,
  }
}

function rowTable(rows: readonly Row[]): string {
  const head = ['', 'requests', 'most tokens', 'over the cap', 'rules broken', 'cost a request', 'repeated']
  return table([
    head,
    ...rows.map((row) => [
      row.means,
      `${row.requests}`,
      `${row.mostTokens}`,
      `${row.overCap}`,
      `${row.rulesBroken}`,
      `${row.costPerRequest}`,
      `${row.hitShare}`,
    ]),
  ])
}

function goalsOf([ours, theirs]: readonly Row[]): Goal[] {
  if (!ours || !theirs) return []
  const ratio = Number((ours.costPerRequest / theirs.costPerRequest).toFixed(3))
  return [
    {
      goal: `${ours.means}: requests over the cap, rules broken: 0`,
      measured: `${ours.overCap}, ${ours.rulesBroken} of ${ours.requests}`,
      holds: ours.overCap === 0 && ours.rulesBroken === 0,
    },
    {
      goal: `${ours.means}: cost <= ${MOST_COST} x that of ${theirs.means}`,
      measured: `${ratio} x`,
      holds: ratio <= MOST_COST,
    },
  ]
}
