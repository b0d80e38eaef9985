import { createCore, type Memory, type MemoryOptions } from './core/memory.ts'
import { defaultCounter } from './counters/default.ts'
import { webHost } from './platform/web.ts'
import type { Counter } from './ports/counter.ts'

export interface CreateMemoryOptions<State = unknown> extends Omit<MemoryOptions<State>, 'counter' | 'host'> {
  /** Counts tokens. Default `defaultCounter`, an estimate: the budget then holds back a margin of 12 %. */
  readonly counter?: Counter
  /** Unix milliseconds, for display only. Default `Date.now`. */
  readonly clock?: () => number
  /** Fresh ids. Default UUIDv7. */
  readonly newId?: () => string
}

/**
 * Creates a memory.
 *
 * @throws ERR_INVALID_ARGUMENT
 * @example
 * ```ts
 * import { createMemory, mapStore } from 'plimsoll'
 *
 * const memory = createMemory({ store: mapStore(), system: 'You are a travel agent.', budget: 16_000 })
 * const session = memory.session({ userId: 'ada', sessionId: 'trip' })
 * await session.append({ role: 'user', content: 'Book the 9:40 to Turin.' })
 * const context = await session.context()
 * ```
 */
export function createMemory<State = unknown>({
  counter = defaultCounter,
  clock = webHost.now,
  newId = webHost.newId,
  ...options
}: CreateMemoryOptions<State>): Memory<State> {
  return createCore({ ...options, counter, host: { ...webHost, now: clock, newId } })
}
