import type { Counter } from '../../ports/counter.ts'
import type { Role, Trust } from '../../ports/message.ts'
import type { Fact, FactKind } from '../../ports/fact.ts'
import { checkCount } from '../../kernel/text/json.ts'
import { headOf } from '../../kernel/text/text.ts'

/** UTF-16 units of a recalled text that show. */
const LONGEST_TEXT = 1_000

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
