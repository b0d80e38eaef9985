import { checkOptions } from '../text/json.ts'
import { type BudgetOptions, budget } from './budget.ts'
import { type ContextFilterOptions, contextFilter } from './context-filter.ts'
import { type FactSheetOptions, factSheet } from './fact-sheet.ts'
import type { Middleware } from './middleware.ts'
import { type ObservabilityOptions, observability } from './observability.ts'
import { type ProgressOptions, progress } from './progress.ts'

export interface StandardMiddlewareOptions {
  readonly observability?: ObservabilityOptions
  readonly budget?: BudgetOptions
  readonly contextFilter?: ContextFilterOptions
  readonly factSheet?: FactSheetOptions
  readonly progress?: ProgressOptions
}

const OPTIONS = ['observability', 'budget', 'contextFilter', 'factSheet', 'progress']

/**
 * The five middlewares that most agents want: observability (order 5), budget (10), context filter
 * (15), fact sheet (20), progress (50). Those without options do nothing, but progress, which has
 * defaults. Further middleware may stand between them by its order.
 *
 * @throws ERR_INVALID_ARGUMENT
 * @example
 * ```ts
 * import { runAgent, standardMiddleware } from 'plimsoll'
 *
 * const middleware = standardMiddleware({ budget: { getTokensUsed: () => ledger.total, limit: 200_000 } })
 * const { reason, detail } = await runAgent({ input, model, tools, session, middleware })
 * ```
 */
export function standardMiddleware(options: StandardMiddlewareOptions = {}): readonly Middleware[] {
  checkOptions('standardMiddleware', 'options', options, OPTIONS)
  return [
    observability(options.observability),
    budget(options.budget),
    contextFilter(options.contextFilter),
    factSheet(options.factSheet),
    progress(options.progress),
  ]
}
