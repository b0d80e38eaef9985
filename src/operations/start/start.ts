import { factItem } from '../../features/facts/fact-item.ts'
import type { FactsShape } from '../../features/facts/feature.ts'
import { skillItem } from '../../features/skills/skill-item.ts'
import { FactLists, Findable, type ListedFacts, SkillLists } from '../../features/slots.ts'
import type { KernelSession } from '../../kernel/feature.ts'
import type { Session } from '../../ports/memory.ts'
import type { Recalled } from '../../ports/recall.ts'
import type { BudgetTokens } from '../../ports/settings.ts'
import type { RecalledItem, SessionStart, StartOptions } from '../../ports/start.ts'
import { kernelOf, need } from '../kernel-of.ts'
import { settingsIn } from '../settings.ts'
import { recalledItem } from './start-items.ts'
import { type Checked, checkStart } from './start-options.ts'
import { fill, type Material } from './start-payload.ts'
import { MOST_NAMED, rowsFor, sectionOf, sumOf } from './start-sections.ts'

/** How many messages and facts are asked for by what they say. */
const MOST_RECALLED = 64
/** Facts among which a query looks. */
const MOST_SEARCHED = 512
/** Fewest tokens that a pinned fact takes as JSON, and a skill. */
const LEAST_FACT = 16
const LEAST_SKILL = 8
const NOTHING = { count: 0, weight: 0 }

/**
 * What a model should know when a session starts: pinned facts, skills, what a query recalls, and
 * what waits for a look. Bounded: as many rows are read whatever the number of facts, and it never
 * takes more than its budget by the memory's counter. Deterministic: the same memory, query and day
 * give the same bytes, on every store. Each section fills in strict order and stops at the first
 * item that does not fit; a larger total never removes an item. Without `skills()` in use none are
 * listed, without `recall()` nothing is recalled.
 *
 * @throws ERR_BUDGET_TOO_SMALL where not even a start without items fits; `limit` is the least
 * total
 * @throws ERR_INVALID_ARGUMENT, ERR_NOT_CONFIGURED (no `facts()` in use)
 */
export function startSession(
  session: Session<{ facts: FactsShape }>,
  options?: Omit<StartOptions, 'ifNoneMatch'>,
): Promise<SessionStart>
/**
 * As above. @returns undefined where the start's etag is `ifNoneMatch`: nothing has changed. Over
 * HTTP that is status 304.
 */
export function startSession(
  session: Session<{ facts: FactsShape }>,
  options: StartOptions,
): Promise<SessionStart | undefined>
export async function startSession(
  session: Session<{ facts: FactsShape }>,
  options: StartOptions = {},
): Promise<SessionStart | undefined> {
  const kernel = kernelOf('startSession', session)
  return kernel.run(async () => {
    const { host, policy } = kernel.memory
    const checked = checkStart(host, options, kernel.project)
    const facts = need(kernel, 'startSession', FactLists, 'facts')
    const settings = await settingsIn(kernel.user.store, host)
    const budget = { ...settings.budget_tokens, ...checked.budgetTokens }
    const { store, secret } = kernel
    await secret.refresh(store, true)
    const start = fill(await read(kernel, facts, budget, checked), budget, policy.counter, secret.key)
    return start.etag === checked.ifNoneMatch ? undefined : start
  })
}

async function read(
  session: KernelSession,
  facts: ListedFacts,
  budget: BudgetTokens,
  { query, project, day, now }: Checked,
): Promise<Material> {
  const { counter } = session.policy
  const skills = session.one(SkillLists)
  const finder = session.one(Findable)
  const pinRows = rowsFor(Math.min(budget.total, budget.pins), LEAST_FACT)
  const skillRows = rowsFor(Math.min(budget.total, budget.skills), LEAST_SKILL)
  // What is pinned shows anyway.
  const unpinned = () => facts.top('shown', project, MOST_SEARCHED, now)
  const [counts, pinned, due, low, listed, counted, recalled] = await Promise.all([
    facts.sums(project, day),
    facts.top('pinned', project, pinRows, day),
    facts.top('due', project, MOST_NAMED, day),
    facts.top('low', project, MOST_NAMED, day),
    skills?.list({ first: skillRows }) ?? [],
    skills?.sum() ?? NOTHING,
    query === '' ? [] : (finder?.find(query, { first: MOST_RECALLED }, unpinned) ?? []),
  ])
  const found = recalled.map(itemOf).map(recalledItem)
  return {
    pins: sectionOf(counter, pinned.map(factItem), pinRows, counts.pinned),
    skills: sectionOf(counter, listed.map(skillItem), skillRows, counted),
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

function itemOf({ id, role, kind, text, trust }: Recalled): RecalledItem {
  return kind === undefined ? { id, role: role ?? 'user', text, trust } : { id, kind, text, trust }
}
