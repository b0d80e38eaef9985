import type { Counter } from '../../ports/counter.ts'
import type { Host } from '../../ports/host.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { type FactScope, sumFacts, topOf } from '../../features/facts/fact-scopes.ts'
import type { BudgetTokens, Settings } from '../../ports/settings.ts'
import { SKILLS, type Skills } from '../../features/skills/skills.ts'
import { pinnedItem, recalledItem, skillItem } from './start-items.ts'
import { type RecalledItem } from '../../ports/start.ts'
import { type Checked, checkOptions } from './start-options.ts'
import { type StartOptions } from '../../ports/start.ts'
import { fill, type Material } from './start-payload.ts'
import { type SessionStart } from '../../ports/start.ts'
import { MOST_NAMED, rowsFor, sectionOf, sumOf } from './start-sections.ts'

/** How many messages and facts are asked for by what they say. */
const MOST_RECALLED = 64
/** Fewest tokens that a pinned fact takes as JSON, and a skill. */
const LEAST_FACT = 16
const LEAST_SKILL = 8

/** What a session's start is made from. */
export interface StartParts {
  /** The user's own facts and the session's, in this order. */
  readonly facts: readonly FactScope[]
  readonly skills: Pick<Skills, 'list'>
  /** Contract: as `ScopeStore.sums` of the scope that holds the skills. */
  readonly sums: ScopeStore['sums']
  /** Contract: as `readSettings`. */
  readonly settings: () => Promise<Pick<Settings, 'budget_tokens'>>
  readonly counter: Counter
  /** Contract: at most `first` messages and facts, best first. Optional: without it nothing is recalled. */
  readonly recall?: (query: string, first: number) => Promise<readonly RecalledItem[]>
  readonly host: Pick<Host, 'now'>
}

/**
 * What a session starts with: pinned facts, skills, what a query recalls, and what waits for a look. Bounded: as many rows are read
 * whatever the number of facts, and it never takes more than its budget by the memory's counter. Deterministic: the same memory,
 * query and day give the same bytes, on every store. Each section fills in strict order and stops at the first item that does not
 * fit; a larger total never removes an item.
 *
 * @throws ERR_BUDGET_TOO_SMALL where not even a start without items fits; `limit` is the least total
 * @throws ERR_INVALID_ARGUMENT
 */
export async function startSession(
  parts: StartParts,
  options?: Omit<StartOptions, 'ifNoneMatch'>,
): Promise<SessionStart>
/** As above. @returns undefined where the start's etag is `ifNoneMatch`: nothing has changed. Over HTTP that is status 304. */
export async function startSession(
  parts: StartParts,
  options: StartOptions,
): Promise<SessionStart | undefined>
export async function startSession(
  parts: StartParts,
  options: StartOptions = {},
): Promise<SessionStart | undefined> {
  const { query, project, ifNoneMatch, day, budgetTokens } = checkOptions(parts.host, options)
  const budget = { ...(await parts.settings()).budget_tokens, ...budgetTokens }
  const start = fill(await read(parts, budget, { query, project, day }), budget, parts.counter)
  return start.etag === ifNoneMatch ? undefined : start
}

async function read(
  { facts, skills, sums, counter, recall }: StartParts,
  budget: BudgetTokens,
  { query, project, day }: Pick<Checked, 'query' | 'project' | 'day'>,
): Promise<Material> {
  const pinRows = rowsFor(Math.min(budget.total, budget.pins), LEAST_FACT)
  const skillRows = rowsFor(Math.min(budget.total, budget.skills), LEAST_SKILL)
  const [counts, pinned, due, low, listed, counted, recalled] = await Promise.all([
    sumFacts(facts, project, day),
    topOf(facts, 'pinned', project, pinRows, day),
    topOf(facts, 'due', project, MOST_NAMED, day),
    topOf(facts, 'low', project, MOST_NAMED, day),
    skills.list({ first: skillRows }),
    sums([SKILLS]),
    query === '' ? [] : recall?.(query, MOST_RECALLED),
  ])
  const found = (recalled ?? []).slice(0, MOST_RECALLED).map(recalledItem)
  return {
    pins: sectionOf(counter, pinned.map(pinnedItem), pinRows, counts.pinned),
    skills: sectionOf(counter, listed.map(skillItem), skillRows, counted.get(SKILLS) ?? NOTHING),
    recall: sectionOf(counter, found, found.length + 1, sumOf(counter, found)),
    rest: {
      memory_count: counts.live.count,
      due_for_review: {
        count: counts.due.count,
        first: due.map(({ id, title, reviewAt }) => ({ id, title, review_at: reviewAt })),
      },
      low_confidence_alerts: {
        count: counts.low.count,
        first: low.map(({ id, title, confidence }) => ({ id, title, confidence })),
      },
    },
  }
}

const NOTHING = { count: 0, weight: 0 }
