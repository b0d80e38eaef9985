/**
 * The token counters in one run: how fast, whether the exact one is exact, how the time of a call
 * grows with unkind texts, how far the estimates are off, and what loading them costs; beside
 * gpt-tokenizer, js-tiktoken, tiktoken and tokenx.
 */
import type { BenchOptions, BenchReport } from './bench.ts'
import { machine } from './machine.ts'
import { measureAccuracy, measureAdversity } from './tokens/accuracy.ts'
import { families } from './tokens/adversarial.ts'
import { compareEncodings } from './tokens/exactness.ts'
import { goals } from './tokens/goals.ts'
import { measureBeside, measureGrowth } from './tokens/growth.ts'
import { PACKAGES } from './tokens/libraries.ts'
import { measureLoad } from './tokens/load.ts'
import { measureSizes } from './tokens/sizes.ts'
import { type TokensReport, tokensText } from './tokens/text.ts'
import { measureThroughput } from './tokens/throughput.ts'
import { transcriptTexts } from './tokens/transcripts.ts'

const FULL = {
  throughput: { rounds: 15, parts: 5, turns: 500 },
  strings: 100_000,
  growth: {
    families: Object.keys(families),
    largest: 2 ** 20,
    stopMs: 2_500,
    leastMs: 30,
    besideAt: 2 ** 17,
  },
  adverseSizes: [2 ** 8, 2 ** 11, 2 ** 14, 2 ** 17],
  processes: 5,
}

const QUICK: typeof FULL = {
  throughput: { rounds: 3, parts: 5, turns: 50 },
  strings: 2_000,
  growth: {
    families: ['a', 'random a-z', 'random CJK', 'base64'],
    largest: 2 ** 16,
    stopMs: 100,
    leastMs: 5,
    besideAt: 2 ** 15,
  },
  adverseSizes: [2 ** 8, 2 ** 14],
  processes: 1,
}

export async function bench({ quick, data, progress }: BenchOptions): Promise<BenchReport> {
  const plan = quick ? QUICK : FULL
  const transcripts = data === undefined ? undefined : await transcriptTexts(data)
  const { speeds, turns } = await measureThroughput({ ...plan.throughput, progress })
  const exactness = await compareEncodings({
    strings: plan.strings,
    ...(transcripts && { transcripts }),
    progress,
  })
  const growth = await measureGrowth({ ...plan.growth, progress })
  const beside = await measureBeside({ ...plan.growth, progress })
  progress('accuracy')
  const accuracy = await measureAccuracy()
  const adversity = await measureAdversity(plan.adverseSizes)
  const load = await measureLoad(plan.processes, progress)
  progress('sizes')
  const sizes = await measureSizes()
  const measured = { speeds, turns, exactness, growth, beside, accuracy, adversity, load, sizes }
  const report: TokensReport & { bench: string } = {
    bench: 'tokens',
    machine: machine(PACKAGES),
    ...measured,
    goals: goals(measured),
  }
  return { json: report, text: tokensText(report) }
}
