import type { ScopeStore, Store } from '../../src/ports/store.ts'

/** A store with some methods of its scopes replaced. */
export function changedStore(store: Store, change: (inner: ScopeStore) => Partial<ScopeStore>): Store {
  return over(store, {
    open: (scope) => {
      const inner = store.open(scope)
      return over(inner, change(inner))
    },
  })
}

function over<Target extends object>(target: Target, own: Partial<Target>): Target {
  return new Proxy(target, {
    get: (_, key) => {
      const value: unknown = Reflect.get(Object.hasOwn(own, key) ? own : target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
