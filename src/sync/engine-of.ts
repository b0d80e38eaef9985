import { invalid } from '../ports/options.ts'
import type { Engine } from './engine.ts'
import type { SyncedStore } from './sync.ts'

/** By it functions over a synced store reach what it works with. */
export const ENGINE: unique symbol = Symbol.for('plimsoll.sync/1') as never

/** @throws ERR_INVALID_ARGUMENT: it is no synced store */
export function engineOf(operation: string, store: SyncedStore): Engine {
  const engine = (store as { readonly [ENGINE]?: Engine } | undefined)?.[ENGINE]
  if (!engine) throw invalid(operation, 'store', 'must be what sync() gave')
  return engine
}
