import type { Store } from '../ports/store.ts'
import { mapScopes } from './map-scope.ts'

// In a file of its own, which only this entry names: else bundlers would load with a page what the
// store of browsers loads later.

/**
 * The reference store: everything in this process's memory, gone with it. For tests, demos, servers
 * without state, and as the last rung when a browser refuses storage.
 *
 * @example
 * ```ts
 * import { createMemory, mapStore } from 'plimsoll'
 * const memory = createMemory({ store: mapStore(), budget: 16_000 })
 * ```
 */
export function mapStore(): Store {
  return mapScopes()
}
