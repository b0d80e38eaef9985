import { isPlimsollError } from '../../ports/errors.ts'
import type { Fact } from '../../ports/fact.ts'
import { factIn } from './fact.ts'
import { SHARE } from './fact-index.ts'
import type { Facts } from './facts.ts'
import { type NotedIn, tell, UNTOLD } from './kept.ts'

/** Facts that are looked for at once. */
const AT_ONCE = 16

export interface HandOverParts {
  readonly noted: NotedIn
  /** The session's. */
  readonly own: Facts
  /** The user's. */
  readonly shared: Facts
  /** Contract: told where something is left undone. */
  readonly leave: () => void
}

/**
 * Tells the user's scope of the facts of a session: those that are the user's word for all sessions
 * are handed over, of the others a note is kept. The two scopes share no transaction: that it is to
 * be told is written with a fact, and taken off once the user's scope has it; a fact that is handed
 * over shows in the session until then. What an end of the process or an error left undone, the
 * next run does.
 */
export class HandOver {
  readonly #parts: HandOverParts
  /** Whether nothing is left, as far as this object knows. */
  #isDone = false

  constructor(parts: HandOverParts) {
    this.#parts = parts
  }

  /**
   * Tells of all that waits, sixteen at a time. Idempotent.
   *
   * @returns whether anything was handed over
   * @throws the first error of sixteen, after all of these were tried
   */
  async run(): Promise<boolean> {
    this.#isDone = false
    let isMoved = false
    for (;;) {
      const errors: unknown[] = []
      const rows = await this.#parts.noted.store.indexed(SHARE, { first: AT_ONCE })
      if (rows.length === 0) break
      const marks = rows.filter(({ key }) => key.startsWith(UNTOLD))
      for (const row of rows) {
        const fact = marks.includes(row) ? undefined : factIn(row)
        if (!fact) continue
        isMoved = true
        await this.#hand(fact).catch((error) => errors.push(error))
      }
      if (marks.length > 0) await tell(this.#parts.noted, marks)
      if (errors.length > 0) throw errors[0]
    }
    this.#isDone = true
    return isMoved
  }

  /** The same; where it fails, it is left for the next time. */
  async try(): Promise<boolean> {
    return this.run().catch(() => {
      this.#parts.leave()
      return true
    })
  }

  /**
   * Tells of what may be left; where that fails, what is to be shared shows in its session alone
   * until the next time. @returns whether anything was handed over
   */
  async finish(): Promise<boolean> {
    return !this.#isDone && this.try()
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
