import type { Scope } from '../ports/op.ts'
import type { ScopeStore } from '../ports/store.ts'
import { Engine } from './engine.ts'
import { ENGINE } from './engine-of.ts'
import { replicaStore } from './followed.ts'
import { replicaScope } from './replica-scope.ts'
import type { SyncedStore, SyncOptions } from './sync.ts'

/** @param options Contract: were checked */
export function syncedStore(options: SyncOptions): SyncedStore {
  const { store } = options
  const open = (scope: Scope): ScopeStore => {
    const base = store.open(scope)
    if (!followed.isOurs(scope)) return base
    const sync = followed.use(scope)
    return replicaScope({
      scope: replicaStore(base),
      replica: sync.replica,
      clock,
      ...(sync.keep && { part: sync.keep.part(sync, (start) => engine.older(sync, start)) }),
      onWritten: () => engine.written(sync),
      onClosed: () => followed.unuse(sync),
    })
  }
  const engine = new Engine(options, open)
  const { followed, closed, clock } = engine
  const synced: SyncedStore & { readonly [ENGINE]: Engine } = {
    [ENGINE]: engine,
    get status() {
      return engine.status
    },
    clock,
    open,
    oldestUnused: () => store.oldestUnused(),
    removeUnused: (until) => store.removeUnused(until),
    scopes: (after) => store.scopes(after),
    subscribe: (listener) => engine.subscribe(listener),
    follow: (scope) => {
      const sync = followed.use(scope)
      let isEnded = false
      return () => {
        if (!isEnded) followed.unuse(sync)
        isEnded = true
      }
    },
    pause: () => engine.pause(),
    resume: () => engine.resume(),
    settled: () =>
      new Promise((resolve, reject) => {
        const { signal } = closed
        const see = (): void => {
          const { state } = engine.status
          if (signal.aborted) reject(signal.reason)
          else if (engine.hasStarted && (state === 'current' || state === 'conflict')) resolve(engine.status)
          else return
          unsubscribe()
          signal.removeEventListener('abort', see)
        }
        const unsubscribe = engine.subscribe(see)
        signal.addEventListener('abort', see)
        see()
      }),
    close: () => engine.close(),
  }
  return synced
}
