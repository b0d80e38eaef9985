import { FACT } from '../../features/facts/fact.ts'
import { registerName } from '../../features/facts/forget-shared.ts'
import { commitDeletes, emptiedBy } from '../../forgetting/deletes.ts'
import { headsShowing } from '../../forgetting/shown.ts'
import { SHARED } from '../../kernel/log/message.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { Name } from '../../ports/op.ts'
import type { ScopeStore } from '../../ports/store.ts'

export interface ShownCopiesParts {
  /** Contract: gives the session's own scope. */
  readonly store: () => ScopeStore
  readonly host: Pick<Host, 'newId' | 'newSecret'>
}

/**
 * What a session's scope holds of registers of its user beside the replica: the heads that showed
 * them, and facts that it handed over. They go when the registers do.
 */
export class ShownCopies {
  readonly #parts: ShownCopiesParts
  /** What is gone since the object woke: who began before that, may show it yet. */
  readonly #gone = new Set<string>()
  #heads = 0

  constructor(parts: ShownCopiesParts) {
    this.#parts = parts
  }

  /**
   * Deletes what names any of these registers as a source, and with it the secret that hashes were
   * made by. Idempotent. What is written meanwhile is refused.
   *
   * @param keys of registers of the user's scope
   * @returns whether there was anything
   */
  async forget(keys: readonly string[]): Promise<boolean> {
    const { store, host } = this.#parts
    const names = keys.map((key) => `user:${key}` as const)
    for (const name of names) this.#gone.add(name)
    const scope = store()
    const asked: Name[] = [...names]
    // A session that handed a fact over keeps its own, under the same key.
    for (const key of keys)
      if (key.startsWith(FACT) && (await scope.register(key))?.body) asked.push(registerName(key))
    const { heads, others } = await headsShowing(scope, keys)
    const showing = [...others.map(({ key }) => registerName(key)), ...(await emptiedBy(scope, host, asked))]
    const going = [...new Set(showing)].filter((name) => !name.startsWith(SHARED))
    if (going.length > 0) await commitDeletes(scope, host, going)
    this.#heads += heads.length
    await scope.close()
    return going.length > 0
  }

  /** How many heads went since this was asked before. */
  takeHeads(): number {
    const heads = this.#heads
    this.#heads = 0
    return heads
  }

  /** Whether a name is of what went since the object woke. */
  isGone(name: string): boolean {
    return this.#gone.has(name)
  }

  /** The session's scope, in which nothing is written that shows what is gone. */
  guarded(scope: ScopeStore): ScopeStore {
    return {
      ...scope,
      commit: async (ops, decide) => {
        const isGone = (name: string): boolean => this.isGone(name)
        if (this.#gone.size > 0 && ops.some(({ envelope }) => envelope.sources?.some(isGone)))
          throw new PlimsollError('ERR_CONFLICT', 'session: what this shows was forgotten meanwhile')
        return scope.commit(ops, decide)
      },
    }
  }
}
