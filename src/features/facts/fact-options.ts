import { checkCount, checkOptions, invalid } from '../../kernel/text/json.ts'
import type { FactCaps } from './fact-plan.ts'
import type { ReviewSchedule } from './review.ts'

/** How facts are kept. */
export interface FactOptions {
  readonly caps?: FactCaps
  /** When a fact is due again once it was reviewed. Default: plain doubling. */
  readonly schedule?: ReviewSchedule
}

/** Checks how an app wants facts to be kept. A cap may be `Infinity`. @throws ERR_INVALID_ARGUMENT */
export function checkFactOptions(operation: string, options: FactOptions): void {
  checkOptions(operation, 'options', options, ['caps', 'schedule'])
  const { caps = {}, schedule } = options
  if (schedule !== undefined && typeof schedule !== 'function')
    throw invalid(operation, 'schedule', 'must be a function')
  checkOptions(operation, 'caps', caps, ['facts', 'perHour'])
  for (const name of ['facts', 'perHour'] as const) {
    const cap = caps[name]
    if (cap !== undefined && cap !== Infinity) checkCount(operation, `caps.${name}`, cap)
  }
}
