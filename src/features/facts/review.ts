import { checkSize, checkTime } from '../../kernel/log/check-message.ts'
import { defined } from '../../ports/defined.ts'
import type { Fact, FactKind, Rating } from '../../ports/fact.ts'
import type { Json } from '../../ports/message.ts'
import { checkJson } from '../../text/check-json.ts'
import { checkOneOf } from '../../text/check-value.ts'
import { checkObject, isPlainObject } from '../../text/json.ts'
import { DAY, MOST_STRENGTH } from './fact-index.ts'

export interface ReviewResult {
  /** Unix milliseconds. */
  readonly reviewAt: number
  /**
   * State that the schedule is given back at the next review, as {@link Fact.review}: at most 1 KiB
   * of JSON. Default: none.
   */
  readonly review?: Json
}

/** Contract: pure; says when a fact is due again. */
export type ReviewSchedule = (fact: Fact, rating: Rating, now: number) => ReviewResult

/** Days until a fact is due for the first time. */
const FIRST: { readonly [kind in FactKind]: number } = {
  blocker: 7,
  finding: 30,
  correction: 90,
  preference: 180,
  constraint: 180,
}
/** What each rating multiplies the last interval by. */
const FACTORS: { readonly [rating in Exclude<Rating, 'again'>]: number } = { hard: 1.2, good: 2, easy: 3 }
/** How much stronger a rating makes a fact; `again` takes all of it. */
const STRONGER: { readonly [rating in Exclude<Rating, 'again'>]: number } = { hard: 1, good: 2, easy: 3 }
/** Largest state of a schedule, in bytes of its JSON. */
const MAX_STATE_BYTES = 1_024
/** Longest interval, in days. */
const LONGEST = 365

/**
 * When a fact is due for the first time: after 7 days for a blocker, 30 a finding, 90 a correction,
 * 180 anything else.
 */
export function firstReview(kind: FactKind, createdAt: number): number {
  return createdAt + FIRST[kind] * DAY
}

/**
 * Plain doubling, the default: `again` is due in a day, else the last interval is multiplied by 1.2
 * (`hard`), 2 (`good`) or 3 (`easy`), up to 365 days. The interval, in days, is all its state.
 */
export const doubling: ReviewSchedule = ({ kind, review }, rating, now) => {
  const last = isPlainObject(review) && typeof review.interval === 'number' ? review.interval : FIRST[kind]
  const interval = rating === 'again' ? 1 : Math.min(LONGEST, last * FACTORS[rating])
  return { reviewAt: now + Math.round(interval * DAY), review: { interval } }
}

/**
 * A fact after a review.
 *
 * @throws ERR_INVALID_ARGUMENT (no such rating, or the schedule does not keep its contract),
 * ERR_ENTRY_TOO_LARGE
 */
export function reviewed(fact: Fact, rating: Rating, now: number, schedule: ReviewSchedule): Fact {
  checkOneOf('review', 'rating', rating, ['again', ...Object.keys(FACTORS)])
  const { review: _, strength = 0, ...rest } = fact
  const stronger = rating === 'again' ? 0 : Math.min(MOST_STRENGTH, strength + STRONGER[rating])
  const result = schedule(fact, rating, now)
  checkObject('review', 'schedule()', result)
  const { reviewAt, review } = result
  return defined({
    ...rest,
    strength: stronger > 0 ? stronger : undefined,
    reviewAt: checkTime('review', 'schedule().reviewAt', reviewAt),
    review: review === undefined ? review : checkReview('review', 'schedule().review', review),
  })
}

/** The state of a schedule. @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE */
export function checkReview(operation: string, argument: string, review: unknown): Json {
  const state = checkJson(operation, argument, review)
  checkSize(operation, argument, JSON.stringify(state), MAX_STATE_BYTES)
  return state
}
