/**
 * The tool loop of the AI SDK over recorded conversations of coding agents, in one run: with the
 * memory inside of it, and with the SDK's own `pruneMessages`. Each request is measured as the
 * model receives it.
 */
import { loadO200k } from '../src/counters/o200k.ts'
import { type Measured, measure } from '../test/ai-sdk/measure.ts'
import { plimsoll, pruning, type Request, replay } from '../test/ai-sdk/replay.ts'
import { MOST_STEPS, recordedIn } from './ai-sdk/recorded.ts'
import type { BenchOptions, BenchReport } from './bench.ts'
import { machine, machineLine } from './machine.ts'
import { type Goal, goalTable, table } from './table.ts'

const BUDGET = 16_000
const MOST_COST = 0.4

interface Row extends Measured {
  readonly policy: string
  readonly conversation: string
}

export async function bench({ quick, data, progress }: BenchOptions): Promise<BenchReport> {
  if (data === undefined) {
    const text =
      'ai-sdk: skipped; it replays recordings: pass --data DIR, with DIR/transcripts/coding-openai.jsonl\n'
    return { json: { bench: 'ai-sdk', skipped: 'no --data' }, text }
  }
  const counter = await loadO200k()
  const recordings = await recordedIn(data, quick)
  const policies = [plimsoll(counter, BUDGET), pruning]
  const rows: Row[] = []
  for (const policy of policies) {
    const all: Request[][] = []
    for (const recorded of recordings) {
      progress(`${policy.name}: ${recorded.id}, ${recorded.steps} steps`)
      const requests = await replay(recorded, policy)
      all.push(requests)
      rows.push({ policy: policy.name, conversation: recorded.id, ...measure([requests], counter, BUDGET) })
    }
    rows.push({ policy: policy.name, conversation: 'all', ...measure(all, counter, BUDGET) })
  }
  const goals = goalsOf(rows)
  const about = machine(['ai'])
  const report = { bench: 'ai-sdk', machine: about, budgetTokens: BUDGET, steps: MOST_STEPS, rows, goals }
  const text = [
    machineLine(about),
    `Requests of streamText behind DefaultChatTransport, at most ${MOST_STEPS} steps a conversation, ${BUDGET} tokens; cost = 0.1 x repeated + 1.25 x other tokens\n${rowTable(rows)}`,
    `Goals\n${goalTable(goals)}`,
  ].join('\n')
  return { json: report, text }
}

function rowTable(rows: readonly Row[]): string {
  const head = [
    '',
    'requests',
    'most tokens',
    'over the cap',
    'rules broken',
    'blank texts',
    'cost a request',
    'repeated',
  ]
  return table([
    head,
    ...rows.map((row) => [
      `${row.policy}, ${row.conversation}`,
      `${row.requests}`,
      `${row.mostTokens}`,
      `${row.overCap}`,
      `${row.rulesBroken}`,
      `${row.blankTexts}`,
      `${row.costPerRequest}`,
      `${row.hitShare}`,
    ]),
  ])
}

function goalsOf(rows: readonly Row[]): Goal[] {
  const [ours, theirs] = rows.filter(({ conversation }) => conversation === 'all')
  if (!ours || !theirs) return []
  const ratio = Number((ours.costPerRequest / theirs.costPerRequest).toFixed(3))
  return [
    {
      goal: 'requests over the cap: 0',
      measured: `${ours.overCap} of ${ours.requests}`,
      holds: ours.overCap === 0,
    },
    {
      goal: 'rules broken, blank texts among them: 0',
      measured: `${ours.rulesBroken + ours.blankTexts}`,
      holds: ours.rulesBroken + ours.blankTexts === 0,
    },
    {
      goal: `cost <= ${MOST_COST} x that of pruneMessages`,
      measured: `${ratio} x`,
      holds: ratio <= MOST_COST,
    },
  ]
}
