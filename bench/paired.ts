import { runChild } from './child.ts'

/** What a call costs beside the limit, both over the same exchanges, in one process, in turns. */
export interface Paired {
  readonly size: number
  readonly calls: number
  /** That began in these calls. */
  readonly epochs: number
  readonly limit: Percentiles & { readonly what: string }
  /** Of each step: its time from the beginning of the call, and by what factor of the limit's. */
  readonly ratios: readonly (Percentiles & { readonly what: string; readonly micros: Percentiles })[]
}

/** Of times, in microseconds; of ratios, that of the same percentiles. */
export interface Percentiles {
  readonly p50: number
  readonly p99: number
}

export async function timePaired(
  sizes: readonly number[],
  calls: number,
  progress: (line: string) => void,
): Promise<Paired[]> {
  const paired: Paired[] = []
  for (const size of sizes) {
    progress(`${size} messages: in turns with the limit`)
    const args = [`${size}`, `${calls}`]
    const { messages, stopped } = await runChild<Paired>('paired-cell.ts', args, { limitMs: 120_000 })
    if (stopped !== undefined) throw new Error(`in turns with the limit: ${stopped}`)
    paired.push(...messages)
  }
  return paired
}
