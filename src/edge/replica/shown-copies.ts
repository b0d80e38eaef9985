import { decide, nothingWritten } from '../../kernel/log/decide.ts'
import { sealOp } from '../../kernel/log/seal.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { ScopeStore } from '../../ports/store.ts'

export interface ShownCopiesParts {
  /** Contract: gives the session's own scope. */
  readonly store: () => ScopeStore
  readonly host: Pick<Host, 'newId'>
}

/**
 * What a session's scope holds of registers of its user beside the replica: the heads that showed
 * them. They go when the registers do.
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
    // They ask for what names them, and are not written.
    const questions = names.map((target) => sealOp({ kind: 'delete', opId: host.newId(), target }))
    const scope = store()
    let found = false
    await scope.commit(questions, (_, rows) => {
      const showing = new Set(names.flatMap((name) => rows.dependents.get(name) ?? []))
      found = showing.size > 0
      const deletes = [...showing].map((target) => sealOp({ kind: 'delete', opId: host.newId(), target }))
      return found ? decide(deletes, rows) : nothingWritten([])
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
