import { createCore } from './kernel/memory.ts'
import { type Memory } from './kernel/types.ts'
import * as onDemand from './operations/on-demand.ts'
import { type CreateMemoryOptions, withDefaults } from './memory-defaults.ts'

export type { CreateMemoryOptions } from './memory-defaults.ts'

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
export function createMemory<State = unknown>(options: CreateMemoryOptions<State>): Memory<State> {
  return createCore({ ...withDefaults(options), onDemand: async () => onDemand })
}
