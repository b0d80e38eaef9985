import type { Store } from '../../../src/index.ts'

/** A store that can be stopped at any of its calls, as a tab is that others overtake. */
export class PausedStore {
  /** Calls that were made. */
  calls = 0
  readonly store: Store
  #until = Number.POSITIVE_INFINITY
  #reached: (() => void) | undefined
  #waiting: (() => void)[] = []

  constructor(store: Store) {
    this.store = {
      ...store,
      open: (scope) =>
        new Proxy(store.open(scope), {
          get: (target, key) => {
            const value: unknown = Reflect.get(target, key)
            if (typeof value !== 'function' || key === 'snapshot' || key === 'watch') return undefined
            return async (...args: unknown[]) => {
              await this.#pass()
              return value.apply(target, args)
            }
          },
        }),
    }
  }

  /**
   * Runs it up to its call of that number. @returns whether it came there, and did not end before
   */
  async runTo(until: number, work: Promise<unknown>): Promise<boolean> {
    const reached = new Promise<boolean>((resolve) => {
      this.#reached = () => resolve(true)
    })
    this.#until = until
    this.#go()
    return Promise.race([reached, work.then(never, never)])
  }

  /** Stops it at its next call. */
  hold(): void {
    this.#until = this.calls
  }

  /** Lets it go on to its end. */
  release(): void {
    this.#until = Number.POSITIVE_INFINITY
    this.#go()
  }

  #go(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  async #pass(): Promise<void> {
    while (this.calls >= this.#until) {
      this.#reached?.()
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    this.calls++
  }
}

function never(): boolean {
  return false
}
