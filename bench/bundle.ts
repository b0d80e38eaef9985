import { type Bundle, bundle as bundleFrom, type Program } from '../test/sizes/bundle.ts'

export type { Bundle, Program }

/** With the packages of the benchmarks. */
export const bundle = (program: Program): Promise<Bundle> =>
  bundleFrom({ from: import.meta.dirname, ...program })
