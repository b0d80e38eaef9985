import type { NotesFacts } from '../../features/slots.ts'
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
 * Notes what a session keeps with its user behind the calls that write it. That it is owed is
 * written in the transaction of each fact; where the object ends before it is done, or the user is
 * not reached, an alarm notes all facts.
 */
export class FactNotes implements NotesFacts {
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
    this.#running ??= this.#run()
  }

  /** The same, where nothing is done before the alarm. */
  leave(): void {
    this.#owe()
    this.#left = (this.#left ?? 0) + 1
  }

  async settle(): Promise<void> {
    await this.#running
  }

  /** What the alarm does. @param all Contract: notes all facts */
  async catchUp(all: () => Promise<void>): Promise<void> {
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
    // The transaction comes first.
    await undefined
    try {
      while (this.#facts.size > 0) {
        const facts = this.#facts
        this.#facts = new Map()
        await this.#parts.note(facts)
      }
      if (this.#left === this.#caughtUp) this.#parts.cancel()
    } catch {
      this.#left = (this.#left ?? 0) + 1
    } finally {
      this.#running = undefined
    }
  }
}
