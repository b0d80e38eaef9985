import { isPlimsollError } from '../../ports/errors.ts'
import type { Fact } from '../../ports/fact.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { factIn } from './fact.ts'
import { SHARE } from './fact-index.ts'
import type { Facts } from './facts.ts'

/** Facts that are looked for at once. */
const AT_ONCE = 16

export interface HandOverParts {
  /** The session's scope. */
  readonly store: ScopeStore
  readonly own: Facts
  /** The user's. */
  readonly shared: Facts
}

/**
 * Hands facts of a session that are its user's word for all sessions over to the user's scope. The
 * two scopes share no transaction: a fact waits in the session, and shows there, until the user's
 * scope has it. What an end of the process or an error left undone, the next run does.
 */
export class HandOver {
  readonly #parts: HandOverParts
  /** Whether nothing is left, as far as this object knows. */
  #isDone = false

  constructor(parts: HandOverParts) {
    this.#parts = parts
  }

  /**
   * Hands over all that waits, sixteen at a time. Idempotent.
   *
   * @returns whether anything did
   * @throws the first error of sixteen, after all of these were tried
   */
  async run(): Promise<boolean> {
    this.#isDone = false
    let isMoved = false
    for (let more = true; more; ) {
      const errors: unknown[] = []
      const rows = await this.#parts.store.indexed(SHARE, { first: AT_ONCE })
      for (const row of rows) {
        const fact = factIn(row)
        if (fact) await this.#hand(fact).catch((error) => errors.push(error))
      }
      if (errors.length > 0) throw errors[0]
      isMoved ||= rows.length > 0
      more = rows.length === AT_ONCE
    }
    this.#isDone = true
    return isMoved
  }

  /**
   * Hands over what may be left; where that fails, it shows in its session alone until the next
   * time. @returns whether anything was
   */
  async finish(): Promise<boolean> {
    return !this.#isDone && this.run().catch(() => true)
  }

  async #hand(fact: Fact): Promise<void> {
    const { own, shared } = this.#parts
    const isThere = async () => (await own.get(fact.id)) !== undefined
    const adopted = await unlessForgotten(shared.adopt(fact, isThere))
    if (!adopted) {
      // The user has forgotten it meanwhile.
      await own.forget(fact.id)
      return
    }
    // Where it was forgotten in the session since, so it was with the user.
    await unlessForgotten(own.retire(fact.id, adopted.id))
  }
}

/** Undefined: the fact was forgotten. */
async function unlessForgotten(change: Promise<Fact>): Promise<Fact | undefined> {
  try {
    return await change
  } catch (error) {
    if (isPlimsollError(error, 'ERR_NOT_FOUND')) return undefined
    throw error
  }
}
