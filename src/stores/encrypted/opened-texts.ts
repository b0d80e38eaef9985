import { isSameScope } from '../../ports/scope-name.ts'
import type { Claim } from './order.ts'
import type { Place } from './sealed.ts'

/** What a sealed text of a row holds. */
export interface Opened {
  readonly claim: Claim
  /** What is derived from a message, or the places of a register in lists. */
  readonly head: unknown
  readonly text: string
}

/** UTF-16 units of what is kept of all scopes of a store: sealed, open, and said beside. */
const MOST_UNITS = 2 ** 20

/**
 * Texts that were opened lately: who reads the newest messages again does not decrypt them again.
 * Found by the sealed text and by all that it is bound to, so that one that was changed or moved is
 * not found.
 */
export class OpenedTexts {
  readonly #kept = new Map<
    string,
    { readonly place: Place; readonly sealed: string; readonly opened: Opened }
  >()
  #units = 0
  #cleared = 0

  /** How often it was cleared. */
  get cleared(): number {
    return this.#cleared
  }

  find(place: Place, sealed: string): Opened | undefined {
    const kept = this.#kept.get(nameOf(place))
    return kept?.sealed === sealed && isSame(kept.place, place) ? kept.opened : undefined
  }

  /**
   * Keeps one more; the oldest go for it.
   *
   * @param cleared as it was before the row was read: what was forgotten meanwhile is not kept
   */
  keep(place: Place, sealed: string, opened: Opened, cleared: number): void {
    const name = nameOf(place)
    if (cleared !== this.#cleared || this.#kept.get(name)?.opened === opened) return
    this.#drop(name)
    this.#kept.set(name, { place, sealed, opened })
    this.#units += unitsOf(place, sealed)
    for (const name of this.#kept.keys()) {
      if (this.#units <= MOST_UNITS) break
      this.#drop(name)
    }
  }

  /** For where something is forgotten, wherever that is: it is rare. */
  clear(): void {
    this.#kept.clear()
    this.#units = 0
    this.#cleared++
  }

  #drop(name: string): void {
    const kept = this.#kept.get(name)
    if (!kept) return
    this.#kept.delete(name)
    this.#units -= unitsOf(kept.place, kept.sealed)
  }
}

/** Of different places it may be the same. */
function nameOf({ scope, kind, id }: Place): string {
  return `${scope.sessionId ?? ''} ${kind} ${id}`
}

/** What is open has fewer units than what is sealed. */
function unitsOf({ rest = '' }: Place, sealed: string): number {
  return 2 * sealed.length + rest.length
}

function isSame(one: Place, other: Place): boolean {
  return (
    isSameScope(one.scope, other.scope) &&
    one.kind === other.kind &&
    one.opId === other.opId &&
    one.id === other.id &&
    one.field === other.field &&
    one.rest === other.rest
  )
}
