/**
 * Names that a build makes itself: fresh ids, hashes, lanes, fences. Another build may make others,
 * if it makes as many different ones.
 */

/**
 * Tags of fences; ids of rendered calls; hashes; lanes and short hashes; fresh ids of the driver's
 * host.
 */
const MADE =
  /ctx-[0-9a-f]{8}|call_[0-9a-f]{14}|(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{16})(?![0-9a-f])|id-\d{6}/g

type Kind = 'fence' | 'call' | 'hash' | 'id'

/** What to do with each kind: give it a name by its first appearance, hide it, or leave it. */
export type Treatment = { readonly [kind in Kind]: 'name' | 'hide' | 'leave' }

/** Treats the made names in texts, one text after the other. */
export class Names {
  readonly #treatment: Treatment
  readonly #given: Map<string, string>
  readonly #counts: Map<Kind, number>

  /** @param given the names that were given before; what is named here does not change them */
  constructor(treatment: Treatment, given?: Names) {
    this.#treatment = treatment
    this.#given = new Map(given ? given.#given : [])
    this.#counts = new Map(given ? given.#counts : [])
  }

  in(text: string): string {
    return text.replace(MADE, (made) => this.#nameOf(made))
  }

  /** The same for a text of a set, whose order says nothing: what appears in it first is hidden. */
  inSet(text: string): string {
    return text.replace(MADE, (made) => this.#given.get(made) ?? `‹${kindOf(made)}›`)
  }

  #nameOf(made: string): string {
    const kind = kindOf(made)
    const treatment = this.#treatment[kind]
    if (treatment === 'leave') return made
    if (treatment === 'hide') return `‹${kind}›`
    const known = this.#given.get(made)
    if (known !== undefined) return known
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    const name = `‹${kind} ${count}›`
    this.#given.set(made, name)
    return name
  }
}

function kindOf(made: string): Kind {
  if (made.startsWith('ctx-')) return 'fence'
  if (made.startsWith('call_')) return 'call'
  return made.startsWith('id-') ? 'id' : 'hash'
}
