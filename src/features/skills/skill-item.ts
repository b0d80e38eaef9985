import type { Counter } from '../../ports/counter.ts'
import type { SkillItem } from '../../ports/start.ts'
import { itemTokens } from '../item-tokens.ts'

/** What shows of a skill in lists, in one order of keys. */
export function skillItem({ name, description }: SkillItem): SkillItem {
  return { name, description }
}

/** What a skill weighs in the sum of all skills: its tokens in a session's start. */
export function skillTokens(counter: Counter, skill: SkillItem): number {
  return itemTokens(counter, skillItem(skill))
}
