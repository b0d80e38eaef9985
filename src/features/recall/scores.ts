/** Numbers that a place has. */
const WIDTH = 8

/**
 * What the passages of an index score in a query, by place. Kept from query to query, so that none
 * takes memory that grows with the index.
 */
export class Scores {
  /** Places that have a number. */
  touched: number[] = []
  #numbers = new Float64Array(0)

  /** Forgets the query before. */
  begin(size: number): void {
    const numbers = this.#numbers
    // By fill it takes longer.
    for (const place of this.touched)
      for (let at = place * WIDTH, end = at + WIDTH; at < end; at++) numbers[at] = 0
    this.touched.length = 0
    if (this.#numbers.length < size * WIDTH) this.#numbers = new Float64Array(2 * size * WIDTH)
  }

  /**
   * @param which 0: in all reaches; 1: by the passage itself; 2: the rarities of the terms that it
   * holds itself; 3: in all; 4, of a message's first passage: the rarities of the terms that the
   * message holds; 5: what it scores as a whole; 6: the most that a passage of it scores in all
   */
  of(place: number, which: number): number {
    return this.#numbers[place * WIDTH + which] as number
  }

  add(place: number, which: number, value: number): void {
    this.set(place, which, this.of(place, which) + value)
  }

  set(place: number, which: number, value: number): void {
    const at = place * WIDTH
    if (this.#numbers[at + TOUCHED] === 0) {
      this.#numbers[at + TOUCHED] = 1
      this.touched.push(place)
    }
    this.#numbers[at + which] = value
  }
}

const TOUCHED = WIDTH - 1
