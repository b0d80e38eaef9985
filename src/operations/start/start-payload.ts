import { bestAtEdges } from '../../features/text/edges.ts'
import { hashJson } from '../../kernel/text/hash.ts'
import { checkCount } from '../../kernel/text/json.ts'
import type { Counter } from '../../ports/counter.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Json } from '../../ports/message.ts'
import type { BudgetTokens } from '../../ports/settings.ts'
import type { PinnedItem, RecalledItem, SessionStart, SkillItem } from '../../ports/start.ts'
import { overflowOf, type Section, shownIn } from './start-sections.ts'

/** What the budget and the etag are about. */
type Body = Omit<SessionStart, 'budget' | 'etag'>

/** All that a start can be made from: the sections, and what stands beside them. */
export interface Material {
  readonly pins: Section<PinnedItem>
  readonly skills: Section<SkillItem>
  readonly recall: Section<RecalledItem>
  readonly rest: Pick<SessionStart, 'memory_count' | 'due_for_review' | 'low_confidence_alerts'>
}

/** How many items of each section show. */
interface Shown {
  readonly pins: number
  readonly skills: number
  readonly recall: number
}

/**
 * The largest start that fits. What its parts take is counted one by one, and an estimate may say
 * more of the whole: then less room is shared, until the whole is within it. What shows for a room
 * depends on the material alone, and shrinks with the room, so of two totals the larger one never
 * shows less.
 *
 * @param key of the etag
 */
export function fill(material: Material, budget: BudgetTokens, counter: Counter, key: string): SessionStart {
  const tokensOf = (body: Body): number =>
    checkCount(`counter ${counter.id}`, 'its count', counter.count(JSON.stringify(body)))
  const cap = budget.total
  const least = tokensOf(bodyOf(material, { pins: 0, skills: 0, recall: 0 }))
  if (cap < least)
    throw new PlimsollError(
      'ERR_BUDGET_TOO_SMALL',
      `startSession: budgetTokens.total is ${cap}, but a start without any item takes ${least} tokens`,
      { limit: least },
    )
  for (let within = cap, before: Shown | undefined; ; within--) {
    const shown = shownFor(material, budget, within - least)
    if (before && isSame(shown, before)) continue
    before = shown
    const body = bodyOf(material, shown)
    const used = tokensOf(body)
    if (used > within) continue
    const { overflow, ...rest } = body
    return { ...rest, budget: { used, cap }, overflow, etag: hashJson(body as unknown as Json, key) }
  }
}

/** Shares a room among the sections, none of which gets more than its own tokens. */
function shownFor({ pins, skills, recall }: Material, budget: BudgetTokens, room: number): Shown {
  const parts = budget.pins + budget.skills + budget.recall
  const share = (own: number): number => (own === 0 ? 0 : Math.min(own, Math.floor((room * own) / parts)))
  return {
    pins: shownIn(pins, share(budget.pins)),
    skills: shownIn(skills, share(budget.skills)),
    recall: shownIn(recall, share(budget.recall)),
  }
}

function isSame(one: Shown, other: Shown): boolean {
  return one.pins === other.pins && one.skills === other.skills && one.recall === other.recall
}

function bodyOf({ pins, skills, recall, rest }: Material, shown: Shown): Body {
  return {
    memory_count: rest.memory_count,
    pinned: pins.items.slice(0, shown.pins),
    skills_index: skills.items.slice(0, shown.skills),
    context_recall: bestAtEdges(recall.items.slice(0, shown.recall)),
    due_for_review: rest.due_for_review,
    low_confidence_alerts: rest.low_confidence_alerts,
    overflow: {
      pinned: overflowOf(pins, shown.pins),
      skills_index: overflowOf(skills, shown.skills),
      context_recall: overflowOf(recall, shown.recall),
    },
  }
}
