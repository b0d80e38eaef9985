import type { Store } from '../../src/ports/store.ts'

/**
 * The same handles, of which one call is answered after the other, in the order in which they came:
 * what races in one world races in its twin with the same outcome.
 */
export function inTurn(handles: readonly Store[]): readonly Store[] {
  let last: Promise<unknown> = Promise.resolve()
  const take = <Result>(call: () => Promise<Result>): Promise<Result> => {
    const answered = last.then(call)
    last = answered.catch(() => {})
    return answered
  }
  return handles.map((store) => ({
    oldestUnused: () => take(() => store.oldestUnused()),
    removeUnused: (until) => take(() => store.removeUnused(until)),
    scopes: (after) => take(() => store.scopes(after)),
    open: (scope) =>
      new Proxy(store.open(scope), {
        get: (target, key) => {
          const value: unknown = Reflect.get(target, key)
          if (typeof value !== 'function') return value
          return (...args: unknown[]) => take(() => value.apply(target, args))
        },
      }),
  }))
}
