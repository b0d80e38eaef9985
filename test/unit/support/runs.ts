import { vi } from 'vitest'

/** `FAST_CHECK_RUNS=50 npm test` runs every property 50 times as often. */
const factor = Number(process.env.FAST_CHECK_RUNS ?? 1)

vi.setConfig({ testTimeout: 5_000 * Math.max(1, factor) })

export function runs(count: number): { readonly numRuns: number } {
  return { numRuns: Math.ceil(count * factor) }
}
