import type { Counter } from '../../ports/counter.ts'
import type { Role, Trust } from '../../ports/message.ts'
import type { Fact, FactKind } from '../facts/fact.ts'
import { checkCount } from '../json.ts'
import { headOf } from '../text.ts'

/** A fact that is pinned, as a session's start shows it. */
export interface PinnedItem {
  readonly id: string
  readonly kind: FactKind
  readonly title: string
  readonly text: string
  readonly project?: string
  readonly status?: 'open' | 'resolved'
  readonly priority: number
  readonly confidence: number
  readonly trust: Trust
}

/** A skill, without its text. */
export interface SkillItem {
  readonly name: string
  readonly description: string
}

/** UTF-16 units of a recalled text that show. */
const LONGEST_TEXT = 1_000

/** A message or a fact that was found by what it says; of a text of more than 1 000 characters the beginning. */
export type RecalledItem =
  | {
      readonly id: string
      readonly role: Role
      readonly text: string
      readonly trust: Trust
      /** Id of the message's session, where it is another one. */
      readonly session?: string
    }
  | {
      readonly id: string
      readonly kind: FactKind
      readonly text: string
      readonly trust: Trust
      readonly session?: string
    }

/** What shows of a pinned fact, in one order of keys. */
export function pinnedItem(fact: Fact): PinnedItem {
  const { id, kind, title, text, project, status, priority, confidence, trust } = fact
  return {
    id,
    kind,
    title,
    text,
    ...(project !== undefined && { project }),
    ...(status !== undefined && { status }),
    priority,
    confidence,
    trust,
  }
}

/** What shows of a skill, in one order of keys. */
export function skillItem({ name, description }: SkillItem): SkillItem {
  return { name, description }
}

/** What shows of what was recalled, in one order of keys: whatever the budget, so that a larger one never shows less. */
export function recalledItem(found: RecalledItem): RecalledItem {
  const { id, text, trust, session } = found
  const shown = text.length > LONGEST_TEXT ? `${headOf(text, LONGEST_TEXT)}…` : text
  const rest = { text: shown, trust, ...(session !== undefined && { session }) }
  return 'role' in found ? { id, role: found.role, ...rest } : { id, kind: found.kind, ...rest }
}

/**
 * Tokens of a value among others of an array, as JSON: alone, and a comma. By counters that are exact, or upper bounds, or count
 * characters, the sum of these is not below the count of the array; the payload is measured as a whole all the same.
 *
 * @throws ERR_INVALID_ARGUMENT when the counter gives no count
 */
export function tokensInStart(
  counter: Counter,
  value: PinnedItem | SkillItem | RecalledItem | string,
): number {
  return checkCount(
    `counter ${counter.id}`,
    'its count',
    counter.count(JSON.stringify(value)) + counter.count(','),
  )
}

/** What a fact weighs in the sums of the indexes: its tokens in a session's start, pinned or not. */
export function factTokens(counter: Counter, fact: Fact): number {
  return tokensInStart(counter, pinnedItem(fact))
}

/** What a skill weighs in the sum of all skills. */
export function skillTokens(counter: Counter, skill: SkillItem): number {
  return tokensInStart(counter, skillItem(skill))
}
