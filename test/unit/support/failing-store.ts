import type { Store } from '../../../src/index.ts'

/**
 * When a store fails: at which of its calls, counted from 1, and whether that call was done before.
 */
export interface Failure {
  readonly at: number
  readonly when: 'before' | 'after'
  /** Whether all that follows fails too, as for a process that has ended. */
  readonly isEnd: boolean
}

/** A store that fails once, or from then on. */
export class FailingStore {
  /** Calls that were made. */
  calls = 0
  readonly store: Store

  constructor(store: Store, { at, when, isEnd }: Failure) {
    const call = async (run: () => unknown): Promise<unknown> => {
      const number = ++this.calls
      const fails = number === at || (isEnd && number > at)
      if (fails && (when === 'before' || number > at)) throw new Error(`call ${number} never arrived`)
      const value = await run()
      if (fails) throw new Error(`nobody heard of call ${number}`)
      return value
    }
    this.store = {
      ...store,
      open: (scope) => {
        const inner = store.open(scope)
        return new Proxy(inner, {
          get: (target, key) => {
            const value: unknown = Reflect.get(target, key)
            if (typeof value !== 'function' || key === 'snapshot') return undefined
            return (...args: unknown[]) => call(() => value.apply(target, args))
          },
        })
      },
    }
  }
}
