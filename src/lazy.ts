import { createCore } from './kernel/memory.ts'
import { type Memory } from './kernel/types.ts'
import { type CreateMemoryOptions, withDefaults } from './memory-defaults.ts'

export type { CreateMemoryOptions } from './memory-defaults.ts'

/**
 * `createMemory` of `plimsoll` for pages whose first load counts: what `export`, `import`, `erase`, `forget`, `delete`, `start` and `retention`
 * need is imported when the first of them is called, by a bundler that splits code. Where that import fails, for example without a network and
 * without a service worker that has it, that call rejects before anything is written, and the next one tries again.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function createMemory<State = unknown>(options: CreateMemoryOptions<State>): Memory<State> {
  return createCore({ ...withDefaults(options), onDemand: () => import('./operations/on-demand.ts') })
}
