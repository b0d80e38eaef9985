/**
 * What of a conversation a model is shown by recall, at 700 and 2 000 tokens, and how well its
 * messages are ranked: of LoCoMo, or of other chats with questions in the same files.
 */
import type { BenchOptions, BenchReport } from './bench.ts'
import { machine, machineLine } from './machine.ts'
import { plotBars } from './picture/bars.ts'
import { readLocomo } from './recall/locomo.ts'
import { type Score, score } from './recall/score.ts'
import { measureShown, SYSTEMS } from './recall/shown.ts'
import { round } from './stats.ts'
import { table } from './table.ts'

export async function bench({ data, progress }: BenchOptions): Promise<BenchReport> {
  const read = data === undefined ? undefined : await readLocomo(data)
  if (!read) {
    const text = 'shown: skipped; pass --data DIR, with turns.jsonl, questions.jsonl and facts.jsonl in it\n'
    return { json: { bench: 'shown', skipped: 'no questions in --data' }, text }
  }
  const { shown, rankings } = await measureShown(read, progress)
  const { all: _, ...categories } = score(read, rankings)
  const ranked = together(Object.values(categories))
  const host = machine(['minisearch'])
  const lines = shown.map(({ system, tokens, questions, share, interval }) => [
    `${system}, ${tokens} tokens`,
    `${questions}`,
    `${share}`,
    interval.map((bound) => bound.toFixed(1)).join(' to '),
  ])
  return {
    json: { bench: 'shown', machine: host, shown, ranked },
    text: [
      machineLine(host),
      'Of the answer’s words that stand in the evidence and not in the question, percent shown, and 95 % of draws by conversation',
      table([['', 'questions', 'shown', 'interval'], ...lines]),
      `Ranking, all questions: B700 ${ranked.b700}, B2000 ${ranked.b2000}, MRR ${ranked.mrr}\n`,
    ].join('\n'),
    plots: [
      plotBars('shown.svg', {
        title: 'Of the evidence’s words that an answer needs, what recall shows',
        unit: '%',
        bars: shown.map(({ system, tokens, share }) => ({
          name: `${system}, ${tokens} tokens`,
          value: share,
          isOurs: system === SYSTEMS[0],
        })),
      }),
    ],
  }
}

function together(scores: readonly Score[]): Pick<Score, 'b700' | 'b2000' | 'mrr'> {
  const all = scores.reduce((sum, { questions }) => sum + questions, 0)
  const of = (pick: (score: Score) => number) =>
    round(scores.reduce((sum, one) => sum + one.questions * pick(one), 0) / all, 3)
  return { b700: of(({ b700 }) => b700), b2000: of(({ b2000 }) => b2000), mrr: of(({ mrr }) => mrr) }
}
