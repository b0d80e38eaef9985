import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * By what the number of cases is multiplied. Nobody says it to a test that judges mutants: all
     * of them.
     */
    readonly fastCheckRuns: number | undefined
    readonly fastCheckSeed: number | undefined
  }
}

const factor = inject('fastCheckRuns') ?? 1

/** The same for every push: what fails, fails for the change at hand. */
export const SEED = inject('fastCheckSeed') ?? 20_261_122

/** What a push does not wait for runs where all random cases do. */
export const isWhole = factor >= 1

/**
 * Milliseconds that a test of properties may take, where the time of its project does not do; that
 * one grows by itself.
 */
export function limit(ms: number): number {
  return ms * Math.max(1, factor)
}

/**
 * @param count messages, facts, requests of `npm run test:cases`; `npm test` has a tenth of them
 */
export function size(count: number): number {
  return Math.ceil(count * Math.min(1, factor))
}

/**
 * @param count cases of `npm run test:cases`; `npm test` runs a tenth of them, the same ones each
 * time
 */
export function runs(count: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: Math.ceil(count * factor), seed: SEED }
}
