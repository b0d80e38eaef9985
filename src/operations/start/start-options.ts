import { dayStart } from '../../features/facts/fact-index.ts'
import type { Host } from '../../ports/host.ts'
import type { StartBudget } from '../../ports/settings.ts'
import type { StartOptions } from '../../ports/start.ts'
import { checkCount, checkId, checkOptions, checkText, invalid } from '../../text/json.ts'
import { BUDGETS } from '../settings.ts'

/** Options as a start needs them. */
export interface Checked {
  readonly project: string | undefined
  readonly query: string
  readonly isOwn: boolean
  readonly budgetTokens: Partial<StartBudget>
  readonly ifNoneMatch: string | undefined
  /** Start of the day, Unix milliseconds. */
  readonly day: number
  /** Unix milliseconds. */
  readonly now: number
}

const OPTIONS = ['project', 'query', 'sessions', 'budgetTokens', 'ifNoneMatch', 'now']

/**
 * Completes and checks the options. @param own the session's project. @throws ERR_INVALID_ARGUMENT
 */
export function checkStart(host: Pick<Host, 'now'>, options: StartOptions, own: string | undefined): Checked {
  checkOptions('start', 'options', options, OPTIONS)
  const { project = own, query = '', sessions = 'all', ifNoneMatch, now = host.now() } = options
  if (!Number.isFinite(now) || now < 0) throw invalid('start', 'now', 'must be Unix milliseconds')
  if (sessions !== 'all' && sessions !== 'own') throw invalid('start', 'sessions', `must be 'all' or 'own'`)
  return {
    project: project === undefined ? undefined : checkId('start', 'project', project),
    query: checkText('start', 'query', query),
    isOwn: sessions === 'own',
    budgetTokens: checkBudget(options.budgetTokens ?? {}),
    ifNoneMatch: ifNoneMatch === undefined ? undefined : checkText('start', 'ifNoneMatch', ifNoneMatch),
    day: dayStart(now),
    now,
  }
}

function checkBudget(given: unknown): Partial<StartBudget> {
  const budget = typeof given === 'number' ? { working_memory_budget_tokens: given } : given
  checkOptions('start', 'budgetTokens', budget, BUDGETS)
  const named = Object.entries(budget as object).filter(([, value]) => value !== undefined)
  for (const [name, value] of named) checkCount('start', `budgetTokens.${name}`, value)
  return Object.fromEntries(named)
}
