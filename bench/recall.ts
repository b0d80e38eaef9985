/**
 * Recall in one run: how much of what answers a question is found, whether known messages of
 * recordings are, how fast, and how large; beside MiniSearch with its defaults, and with a stemmer,
 * stop words and speakers; and the same through sessions over stores: whether they find the same,
 * what recall adds to an append, and what a reopen costs.
 */
import { writeFile } from 'node:fs/promises'
import { hashText } from '../src/text/hash.ts'
import type { BenchOptions, BenchReport } from './bench.ts'
import { machine } from './machine.ts'
import { OURS } from './recall/engines.ts'
import { goals } from './recall/goals.ts'
import { measureKnownItems } from './recall/known-items.ts'
import { readLocomo } from './recall/locomo.ts'
import { measureQuality } from './recall/quality.ts'
import { type Rankings, score } from './recall/score.ts'
import { measureSizes } from './recall/sizes.ts'
import { measureSpeed } from './recall/speed.ts'
import { measureStores } from './recall/stores.ts'
import { type RecallReport, recallText } from './recall/text.ts'
import { readTranscripts } from './recall/transcripts.ts'

const FULL = {
  knownItems: 200,
  speed: { messages: 10_000, processes: 3, laps: 4 },
  stores: { questions: 930, pairs: 200, messages: 10_000, reopens: 30 },
}
const QUICK: typeof FULL = {
  knownItems: 50,
  speed: { messages: 2_000, processes: 1, laps: 3 },
  stores: { questions: 100, pairs: 60, messages: 2_000, reopens: 10 },
}

export async function bench(options: BenchOptions): Promise<BenchReport> {
  const { quick, data, transcripts, out, progress } = options
  const locomo = data === undefined ? undefined : await readLocomo(data)
  if (data === undefined || !locomo) {
    const text =
      'recall: skipped; it asks the questions of LoCoMo: pass --data DIR, with turns.jsonl, questions.jsonl and facts.jsonl in it\n'
    return { json: { bench: 'recall', skipped: 'no LoCoMo in --data' }, text }
  }
  const recordings = transcripts === undefined ? [] : await readTranscripts(transcripts)
  const plan = quick ? QUICK : FULL
  const { messages } = plan.speed
  const { quality, rankings } = measureQuality(locomo, progress)
  const rankingsJson = rankingsText(rankings)
  if (out !== undefined) await writeFile(out, rankingsJson)
  const knownItems = measureKnownItems(recordings, plan.knownItems, progress)
  const speed = await measureSpeed(data, plan.speed, progress)
  const { stores, overMap } = await measureStores(locomo, rankings, plan.stores, progress)
  quality.push({
    system: `${OURS}, session.recall`,
    scope: 'its conversation',
    scores: score(locomo, overMap),
  })
  progress('sizes')
  const sizes = await measureSizes()
  const measured = { quality, knownItems, speed, stores, sizes }
  const report: RecallReport & { bench: string } = {
    bench: 'recall',
    machine: machine(['minisearch', 'dexie', 'playwright', 'workerd']),
    messages,
    sha256: hashText(rankingsJson),
    ...measured,
    goals: goals(measured, messages),
  }
  return { json: report, text: recallText(report) }
}

/** By question, the turns without their conversation. */
function rankingsText(rankings: Rankings): string {
  const turns = (places: readonly string[]) => places.map((place) => place.slice(place.indexOf('|') + 1))
  return JSON.stringify(Object.fromEntries([...rankings].map(([id, places]) => [id, turns(places)])))
}
