import type { FactCaps } from './fact-plan.ts'
import type { ReviewSchedule } from './review.ts'

/** How facts are kept. */
export interface FactOptions {
  readonly caps?: FactCaps
  /** When a fact is due again once it was reviewed. Default: plain doubling. */
  readonly schedule?: ReviewSchedule
}
