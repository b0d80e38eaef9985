import { runChild } from '../child.ts'
import { median, round } from '../stats.ts'
import { DEFAULT, OURS } from './engines.ts'
import type { Latency, SpeedSample } from './speed-cell.ts'

export interface SpeedPlan {
  readonly messages: number
  readonly processes: number
  readonly laps: number
}

/** Medians over the processes. Times in milliseconds, memory in MiB. */
export interface Speed extends Partial<SpeedSample> {
  readonly system: string
  /** Why there are fewer figures than elsewhere. */
  readonly note?: string
}

const SYSTEMS = [OURS, DEFAULT]
const LIMIT_MS = 300_000

/** Each engine in processes of its own, in turns. */
export async function measureSpeed(
  data: string,
  { messages, processes, laps }: SpeedPlan,
  progress: (line: string) => void,
): Promise<Speed[]> {
  const samples = SYSTEMS.map((): SpeedSample[] => [])
  const notes = new Map<string, string>()
  for (let lap = 0; lap < processes; lap++) {
    progress(`speed: ${lap + 1} of ${processes}`)
    for (const [index, system] of SYSTEMS.entries()) {
      const options = { limitMs: LIMIT_MS, execArgv: ['--expose-gc'] }
      const args = [system, data, `${messages}`, `${laps}`]
      const child = await runChild<SpeedSample>('recall/speed-cell.ts', args, options)
      samples[index]?.push(...child.messages)
      if (child.stopped) notes.set(system, child.stopped)
    }
  }
  return SYSTEMS.map((system, index) => {
    const note = notes.get(system)
    return { system, ...medians(samples[index] ?? []), ...(note && { note }) }
  })
}

function medians(samples: readonly SpeedSample[]): Partial<SpeedSample> {
  if (samples.length === 0) return {}
  const of = (pick: (sample: SpeedSample) => number) => round(median(samples.map(pick)))
  const latency = (pick: (sample: SpeedSample) => Latency): Latency => ({
    p50: of((sample) => pick(sample).p50),
    p95: of((sample) => pick(sample).p95),
    p99: of((sample) => pick(sample).p99),
  })
  return {
    firstMs: of(({ firstMs }) => firstMs),
    indexMs: of(({ indexMs }) => indexMs),
    heapMiB: of(({ heapMiB }) => heapMiB),
    addMs: of(({ addMs }) => addMs),
    addAndAskMs: of(({ addAndAskMs }) => addAndAskMs),
    rareWords: latency(({ rareWords }) => rareWords),
    words: latency(({ words }) => words),
    questions: latency(({ questions }) => questions),
    encodeMs: of(({ encodeMs }) => encodeMs),
    encodedMiB: of(({ encodedMiB }) => encodedMiB),
    loadMs: of(({ loadMs }) => loadMs),
  }
}
