import { FACT } from '../../features/facts/fact.ts'
import { registerName } from '../../features/facts/forget-shared.ts'
import { decide, nothingWritten } from '../../kernel/log/decide.ts'
import { sealOp } from '../../kernel/log/seal.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { Name } from '../../ports/op.ts'
import type { ScopeStore } from '../../ports/store.ts'

export interface ShownCopiesParts {
  /** Contract: gives the session's own scope. */
  readonly store: () => ScopeStore
  readonly host: Pick<Host, 'newId'>
}

/**
 * What a session's scope holds of registers of its user beside the replica: the heads that showed
 * them, and facts that it handed over. They go when the registers do.
 */
export class ShownCopies {
  readonly #parts: ShownCopiesParts
  /** What is gone since the object woke: who began before that, may show it yet. */
  readonly #gone = new Set<string>()

  constructor(parts: ShownCopiesParts) {
    this.#parts = parts
  }

  /**
   * Deletes what names any of these registers as a source, in one transaction with looking for it.
   * Idempotent.
   *
   * @param keys of registers of the user's scope
   * @returns whether there was anything
   */
  async forget(keys: readonly string[]): Promise<boolean> {
    const { store, host } = this.#parts
    const names = keys.map((key) => `user:${key}` as const)
    for (const name of names) this.#gone.add(name)
    // A session that handed a fact over keeps its own, under the same key.
    const handed = keys.filter((key) => key.startsWith(FACT))
    const deletesOf = (all: Iterable<Name>) =>
      Array.from(all, (target) => sealOp({ kind: 'delete', opId: host.newId(), target }))
    // They ask for what names them, and are not written.
    const questions = deletesOf([...names, ...handed.map(registerName)])
    const scope = store()
    let found = false
    await scope.commit(questions, (_, rows) => {
      const showing = new Set(names.flatMap((name) => rows.dependents.get(name) ?? []))
      for (const key of handed) if (rows.registers.get(key)?.body != null) showing.add(registerName(key))
      found = showing.size > 0
      return found ? decide(deletesOf(showing), rows) : nothingWritten([])
    })
    await scope.close()
    return found
  }

  /** The session's scope, in which nothing is written that shows what is gone. */
  guarded(scope: ScopeStore): ScopeStore {
    return {
      ...scope,
      commit: async (ops, decide) => {
        const isGone = (name: string): boolean => this.#gone.has(name)
        if (this.#gone.size > 0 && ops.some(({ envelope }) => envelope.sources?.some(isGone)))
          throw new PlimsollError('ERR_CONFLICT', 'session: what this shows was forgotten meanwhile')
        return scope.commit(ops, decide)
      },
    }
  }
}
