import { vi } from 'vitest'

/** `FAST_CHECK_RUNS=50 npm test` runs every property 50 times as often, on cases that nobody has seen. */
const factor = process.env.FAST_CHECK_RUNS === undefined ? undefined : Number(process.env.FAST_CHECK_RUNS)

/** Without it the cases are the same each time: what fails, fails for the change at hand. */
const SEED = 20_261_122

vi.setConfig({ testTimeout: limit(5_000) })

/** Milliseconds that a test of properties may take. */
export function limit(ms: number): number {
  return ms * Math.max(1, factor ?? 1)
}

export function runs(count: number): { readonly numRuns: number; readonly seed?: number } {
  return factor === undefined ? { numRuns: count, seed: SEED } : { numRuns: Math.ceil(count * factor) }
}
