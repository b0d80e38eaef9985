import { bestAtEdges } from '../../features/text/edges.ts'
import type { Counter } from '../../ports/counter.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Json } from '../../ports/message.ts'
import type { StartBudget } from '../../ports/settings.ts'
import type { PinnedItem, RecalledItem, SessionStart, SkillItem } from '../../ports/start.ts'
import { hashJson } from '../../text/hash.ts'
import { checkCount } from '../../text/json.ts'
import { namesOf, overflowOf, type Section, type Step, shownOf, within } from './start-sections.ts'

/** What the budget and the etag are about. */
type Body = Omit<SessionStart, 'budget' | 'etag'>

/** All that a start can be made from: the sections, and what stands beside them. */
export interface Material {
  readonly pins: Section<PinnedItem>
  readonly skills: Section<SkillItem>
  readonly recall: Section<RecalledItem>
  readonly rest: Pick<
    SessionStart,
    'memory_count' | 'due_for_review' | 'low_confidence_alerts' | 'due' | 'recall'
  >
  /** Facts of little confidence, in all. */
  readonly low: number
}

/** A number with more digits than those that stand in its place later. */
const WIDE = 9_999_999
/** Looks at how many digits the count of the whole has. */
const LOOKS = 4

/**
 * The largest start that fits, all of it counted. Sections fill one after the other, each up to its
 * own budget, and in strict order: an item shows where there is room for all before it. What there
 * is room for is added up from what was counted when it was written, and the whole is counted once
 * it is put together; where that is more, less room is given. What shows for a room does not depend
 * on the cap, and shrinks with the room, so of two caps the larger one never shows less.
 *
 * @param key of the etag
 */
export function fill(material: Material, budget: StartBudget, counter: Counter, key: string): SessionStart {
  const tokensOf = (start: SessionStart): number =>
    checkCount(`counter ${counter.id}`, 'its count', counter.count(JSON.stringify(start)))
  const { pins, skills, recall } = material
  const steps = [
    ...within(pins.steps, budget.pin_budget_tokens).map((step) => ({ in: 'pins' as const, ...step })),
    ...within(skills.steps, budget.skills_index_budget_tokens).map((step) => ({
      in: 'skills' as const,
      ...step,
    })),
    ...within(recall.steps, budget.recall_budget_tokens).map((step) => ({ in: 'recall' as const, ...step })),
  ]
  const cap = budget.working_memory_budget_tokens
  const wide = Math.max(WIDE, cap)
  const startOf = (shown: number): SessionStart => {
    const body = bodyOf(material, steps.slice(0, shown))
    const { overflow, due, recall, ...rest } = body
    const etag = hashJson(body as unknown as Json, key)
    const beside = { overflow, due, ...(recall && { recall }), etag }
    return { ...rest, budget: { used: wide, cap: wide }, ...beside }
  }
  const rooms = roomsFor(material, steps, tokensOf(nameless(startOf(0))), counter)
  let before = Number.NaN
  for (let room = cap; ; room--) {
    const shown = rooms.findLastIndex((least) => least <= room) + 1
    if (shown === before) continue
    before = shown
    const start = startOf(shown)
    const tokens = tokensOf(start)
    const isFit = tokens <= (shown === 0 ? cap : room)
    const used = isFit ? usedBy(start, cap, tokens, tokensOf) : Number.POSITIVE_INFINITY
    if (used <= cap) return { ...start, budget: { used, cap } }
    if (shown === 0)
      throw new PlimsollError(
        'ERR_BUDGET_TOO_SMALL',
        `start: working_memory_budget_tokens is ${cap}, but a start without any item takes ${tokens} tokens`,
        { limit: tokens },
      )
  }
}

/** Without the names of what is left out. */
function nameless(start: SessionStart): SessionStart {
  const named = Object.entries(start.overflow).map(([name, one]) => [
    name,
    typeof one === 'number' ? one : { ...one, first: [] },
  ])
  return { ...start, overflow: Object.fromEntries(named) }
}

/** What the whole takes, its own number included. */
function usedBy(
  start: SessionStart,
  cap: number,
  most: number,
  tokensOf: (start: SessionStart) => number,
): number {
  let used = most
  for (let look = 0; look < LOOKS; look++) {
    const tokens = tokensOf({ ...start, budget: { used, cap } })
    if (tokens === used) return used
    used = tokens
  }
  return Math.max(used, tokensOf({ ...start, budget: { used, cap } }))
}

type AnyStep = { readonly in: keyof Sections } & Step<PinnedItem | SkillItem | RecalledItem>
type Sections = Pick<Material, 'pins' | 'skills' | 'recall'>

/** The room that the first so many steps need: without names where nothing is left out. */
function roomsFor(
  material: Material,
  steps: readonly AnyStep[],
  least: number,
  counter: Counter,
): readonly number[] {
  const sections = ['pins', 'skills', 'recall'] as const
  let needed = least
  let named: number | undefined
  const left = new Map(sections.map((name) => [name, material[name].total.count]))
  return steps.map((step, place) => {
    needed += step.tokens
    left.set(step.in, material[step.in].total.count - step.at - 1)
    const isAll = place === steps.length - 1 && [...left.values()].every((count) => count <= 0)
    if (isAll) return needed
    named ??= sections.reduce((sum, name) => sum + namesOf(material[name], counter), 0)
    return needed + named
  })
}

function bodyOf(material: Material, steps: readonly AnyStep[]): Body {
  const { pins, skills, recall, rest, low } = material
  const of = <Item>(name: keyof Sections): readonly Step<Item>[] =>
    steps.filter((step) => step.in === name) as unknown as readonly Step<Item>[]
  const shown = {
    pins: of<PinnedItem>('pins'),
    skills: of<SkillItem>('skills'),
    recall: of<RecalledItem>('recall'),
  }
  return {
    memory_count: rest.memory_count,
    pinned: shownOf(shown.pins),
    skills_index: shownOf(shown.skills),
    context_recall: bestAtEdges(shownOf(shown.recall)),
    due_for_review: rest.due_for_review,
    low_confidence_alerts: rest.low_confidence_alerts,
    overflow: {
      pinned: overflowOf(pins, shown.pins),
      skills_index: overflowOf(skills, shown.skills),
      context_recall: overflowOf(recall, shown.recall),
      low_confidence_alerts: low - rest.low_confidence_alerts.length,
    },
    due: rest.due,
    ...(rest.recall && { recall: rest.recall }),
  }
}
