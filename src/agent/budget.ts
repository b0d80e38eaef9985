import { checkOptions, invalid } from '../text/json.ts'
import type { Middleware, PastStep, Proposal, RunUsage } from './middleware.ts'
import { addUsage, NO_USAGE } from './usage.ts'

export interface BudgetOptions {
  /**
   * Contract: tokens that count against the limit so far, 0 or more. Where it fails the run stops.
   * Default: those of the run's own calls, as they were reported, or where nothing was, as they
   * were predicted.
   */
  readonly getTokensUsed?: (usage: RunUsage) => number | Promise<number>
  /** Tokens, above 0. */
  readonly limit: number
}

/** Shares of the limit at which the model gets a warning, the highest first. */
const NUDGES = [0.9, 0.75] as const

/**
 * Keeps a run within an app's own budget of tokens: tells the model at 75 % and at 90 %, once for
 * each time that the share is crossed, and stops the run at 100 % with the reason `budget`. Order
 * 10; a guard. Without options it does nothing.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function budget(options?: BudgetOptions): Middleware {
  if (options !== undefined) checkOptions('budget', 'options', options, ['getTokensUsed', 'limit'])
  if (options && !(options.limit > 0)) throw invalid('budget', 'limit', 'must be above 0')
  return {
    name: 'budget',
    order: 10,
    kind: 'guard',
    start: ({ past = [] }) => {
      if (!options) return {}
      const { getTokensUsed = tokensOf, limit } = options
      /** The share that was last told. */
      let told = 0
      /** What the steps before this run's own had found used. */
      let before = usagesBefore(past)
      const ask = async (usage: RunUsage): Promise<Proposal | undefined> => {
        const used = await getTokensUsed(usage)
        if (!(used >= 0)) throw invalid('budget', 'getTokensUsed', 'must give a number, 0 or more')
        const share = used / limit
        if (share >= 1) return { stop: { reason: 'budget' } }
        const crossed = NUDGES.find((nudge) => share >= nudge) ?? 0
        const rose = crossed > told
        told = crossed
        if (!rose) return undefined
        const percent = Math.floor(share * 100)
        return {
          nudge: `${percent} % of the token budget is used (${used} of ${limit}). Come to an end soon.`,
        }
      }
      return {
        beforeModelCall: async ({ usage }) => {
          const steps = before
          before = []
          for (const one of steps) await ask(one)
          return ask(usage)
        },
      }
    },
  }
}

/** What had been used when each of these steps began. */
function usagesBefore(past: readonly PastStep[]): readonly RunUsage[] {
  let usage = NO_USAGE
  return past.map((step) => {
    const before = usage
    usage = addUsage(usage, step.usage)
    return before
  })
}

/** Calls that were not reported are in what was predicted, which has no output. */
function tokensOf({ predicted, reported }: RunUsage): number {
  return Math.max(predicted.input, reported.cached + reported.uncached + reported.output)
}
