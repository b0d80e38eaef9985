import type { HomeClock } from '../ports/lease.ts'

/** How far two clocks are taken to drift apart: 100 parts in a million. */
const DRIFT = 1 / 10_000

/**
 * The home's time, as its answers tell it. An answer was written between the moment that its
 * request left and the moment that it came, so each narrows the difference of the two clocks down;
 * where it contradicts the ones before, one of the clocks was set, and it alone counts. Before the
 * first one the home's time is taken for the clock's own.
 */
export class HomeTime implements HomeClock {
  readonly #now: () => number
  #least = 0
  #most = 0
  #heardAt: number | undefined

  /** @param now Unix milliseconds, by the clock of this side */
  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * @param home the home's time, as the answer says it
   * @param sentAt when the request left, by this side's clock
   */
  heard(home: number, sentAt: number): void {
    const now = this.#now()
    const [least, most] = [home - now, home - Math.min(sentAt, now)]
    const drift = this.#driftAt(now)
    const isFirst = this.#heardAt === undefined
    const isOther = least > this.#most + drift || most < this.#least - drift
    this.#least = isFirst || isOther ? least : Math.max(least, this.#least - drift)
    this.#most = isFirst || isOther ? most : Math.min(most, this.#most + drift)
    this.#heardAt = now
  }

  earliest(): number {
    const now = this.#now()
    return now + this.#least - this.#driftAt(now)
  }

  latest(): number {
    const now = this.#now()
    return now + this.#most + this.#driftAt(now)
  }

  #driftAt(now: number): number {
    return Math.max(0, now - (this.#heardAt ?? now)) * DRIFT
  }
}
