import type { Scope } from '../ports/op.ts'
import type { ScopeStore } from '../ports/store.ts'
import type { Followed } from './followed.ts'
import { type Refused, type Resolution, refusedOf, resolve } from './refused.ts'
import type { Replica } from './replica.ts'
import type { Waiting } from './state.ts'

type Listener = (refused: Refused) => void

export interface RefusalsParts {
  readonly followed: Followed
  /** Opens a scope as the app writes to it. */
  readonly open: (scope: Scope) => ScopeStore
  readonly newId: () => string
}

/** What homes refused, and who is told. */
export class Refusals {
  readonly #parts: RefusalsParts
  readonly #listeners = { conflict: new Set<Listener>(), rejected: new Set<Listener>() }

  constructor(parts: RefusalsParts) {
    this.#parts = parts
  }

  on(event: 'conflict' | 'rejected', listener: Listener): () => void {
    const own: Listener = (refused) => listener(refused)
    this.#listeners[event].add(own)
    return () => this.#listeners[event].delete(own)
  }

  of(scope: Scope): Promise<readonly Refused[]> {
    return this.#parts.followed.with(scope, async (replica) => {
      const { outbox } = await replica.view()
      return Promise.all(outbox.flatMap((one) => (one.refusal ? refusedOf(scope, replica, one) : [])))
    })
  }

  resolve({ scope, order }: Refused, resolution: Resolution): Promise<void> {
    const { followed, open, newId } = this.#parts
    return followed.with(scope, (replica) =>
      resolve(replica, order, resolution, { open: () => open(scope), newId }),
    )
  }

  discard({ scope, order }: Refused): Promise<void> {
    return this.#parts.followed.with(scope, (replica) => replica.discard([order]))
  }

  /** Tells listeners of rows of the outbox, as they are now. */
  async tellOf(scope: Scope, orders: readonly number[]): Promise<void> {
    await this.#parts.followed.with(scope, async (replica) => {
      const { outbox } = await replica.view()
      await this.tell(
        scope,
        replica,
        outbox.filter(({ order, refusal }) => refusal && orders.includes(order)),
      )
    })
  }

  async tell(scope: Scope, replica: Replica, waiting: readonly Waiting[]): Promise<void> {
    for (const one of waiting) {
      const listeners = this.#listeners[one.refusal && 'conflict' in one.refusal ? 'conflict' : 'rejected']
      if (listeners.size === 0) continue
      const refused = await refusedOf(scope, replica, one)
      for (const listener of [...listeners]) listener(refused)
    }
  }
}
