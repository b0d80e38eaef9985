import { checkCount, invalid, isPlainObject } from '../../kernel/text/json.ts'
import type { FactCaps } from './fact-plan.ts'
import type { ReviewSchedule } from './review.ts'

/** How facts are kept. */
export interface FactOptions {
  readonly caps?: FactCaps
  /** When a fact is due again once it was reviewed. Default: plain doubling. */
  readonly schedule?: ReviewSchedule
}

/** Checks how an app wants facts to be kept. A cap may be `Infinity`. @throws ERR_INVALID_ARGUMENT */
export function checkFactOptions(operation: string, facts: FactOptions): void {
  if (!isPlainObject(facts)) throw invalid(operation, 'facts', 'must be an object')
  const { caps = {}, schedule } = facts as FactOptions
  if (schedule !== undefined && typeof schedule !== 'function')
    throw invalid(operation, 'facts.schedule', 'must be a function')
  if (!isPlainObject(caps)) throw invalid(operation, 'facts.caps', 'must be an object')
  for (const name of ['facts', 'perHour'] as const) {
    const cap = caps[name]
    if (cap !== undefined && cap !== Infinity) checkCount(operation, `facts.caps.${name}`, cap)
  }
}
