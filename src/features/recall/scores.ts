/** Which number of a place: what its passage scores in all reaches, and at last in all. */
export const IN_ALL = 0
/** What it scores by itself. */
export const ALONE = 1
/** The rarities of the terms that it holds; or, of a message's first passage, the message. */
export const HELD = 2
/** Of a message's first passage: what the message scores as a whole. */
export const MESSAGE = 3
/** Of that one as well: the most that a passage of the message scores in all. */
export const BEST = 4
const WIDTH = 5

/**
 * What the passages of an index score in a query, by place. Kept from query to query, so that none
 * takes memory that grows with the index, or with what it finds.
 */
export class Scores {
  /** How many places have numbers. */
  count = 0
  /** By place: which of these it is, from 1; 0: it is none. */
  #order = new Int32Array(0)
  #touched = new Int32Array(0)
  /** Of those without numbers, then by which of these: beside each other, as they are read. */
  #numbers = new Float64Array(0)

  /** Forgets the query before. */
  begin(size: number): void {
    for (let which = 0; which < this.count; which++) this.#order[this.touched(which)] = 0
    this.#numbers.fill(0, WIDTH, (this.count + 1) * WIDTH)
    this.count = 0
    if (this.#order.length >= size) return
    this.#order = new Int32Array(2 * size)
    this.#touched = new Int32Array(2 * size)
    this.#numbers = new Float64Array((2 * size + 1) * WIDTH)
  }

  /** One of the places that have numbers, in the order in which they got them. */
  touched(which: number): number {
    return this.#touched[which] as number
  }

  /** Where the numbers of a place begin; all are 0 of one that has none. */
  at(place: number): number {
    return (this.#order[place] as number) * WIDTH
  }

  /** The same, of one that gets numbers, if it has none. */
  touch(place: number): number {
    const at = this.at(place)
    if (at > 0) return at
    this.#touched[this.count++] = place
    this.#order[place] = this.count
    return this.count * WIDTH
  }

  of(at: number): number {
    return this.#numbers[at] as number
  }

  add(at: number, value: number): void {
    this.#numbers[at] = this.of(at) + value
  }

  set(at: number, value: number): void {
    this.#numbers[at] = value
  }
}
