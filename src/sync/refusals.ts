import type { Scope } from '../ports/op.ts'
import { checkFunction, checkOneOf } from '../text/check-value.ts'
import { engineOf } from './engine-of.ts'
import { type Refused, type Resolution, refusedOf, resolve } from './refused.ts'
import type { SyncedStore } from './sync.ts'

type Listener = (refused: Refused) => void

/** What the home refused of what was written here. */
export interface Refusals {
  /**
   * `conflict`: a register was written elsewhere too. `rejected`: the home can never take an op.
   * Both were taken back here, and are kept until they are resolved or discarded.
   *
   * @returns what ends it
   * @throws ERR_INVALID_ARGUMENT: there is no such event, or the listener is no function
   */
  on(event: 'conflict' | 'rejected', listener: Listener): () => void
  /** What the home refused of a scope, oldest first. */
  of(scope: Scope): Promise<readonly Refused[]>
  /**
   * Writes what is to hold in place of a put that was refused, on the version that is there now,
   * and forgets what was refused. Another value keeps the places in indexes of the one that was
   * refused.
   *
   * @throws ERR_NOT_FOUND: it was resolved already; ERR_INVALID_ARGUMENT: it is no put, forgotten,
   * or encrypted, unless `theirs` is to hold; ERR_CONFLICT: the register was deleted
   */
  resolve(refused: Refused, resolution: Resolution): Promise<void>
  /** Forgets what was refused. */
  discard(refused: Refused): Promise<void>
}

/**
 * What the home of a synced store refuses: told as it happens, listed, and put right.
 *
 * @throws ERR_INVALID_ARGUMENT: it is no synced store
 * @example
 * ```ts
 * import { refusalsOf, sync } from 'plimsoll/sync'
 * const store = sync({ store: base, transport })
 * const refusals = refusalsOf(store)
 * refusals.on('conflict', (refused) => refusals.resolve(refused, 'theirs'))
 * ```
 */
export function refusalsOf(store: SyncedStore): Refusals {
  const engine = engineOf('refusalsOf', store)
  const { followed, open, onRefused } = engine
  return {
    on: (event, listener) => {
      checkOneOf('refusals', 'event', event, ['conflict', 'rejected'])
      checkFunction('refusals', 'listener', listener)
      const tell = async (scope: Scope, orders: readonly number[]): Promise<void> => {
        for (const one of await refusedIn(scope, (order) => orders.includes(order)))
          if ('conflict' in one.refusal === (event === 'conflict'))
            // An observer stops nothing: what it watches has happened.
            try {
              listener(one)
            } catch {}
      }
      onRefused.add(tell)
      return () => onRefused.delete(tell)
    },
    of: (scope) => refusedIn(scope),
    resolve: async ({ scope, order }, resolution) => {
      await followed.with(scope, async (replica, sync) => {
        await resolve(replica, order, resolution, { open: () => open(scope), newId: () => engine.newId() })
        // Other tabs count it, too.
        engine.written(sync)
      })
    },
    discard: async ({ scope, order }) => {
      await followed.with(scope, async (replica, sync) => {
        await replica.discard([order])
        engine.written(sync)
      })
    },
  }

  function refusedIn(scope: Scope, isMeant = (_: number): boolean => true): Promise<readonly Refused[]> {
    return followed.with(scope, async (replica) => {
      const { outbox } = await replica.view()
      const refused = outbox.filter(({ order, refusal }) => refusal && isMeant(order))
      return Promise.all(refused.map((one) => refusedOf(scope, replica, one)))
    })
  }
}
