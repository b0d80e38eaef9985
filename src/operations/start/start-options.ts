import { dayStart } from '../../features/facts/fact-index.ts'
import { checkCount, checkId, checkOptions, checkText, invalid } from '../../kernel/text/json.ts'
import type { Host } from '../../ports/host.ts'
import type { BudgetTokens } from '../../ports/settings.ts'
import type { StartOptions } from '../../ports/start.ts'

/** Options as a start needs them. */
export interface Checked {
  readonly project: string | undefined
  readonly query: string
  readonly budgetTokens: Partial<BudgetTokens>
  readonly ifNoneMatch: string | undefined
  /** Start of the day, Unix milliseconds. */
  readonly day: number
  /** Unix milliseconds. */
  readonly now: number
}

/**
 * Completes and checks the options. @param own the session's project. @throws ERR_INVALID_ARGUMENT
 */
export function checkStart(host: Pick<Host, 'now'>, options: StartOptions, own: string | undefined): Checked {
  const operation = 'startSession'
  checkOptions(operation, 'options', options, ['project', 'query', 'budgetTokens', 'ifNoneMatch', 'now'])
  const { project = own, query = '', budgetTokens = {}, ifNoneMatch, now = host.now() } = options
  if (!Number.isFinite(now) || now < 0) throw invalid(operation, 'now', 'must be Unix milliseconds')
  return {
    project: project === undefined ? undefined : checkId(operation, 'project', project),
    query: checkText(operation, 'query', query),
    budgetTokens: checkBudget(budgetTokens),
    ifNoneMatch: ifNoneMatch === undefined ? undefined : checkText(operation, 'ifNoneMatch', ifNoneMatch),
    day: dayStart(now),
    now,
  }
}

const BUDGETS = ['total', 'pins', 'skills', 'recall'] as const

function checkBudget(given: unknown): Partial<BudgetTokens> {
  const budget = typeof given === 'number' ? { total: given } : given
  checkOptions('startSession', 'budgetTokens', budget, BUDGETS)
  const checked = BUDGETS.flatMap((name) => {
    const value = (budget as Record<string, unknown>)[name]
    return value === undefined ? [] : [[name, checkCount('startSession', `budgetTokens.${name}`, value)]]
  })
  if ((budget as { total?: number }).total === 0)
    throw invalid('startSession', 'budgetTokens.total', 'must be at least 1')
  return Object.fromEntries(checked)
}
