import { PlimsollError } from '../../ports/errors.ts'
import type { SqlStorageLike } from '../../stores/sql-schema.ts'
import { EdgeTables } from './edge-tables.ts'

/**
 * What may be used: `capacity` at once, and as much again, evenly, in every `perMs` milliseconds.
 */
export interface Budget {
  readonly capacity: number
  readonly perMs: number
  /** How far what is known only afterwards may go below nothing. Default: `capacity`. */
  readonly debt?: number
}

/** Budgets by their names. One that is undefined is unlimited, and costs nothing. */
export interface Budgets {
  readonly [name: string]: Budget | undefined
}

/** How much of what, by the names of the budgets. */
export interface Amounts {
  readonly [name: string]: number
}

/** A budget as its users see it. */
export interface Limit {
  readonly name: string
  readonly capacity: number
  /** In which as much comes back. */
  readonly seconds: number
  readonly left: number
  /** Seconds until all of it is there again. */
  readonly full: number
}

/** What is left of a budget, as of a time. */
interface Bucket {
  readonly left: number
  readonly at: number
}

interface Buckets {
  [name: string]: Bucket
}

/**
 * All buckets of an object are one row, so that whatever is taken together costs one row written.
 */
const SCHEMA = [
  'CREATE TABLE IF NOT EXISTS plimsoll_edge_bucket (id INTEGER PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL)',
]
/** Share of a capacity by which sums of fractions may be wrong. */
const ROUNDING = 1e-9

/**
 * Exact budgets as token buckets in the SQLite of one Durable Object, which is the home of all that
 * they limit.
 *
 * Everything is synchronous and in one row: what is taken is durable together with what its caller
 * writes before the next `await`, and undone with it. A take is one statement, which writes one row
 * and names the state that it changes: another instance over the same storage, or a transaction
 * that was undone, cannot make it wrong, only make it read the row again. Take before a transaction
 * rather than in it, so that a refusal that undoes one does not undo what was noted of the clock.
 *
 * The clock may jump. Back: what came back since the last take is lost, and it goes on from there.
 * Ahead: the buckets fill, to their capacity at most.
 */
export class TokenBuckets {
  readonly #tables: EdgeTables
  readonly #budgets: Budgets
  readonly #isUnlimited: boolean
  readonly #now: () => number
  /** The row as it was seen last; undefined: none was seen. */
  #state: string | undefined

  /**
   * @param now Unix milliseconds. @throws ERR_INVALID_ARGUMENT: a capacity or time that is not
   * above 0, or a debt below it
   */
  constructor(storage: SqlStorageLike, budgets: Budgets, now: () => number) {
    for (const [name, budget] of Object.entries(budgets)) checkBudget(name, budget)
    this.#tables = new EdgeTables(storage, SCHEMA)
    this.#budgets = budgets
    this.#isUnlimited = Object.values(budgets).every((budget) => budget === undefined)
    this.#now = now
  }

  /** As {@link takeAll}, of one budget. */
  take(name: string, amount: number): void {
    this.takeAll({ [name]: amount })
  }

  /**
   * Takes from several budgets, all or nothing. Amounts of 0 and of unlimited budgets cost nothing,
   * not even a row.
   *
   * @throws ERR_RATE_LIMIT: one of them is used up; `retryAfter` says when all of it can be taken,
   * unless others come first, `limit` the capacity of the one that takes longest
   * @throws ERR_LIMIT: an amount is above its capacity (`limit`), so that waiting would not help
   * @throws ERR_INVALID_ARGUMENT
   */
  takeAll(amounts: Amounts): void {
    if (this.#isUnlimited) return
    const asked = Object.entries(amounts).flatMap(([name, amount]) => {
      if (!(amount >= 0)) throw invalid(name, 'an amount must be a number, 0 or more')
      const budget = this.#budgets[name]
      if (!budget || amount === 0) return []
      const { capacity } = budget
      if (amount > capacity)
        throw new PlimsollError(
          'ERR_LIMIT',
          `budget: ${name} cannot give ${amount} at once, its capacity is ${capacity}`,
          {
            limit: capacity,
          },
        )
      return [{ name, amount, budget }]
    })
    if (asked.length === 0) return
    this.#change((buckets) => {
      let refused: { readonly name: string; readonly capacity: number; readonly waitMs: number } | undefined
      for (const { name, amount, budget } of asked) {
        const { left, at } = buckets[name] as Bucket
        buckets[name] = { left: Math.max(0, left - amount), at }
        const { capacity, perMs } = budget
        const missing = amount - left
        const waitMs = (missing * perMs) / capacity
        if (missing > capacity * ROUNDING && !(refused && refused.waitMs >= waitMs))
          refused = { name, capacity, waitMs }
      }
      if (!refused) return undefined
      const { name, capacity, waitMs } = refused
      const retryAfter = Math.max(1, Math.ceil(waitMs / 1000))
      return new PlimsollError('ERR_RATE_LIMIT', `budget: ${name} is used up; try again in ${retryAfter} s`, {
        retryAfter,
        limit: capacity,
        budget: name,
      })
    })
  }

  /**
   * Corrects what was taken for an estimate once the actual amount is known: `actual - estimated`.
   * A budget may go into debt by it, down to its bound, and never above its capacity. It never
   * refuses.
   *
   * @throws ERR_INVALID_ARGUMENT
   */
  settle(name: string, difference: number): void {
    if (!Number.isFinite(difference)) throw invalid(name, 'a difference must be a number')
    const budget = this.#budgets[name]
    if (!budget || difference === 0) return
    this.#change((buckets) => {
      const { left, at } = buckets[name] as Bucket
      buckets[name] = { left: left - difference, at }
      return undefined
    })
  }

  /**
   * How much is left of the budgets that amounts were taken of, by what was read or written last:
   * costs no row.
   */
  limits(amounts: Amounts): readonly Limit[] {
    const stored = this.#state === undefined ? {} : (JSON.parse(this.#state) as Buckets)
    return Object.entries(this.#budgets).flatMap(([name, budget]) => {
      if (!budget || !amounts[name]) return []
      const { capacity, perMs } = budget
      const left = Math.max(0, Math.floor(bucketOf(budget, stored[name], this.#now()).left))
      const fullMs = ((capacity - left) * perMs) / capacity
      return [{ name, capacity, seconds: perMs / 1000, left, full: Math.ceil(fullMs / 1000) }]
    })
  }

  /**
   * What can be taken of a budget now, below 0 where it is in debt; `Infinity` where it is
   * unlimited.
   */
  left(name: string): number {
    const budget = this.#budgets[name]
    return budget ? bucketOf(budget, this.#read()[name], this.#now()).left : Number.POSITIVE_INFINITY
  }

  /**
   * Changes the buckets as they are now: as they were seen last, and if that is not what is stored,
   * as they are stored.
   *
   * @param change gives an error where it refuses
   */
  #change(change: (buckets: Buckets) => PlimsollError | undefined): void {
    for (let isFresh = this.#state === undefined; ; isFresh = true) {
      const stored = isFresh ? this.#read() : (JSON.parse(this.#state as string) as Buckets)
      const now = this.#now()
      const buckets: Buckets = {}
      // Of budgets that are no more, nothing is kept.
      for (const [name, budget] of Object.entries(this.#budgets))
        if (budget) buckets[name] = bucketOf(budget, stored[name], now)
      const changed = { ...buckets }
      const refused = change(changed)
      if (!refused && this.#store(changed)) return
      if (!refused || !isFresh) continue
      // The clock went back: nothing would be gained until it has caught up, unless it is said that
      // time goes on from here.
      if (Object.values(stored).some(({ at }) => at > now)) this.#store(buckets)
      throw refused
    }
  }

  #read(): Buckets {
    const [row] = this.#tables.run('SELECT state FROM plimsoll_edge_bucket WHERE id = 1')
    this.#state = row?.state as string | undefined
    return this.#state === undefined ? {} : (JSON.parse(this.#state) as Buckets)
  }

  /**
   * Stores a state in place of the one that is remembered. Returns false where that is not what is
   * stored.
   */
  #store(buckets: Buckets): boolean {
    const state = JSON.stringify(buckets)
    const written =
      this.#state === undefined
        ? this.#tables.insert(
            'INSERT INTO plimsoll_edge_bucket VALUES (1, ?) ON CONFLICT DO NOTHING RETURNING id',
            state,
          )
        : this.#tables.run(
            'UPDATE plimsoll_edge_bucket SET state = ? WHERE id = 1 AND state = ? RETURNING id',
            state,
            this.#state,
          )
    if (written.length === 0) return false
    this.#state = state
    return true
  }
}

/** A bucket as it is now, within its bounds; a full one where there is none. */
function bucketOf(
  { capacity, perMs, debt = capacity }: Budget,
  stored: Bucket | undefined,
  now: number,
): Bucket {
  if (!stored) return { left: capacity, at: now }
  const gained = (Math.max(0, now - stored.at) * capacity) / perMs
  return { left: Math.min(capacity, Math.max(-debt, stored.left) + gained), at: now }
}

function checkBudget(name: string, budget: Budget | undefined): void {
  if (!budget) return
  const { capacity, perMs, debt = 0 } = budget
  const isSound = capacity > 0 && perMs > 0 && debt >= 0 && Number.isFinite(capacity + perMs + debt)
  if (!isSound) throw invalid(name, 'needs a capacity and a time above 0, and a debt of 0 or more')
}

function invalid(argument: string, reason: string): PlimsollError {
  return new PlimsollError('ERR_INVALID_ARGUMENT', `budget: ${argument}: ${reason}`, { argument })
}
