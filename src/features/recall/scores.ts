/** Numbers that a place has. */
const WIDTH = 3

/**
 * What the messages of an index score in a query, by place. Kept from query to query, so that none
 * takes memory that grows with the index.
 */
export class Scores {
  /** Places that have a score. */
  touched: number[] = []
  #numbers = new Float64Array(0)

  /** Forgets the query before. */
  begin(size: number): void {
    for (const place of this.touched)
      for (let which = 0; which < WIDTH; which++) this.#numbers[place * WIDTH + which] = 0
    this.touched = []
    if (this.#numbers.length < size * WIDTH) this.#numbers = new Float64Array(2 * size * WIDTH)
  }

  /**
   * @param which 0: in all reaches; 1: by the message itself; 2: the rarities of the terms that it
   * holds itself
   */
  of(place: number, which: number): number {
    return this.#numbers[place * WIDTH + which] as number
  }

  add(place: number, which: number, value: number): void {
    const before = this.of(place, which)
    if (which === 0 && before === 0 && value > 0) this.touched.push(place)
    this.#numbers[place * WIDTH + which] = before + value
  }
}
