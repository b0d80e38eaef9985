import type { WrittenFact } from './held-scope.ts'

export interface FactNotesParts {
  /** Contract: notes facts with the user as they are now, given by their keys. Idempotent. */
  readonly note: (facts: ReadonlyMap<string, WrittenFact>) => Promise<void>
  /** Contract: has all facts noted by an alarm; written at once, once for all that ask. */
  readonly owe: () => void
  /** Contract: whether that is so already. */
  readonly isOwed: () => boolean
  /** Contract: takes it back. */
  readonly cancel: () => void
}

/**
 * Notes what a session keeps with its user behind the calls that write it: what is written within
 * some seconds together, by an alarm, or sooner where somebody asks. That it is owed is written in
 * the transaction of each fact; where the object ends before it is done, or the user is not
 * reached, the alarm notes all facts.
 */
export class FactNotes {
  readonly #parts: FactNotesParts
  #facts = new Map<string, WrittenFact>()
  #running: Promise<void> | undefined
  /** How often something was left to the alarm; undefined: what was before is not known yet. */
  #left: number | undefined
  #caughtUp = 0

  constructor(parts: FactNotesParts) {
    this.#parts = parts
  }

  /** Facts were written; called in the transaction, which may be undone. */
  wrote(facts: readonly WrittenFact[]): void {
    this.#owe()
    for (const fact of facts) this.#facts.set(fact.key, fact)
  }

  /** The same, where nobody but the alarm does it. */
  leave(): void {
    this.#owe()
    this.#left = (this.#left ?? 0) + 1
  }

  /** Notes what was written so far, or leaves it to the alarm. */
  async settle(): Promise<void> {
    while (this.#facts.size > 0 || this.#running) {
      this.#running ??= this.#run()
      await this.#running
    }
  }

  /**
   * What the alarm does: more than {@link settle} where something was left to it, or may have been
   * before the object woke. @param all Contract: notes all facts
   */
  async catchUp(all: () => Promise<void>): Promise<void> {
    await this.settle()
    if (this.#left === this.#caughtUp) return
    const left = this.#left ?? 0
    await all()
    this.#left ??= 0
    this.#caughtUp = left
  }

  /** What was written is there no more. */
  clear(): void {
    this.#facts.clear()
    this.#parts.cancel()
  }

  #owe(): void {
    this.#left ??= this.#parts.isOwed() ? 1 : 0
    this.#parts.owe()
  }

  async #run(): Promise<void> {
    try {
      const facts = this.#facts
      this.#facts = new Map()
      await this.#parts.note(facts)
      if (this.#facts.size === 0 && this.#left === this.#caughtUp) this.#parts.cancel()
    } catch {
      this.#left = (this.#left ?? 0) + 1
    } finally {
      this.#running = undefined
    }
  }
}
