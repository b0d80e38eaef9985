/** Chance that a seed repeats: mulberry32. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** 0 to 1, exclusive. */
  next(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** Whole numbers from `from` to `to`, both inclusive. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }

  /** Whole numbers of any size between two: as many small ones as large ones. */
  sized(from: number, to: number): number {
    return Math.round(from * (to / from) ** this.next())
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.next() * items.length)] as Item
  }

  /** One of the last items, the last one more often than the one before it. */
  late<Item>(items: readonly Item[], span = 8): Item | undefined {
    const back = Math.floor(this.next() ** 2 * Math.min(span, items.length))
    return items[items.length - 1 - back]
  }

  weighted<Item>(items: readonly (readonly [weight: number, item: Item])[]): Item {
    const total = items.reduce((sum, [weight]) => sum + weight, 0)
    let left = this.next() * total
    for (const [weight, item] of items) {
      left -= weight
      if (left < 0) return item
    }
    return (items.at(-1) as readonly [number, Item])[1]
  }

  /** The value or nothing, as an option to spread. */
  maybe<Name extends string, Value>(
    share: number,
    name: Name,
    value: () => Value,
  ): { [name in Name]?: Value } {
    return (this.chance(share) ? { [name]: value() } : {}) as { [name in Name]?: Value }
  }
}
