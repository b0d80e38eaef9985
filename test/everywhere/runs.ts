import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** `FAST_CHECK_RUNS`, where it is set. */
    readonly fastCheckRuns: number | undefined
  }
}

/** `FAST_CHECK_RUNS=50 npm test` runs every property 50 times as often, on cases that nobody has seen. */
const factor = inject('fastCheckRuns')

/** Without it the cases are the same each time: what fails, fails for the change at hand. */
const SEED = 20_261_122

/** Milliseconds that a test of properties may take, where the time of its project does not do; that one grows by itself. */
export function limit(ms: number): number {
  return ms * Math.max(1, factor ?? 1)
}

export function runs(count: number): { readonly numRuns: number; readonly seed?: number } {
  const numRuns = Math.ceil(count * (factor ?? 1))
  return factor === undefined ? { numRuns, seed: SEED } : { numRuns }
}
