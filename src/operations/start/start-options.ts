import type { Host } from '../../ports/host.ts'
import { dayStart } from '../../features/facts/fact-index.ts'
import { checkCount, checkId, checkText, invalid, isPlainObject } from '../../kernel/text/json.ts'
import type { BudgetTokens } from '../../ports/settings.ts'

/** Options as a start needs them. */
export interface Checked {
  readonly project: string | undefined
  readonly query: string
  readonly budgetTokens: Partial<BudgetTokens>
  readonly ifNoneMatch: string | undefined
  /** Start of the day, Unix milliseconds. */
  readonly day: number
}

/** Completes and checks the options. @throws ERR_INVALID_ARGUMENT */
export function checkOptions(host: Pick<Host, 'now'>, options: StartOptions): Checked {
  const { project, query = '', budgetTokens = {}, ifNoneMatch, now = host.now() } = options
  if (!Number.isFinite(now) || now < 0) throw invalid('start', 'now', 'must be Unix milliseconds')
  return {
    project: project === undefined ? undefined : checkId('start', 'project', project),
    query: checkText('start', 'query', query),
    budgetTokens: checkBudget(budgetTokens),
    ifNoneMatch: ifNoneMatch === undefined ? undefined : checkText('start', 'ifNoneMatch', ifNoneMatch),
    day: dayStart(now),
  }
}

const BUDGETS = ['total', 'pins', 'skills', 'recall'] as const

function checkBudget(given: unknown): Partial<BudgetTokens> {
  const budget = typeof given === 'number' ? { total: given } : given
  if (!isPlainObject(budget)) throw invalid('start', 'budgetTokens', 'must be a number or an object')
  const checked = BUDGETS.flatMap((name) => {
    const value = budget[name]
    return value === undefined ? [] : [[name, checkCount('start', `budgetTokens.${name}`, value)]]
  })
  if (budget.total === 0) throw invalid('start', 'budgetTokens.total', 'must be at least 1')
  return Object.fromEntries(checked)
}
