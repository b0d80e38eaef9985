/**
 * The race of the inspector's page over the longest session in
 * `<data>/transcripts/coding-openai.jsonl`: a picture, written to `--out`, and its table, for
 * docs/benchmarks.md.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadO200k } from '../src/counters/o200k.ts'
import { Race } from '../src/replay/race.ts'
import { grouped, percent } from '../src/replay/words.ts'
import type { Bench } from './bench.ts'
import { drawPlot } from './picture/plot.ts'
import { InputError, type Recording, recordingsIn } from './recordings.ts'
import { table } from './table.ts'

const BUDGET = 16_000

export const bench: Bench = async ({ data, out, progress }) => {
  if (data === undefined) throw new InputError('say where the recordings are: --data DIR')
  const recorded = await recordingsIn(join(data, 'transcripts'), 'coding-openai.jsonl')
  const [longest] = recorded.toSorted(
    (one, other) => other.conversation.messages.length - one.conversation.messages.length,
  ) as [Recording, ...Recording[]]
  const { id } = longest.conversation
  progress(`${id}, ${longest.conversation.messages.length} messages`)
  const counter = await loadO200k()
  const race = new Race()
  await race.run([longest], { budget: BUDGET, counter, pause: async () => {} })
  const [refused] = race.refused
  if (refused) throw new Error(`${id}: ${refused.reason}`)
  const settings = `the line at ${grouped(BUDGET)} tokens, counted by ${counter.id}`
  const calls = race.calls[0] ?? []
  if (out !== undefined)
    await writeFile(out, `${drawPlot({ conversation: id, settings, budget: BUDGET, calls })}\n`)
  const lanes = race.lanes().map(({ racer, figures }) => ({ racer, figures }))
  const rows = lanes.map(({ racer, figures }) => [
    racer,
    grouped(figures.maxTokens),
    grouped(figures.overCap),
    grouped(figures.lintErrors),
    figures.prefixShare === null ? '-' : percent(figures.prefixShare),
    grouped(figures.costPerCall),
  ])
  const head = ['policy', 'most tokens', 'over the line', 'rules broken', 'repeated', 'cost a call']
  const about = `${id}, ${grouped(calls.length)} model calls: ${settings}`
  return {
    json: { bench: 'picture', conversation: id, calls: calls.length, budgetTokens: BUDGET, lanes },
    text: `${about}\n${table([head, ...rows])}`,
  }
}
