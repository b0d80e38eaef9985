import { titleOf } from '../../features/facts/check-fact.ts'
import { countedBy, KEPT } from '../../features/facts/fact-index.ts'
import { factTokens, pinnedItem } from '../../features/facts/fact-item.ts'
import { countOn } from '../../features/facts/fact-scopes.ts'
import type { FactsShape } from '../../features/facts/feature.ts'
import { type KeptFact, keptFacts } from '../../features/facts/kept.ts'
import { LIVE } from '../../features/facts/live.ts'
import { itemTokens } from '../../features/item-tokens.ts'
import { FactLists, Findable, type ListedFacts, SkillLists } from '../../features/slots.ts'
import type { KernelSession } from '../../kernel/feature.ts'
import type { Counter } from '../../ports/counter.ts'
import type { Fact } from '../../ports/fact.ts'
import type { Session } from '../../ports/memory.ts'
import type { Recalled } from '../../ports/recall.ts'
import type { StartBudget } from '../../ports/settings.ts'
import type { RecalledItem, SessionStart, StartOptions } from '../../ports/start.ts'
import { headOf } from '../../text/text.ts'
import { kernelOf, need } from '../kernel-of.ts'
import { settingsIn } from '../settings.ts'
import { type Checked, checkStart } from './start-options.ts'
import { fill, type Material } from './start-payload.ts'
import { MOST_NAMED, rowsFor, type Section, type Step } from './start-sections.ts'

/** How many messages and facts are recalled. */
const MOST_RECALLED = 64
/** Facts of each kind of place among which a query looks. */
const MOST_SEARCHED = 512
/** UTF-16 units of a recalled text that show. */
const LONGEST_TEXT = 1_000
/** Fewest tokens that a pinned fact takes as JSON, and a skill. */
const LEAST_FACT = 16
const LEAST_SKILL = 8
const NOTHING = { count: 0, weight: 0 }

/**
 * What a model should know when a session starts: pinned facts, skills, what is recalled, and what
 * waits for a look. What is recalled is what a query finds, or the facts of the project; earlier
 * sessions' findings, blockers and corrections are among it, as far as nothing but the user and the
 * assistant had said them. Bounded: as many rows are read whatever the number of facts, no other
 * session is opened, and the JSON never takes more than its budget by the memory's counter.
 * Deterministic: the same memory, query and day give the same bytes, on every store. Nothing is
 * written but what an earlier call of the session left undone. Pins come first, then skills, then
 * what is recalled, each up to its own budget and to the first item that does not fit; a larger
 * budget never removes an item. Without `skills()` in use none are listed, without `recall()` no
 * query finds anything.
 *
 * @throws ERR_BUDGET_TOO_SMALL where not even a start without items fits; `limit` is the least
 * budget
 * @throws ERR_INVALID_ARGUMENT, ERR_NOT_CONFIGURED (no `facts()` in use)
 */
export function start(
  session: Session<{ facts: FactsShape }>,
  options?: Omit<StartOptions, 'ifNoneMatch'>,
): Promise<SessionStart>
/**
 * As above. @returns undefined where the start's etag is `ifNoneMatch`: nothing has changed. Over
 * HTTP that is status 304.
 */
export function start(
  session: Session<{ facts: FactsShape }>,
  options: StartOptions,
): Promise<SessionStart | undefined>
export async function start(
  session: Session<{ facts: FactsShape }>,
  options: StartOptions = {},
): Promise<SessionStart | undefined> {
  const kernel = kernelOf('start', session)
  return kernel.run(async () => {
    const { host, policy } = kernel.memory
    const checked = checkStart(host, options, kernel.project)
    const facts = need(kernel, 'start', FactLists, 'facts')
    const budget = { ...(await settingsIn(kernel.user.store)), ...checked.budgetTokens }
    const { store, secret } = kernel
    await secret.refresh(store, true)
    const made = fill(await read(kernel, facts, budget, checked), budget, policy.counter, secret.key)
    return made.etag === checked.ifNoneMatch ? undefined : made
  })
}

async function read(
  session: KernelSession,
  facts: ListedFacts,
  budget: StartBudget,
  { query, project, isOwn, day, now }: Checked,
): Promise<Material> {
  const { counter } = session.policy
  const home = session.user.store
  const skills = session.one(SkillLists)
  const finder = session.one(Findable)
  const total = budget.working_memory_budget_tokens
  const pinRows = rowsFor(Math.min(total, budget.pin_budget_tokens), LEAST_FACT)
  const skillRows = rowsFor(Math.min(total, budget.skills_index_budget_tokens), LEAST_SKILL)
  await facts.settle(!isOwn)
  // What is pinned shows anyway.
  const candidates = async (first: number): Promise<readonly Candidate[]> => {
    const [own, kept] = await Promise.all([
      facts.top('shown', project, first, now),
      isOwn ? [] : keptFacts(home, project, first, now),
    ])
    const others = kept.filter(({ session: other }) => other !== session.sessionId)
    return [...own, ...others]
  }
  const recalled = async (): Promise<readonly RecalledItem[]> => {
    if (query === '' || !finder) return inOrder(await candidates(MOST_RECALLED))
    const found = new Map<string, Candidate>()
    const given = async (): Promise<readonly Fact[]> => {
      for (const one of await candidates(MOST_SEARCHED)) found.set(one.key ?? one.fact.id, one)
      return [...found].map(([id, { fact }]) => ({ ...fact, id }))
    }
    const items = await finder.find(query, { first: MOST_RECALLED }, given)
    return items.map((item) => recalledItem(item, found.get(item.id)))
  }
  const [counts, others, pinned, due, low, listed, counted, items] = await Promise.all([
    facts.sums(project, day),
    isOwn ? undefined : Promise.all([countOn(home, LIVE, day), countOn(home, KEPT, day)]),
    facts.top('pinned', project, pinRows, day),
    facts.top('due', project, MOST_NAMED, day),
    facts.top('low', project, MOST_NAMED, day),
    skills?.list(skillRows) ?? [],
    skills?.sum() ?? NOTHING,
    recalled(),
  ])
  const tokensOf = ({ fact, index }: (typeof pinned)[number]): number =>
    index.find(({ group }) => group === countedBy(counter.id))?.weight ?? factTokens(counter, fact)
  return {
    pins: {
      steps: pinned.slice(0, asRead(pinned, pinRows)).map((one, at) => {
        const tokens = tokensOf(one)
        return { at, item: pinnedItem(one.fact, tokens), tokens }
      }),
      ids: pinned.map(({ fact }) => fact.id),
      total: counts.pinned,
    },
    skills: {
      steps: listed
        .slice(0, asRead(listed, skillRows))
        .map(({ item, tokens = itemTokens(counter, item) }, at) => ({ at, item, tokens })),
      ids: listed.map(({ item }) => item.name),
      total: counted,
    },
    recall: recallSection(items, counter),
    low: counts.low.count,
    rest: {
      memory_count: others ? others[0] + others[1] : counts.live.count,
      due_for_review: counts.due.count,
      low_confidence_alerts: low.map(({ fact: { id, title, confidence } }) => ({ id, title, confidence })),
      due: due.map(({ fact: { id, title, reviewAt } }) => ({ id, title, review_at: reviewAt })),
      ...(!finder && { recall: 'not in use' }),
    },
  }
}

/** A fact that may be recalled; one of another session with its place among those of all. */
type Candidate = { readonly fact: Fact } & Partial<Pick<KeptFact, 'key' | 'session'>>

/** Where so many came as were asked for there may be more, and the last ones are but named. */
function asRead(read: readonly unknown[], asked: number): number {
  return read.length < asked ? read.length : Math.max(0, asked - MOST_NAMED)
}

/** By priority, then the newest first; what two of them say in the same words, once. */
function inOrder(candidates: readonly Candidate[]): readonly RecalledItem[] {
  const sorted = [...candidates].sort(
    ({ fact: one }, { fact: other }) =>
      other.priority - one.priority ||
      other.createdAt - one.createdAt ||
      (one.id < other.id ? -1 : Number(one.id > other.id)),
  )
  const said = new Map<string, Candidate>()
  for (const one of sorted) if (!said.has(one.fact.text)) said.set(one.fact.text, one)
  return [...said.values()].slice(0, MOST_RECALLED).map((one) => {
    const score = (one.fact.priority + 1) / 10
    return recalledItem({ ...one.fact, score }, one)
  })
}

function recalledItem(
  found: Pick<Recalled, 'id' | 'text' | 'trust' | 'score' | 'kind' | 'role'>,
  known: Candidate | undefined,
): RecalledItem {
  const { text, trust, score, role = 'user' } = found
  const { fact, session } = known ?? {}
  return {
    id: fact?.id ?? found.id,
    title: fact?.title ?? titleOf(text),
    score: Math.round(score * 1_000) / 1_000,
    ...(found.kind === undefined ? { role } : { kind: found.kind }),
    trust,
    ...(session !== undefined && { session }),
    text: text.length > LONGEST_TEXT ? `${headOf(text, LONGEST_TEXT)}…` : text,
  }
}

/** Each item in two steps: what it is called, then what it says. */
function recallSection(items: readonly RecalledItem[], counter: Counter): Section<RecalledItem> {
  const steps = items.flatMap((item, at): readonly Step<RecalledItem>[] => {
    const { text: _, ...brief } = item
    const tokens = itemTokens(counter, brief)
    return [
      { at, item: brief, tokens },
      { at, item, tokens: Math.max(0, itemTokens(counter, item) - tokens) },
    ]
  })
  const weight = steps.reduce((sum, { tokens }) => sum + tokens, 0)
  return { steps, ids: items.map(({ id }) => id), total: { count: items.length, weight } }
}
