/** As much of the frozen build as the driver takes by name; the rest has the type of the sources. */
import type { CounterLike } from './adapters/counters.ts'

export const defaultCounter: CounterLike
