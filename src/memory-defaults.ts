import type { MemoryOptions } from './kernel/memory.ts'
import { defaultCounter } from './counters/default.ts'
import { webHost } from './platform/web.ts'
import type { Counter } from './ports/counter.ts'

export interface CreateMemoryOptions<State = unknown>
  extends Omit<MemoryOptions<State>, 'counter' | 'host' | 'onDemand'> {
  /** Counts tokens. Default `defaultCounter`, an estimate: the budget then holds back a margin of 12 %. */
  readonly counter?: Counter
  /** Unix milliseconds, for display only. Default `Date.now`. */
  readonly clock?: () => number
  /** Fresh ids. Default UUIDv7. */
  readonly newId?: () => string
}

/** The options of the core, with the counter, the clock and the ids of the Web platform. */
export function withDefaults<State>({
  counter = defaultCounter,
  clock = webHost.now,
  newId = webHost.newId,
  ...options
}: CreateMemoryOptions<State>): Omit<MemoryOptions<State>, 'onDemand'> {
  return { ...options, counter, host: { ...webHost, now: clock, newId } }
}
