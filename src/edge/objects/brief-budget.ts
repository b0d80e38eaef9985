import { PlimsollError } from '../../ports/errors.ts'

const MINUTE_MS = 60_000

/**
 * A budget that is kept in memory alone, and full again once its object has slept: for what is so
 * cheap that a row for each of it would cost more than the thing itself.
 */
export class BriefBudget {
  readonly #name: string
  readonly #perMinute: number
  readonly #now: () => number
  #left: number
  #at: number

  /** @param now Unix milliseconds */
  constructor(name: string, perMinute: number, now: () => number) {
    this.#name = name
    this.#perMinute = perMinute
    this.#now = now
    this.#left = perMinute
    this.#at = now()
  }

  /** @throws ERR_RATE_LIMIT (`retryAfter`, `limit`) */
  take(given = 1): void {
    // What is above the budget needs all of it.
    const amount = Math.min(given, this.#perMinute)
    const now = this.#now()
    const gained = (Math.max(0, now - this.#at) * this.#perMinute) / MINUTE_MS
    this.#left = Math.min(this.#perMinute, this.#left + gained)
    this.#at = now
    if (this.#left >= amount) {
      this.#left -= amount
      return
    }
    const retryAfter = Math.max(1, Math.ceil(((amount - this.#left) * MINUTE_MS) / this.#perMinute / 1000))
    throw new PlimsollError(
      'ERR_RATE_LIMIT',
      `budget: ${this.#name} is used up; try again in ${retryAfter} s`,
      { retryAfter, limit: this.#perMinute },
    )
  }
}
