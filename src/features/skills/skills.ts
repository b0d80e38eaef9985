import { type Renewable, shownName } from '../../forgetting/shown.ts'
import type { KernelUser } from '../../kernel/feature.ts'
import { valueIn } from '../../kernel/log/bodies.ts'
import { changedByOthers, TRIES } from '../../kernel/log/once.ts'
import { partId } from '../../kernel/log/rounds.ts'
import type { Counter } from '../../ports/counter.ts'
import type { IndexEntry, Name, Op } from '../../ports/op.ts'
import type { ListedSkill, Skill, SkillEntry, SkillQuery, StoredSkill } from '../../ports/skill.ts'
import type { SkillItem } from '../../ports/start.ts'
import type { RegisterRow, ScopeStore } from '../../ports/store.ts'
import { checkCount, checkOptions } from '../../text/json.ts'
import { removeShown } from '../forget-shown.ts'
import { changeRegister, checkWrite, type Register, readRegister, type WriteOptions } from '../register.ts'
import { checkSkill, checkSkillName } from './skill.ts'
import { skillItem, skillTokens } from './skill-item.ts'

/** What the keys of skills begin with, and those of their texts. */
export const SKILL = 'skill/'
export const SKILL_TEXT = 'skill-text/'
/** Group of all skills, by name; its sum has the tokens of their entries. */
export const SKILLS = 'skill'

/** The value of `skill/<name>`: the index is read without the texts. */
export interface StoredEntry extends SkillEntry, Renewable {
  /** Version of `skill-text/<name>`, which is written in the same commit. */
  readonly textVersion: string
}

/** The value of `skill-text/<name>`. */
interface StoredText {
  readonly text: string
  readonly frontMatter?: string
}

/**
 * The skills of one user, in the format of Agent Skills (agentskills.io). Only the app writes them.
 */
export interface Skills {
  /**
   * A page of the index, by name in code unit order; more `after` the last one. @throws
   * ERR_INVALID_ARGUMENT
   */
  list(query?: SkillQuery): Promise<readonly ListedSkill[]>
  /** @throws ERR_INVALID_ARGUMENT; ERR_CONFLICT: it was changed by others at every look */
  get(name: string): Promise<StoredSkill | undefined>
  /**
   * Writes a skill; `fromMarkdown` reads one of a SKILL.md.
   *
   * @returns its version
   * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE (64 KiB), ERR_CONFLICT (`version`); nothing
   * is written
   */
  set(skill: Skill, options?: WriteOptions): Promise<string>
  /**
   * Removes a skill, and what showed it in the frozen heads of all sessions, whatever it said then.
   * Idempotent. @throws ERR_INVALID_ARGUMENT, ERR_CONFLICT (`version`)
   */
  delete(name: string, options?: WriteOptions): Promise<void>
}

/** Where a skill stands in the index of its user, with what it takes there by a counter. */
export function skillIndex(counter: Counter, entry: SkillEntry): readonly IndexEntry[] {
  const weight = checkCount('set', 'tokens of the skill', skillTokens(counter, entry))
  return [
    { group: SKILLS, order: entry.name, weight },
    { group: skillsBy(counter), weight },
  ]
}

/** Skills, and their tokens where that counter counted them. */
export async function listedSkills(
  store: ScopeStore,
  first: number,
  counter: Counter,
): Promise<readonly { readonly item: SkillItem; readonly tokens?: number }[]> {
  const rows = await store.indexed(SKILLS, { first })
  return rows.flatMap((row) => {
    const { listed } = shownIn(row) ?? {}
    const tokens = row.index?.find(({ group }) => group === skillsBy(counter))?.weight
    return listed ? { item: skillItem(listed), ...(tokens !== undefined && { tokens }) } : []
  })
}

/** Group of skills whose tokens were counted by that counter. */
function skillsBy({ id }: Counter): string {
  return `${SKILLS}/by/${id}`
}

export function skillsOf(user: KernelUser): Skills {
  const { store, memory } = user
  const { host, policy } = memory
  const { counter } = policy
  const textOf = (name: string): Promise<Register<StoredText>> => readRegister(store, SKILL_TEXT + name)
  const putText = async (name: string, opId: string, body: StoredText | null): Promise<Op> => ({
    kind: 'put',
    opId: textId(opId),
    key: SKILL_TEXT + name,
    base: (await textOf(name)).base,
    value: body && { ...body },
  })
  return {
    list: async (query = {}) => {
      checkOptions('list', 'query', query, ['after', 'first'])
      const { after, first } = query
      if (after !== undefined) checkSkillName('list', after, 'after')
      const rows = await store.indexed(SKILLS, {
        ...(first !== undefined && { first: checkCount('list', 'first', first) }),
        ...(after !== undefined && { after: { order: after, key: SKILL + after } }),
      })
      return rows.flatMap((row) => shownIn(row)?.listed ?? [])
    },
    get: async (name) => {
      checkSkillName('get', name)
      for (let attempt = 0; attempt < TRIES; attempt++) {
        const { value, version } = await readRegister<StoredEntry>(store, SKILL + name)
        if (value === undefined || version === null) return undefined
        const text = await textOf(name)
        // Two reads: they belong together unless the skill was written in between.
        if (text.value !== undefined && text.version === value.textVersion)
          return { name, description: value.description, ...text.value, version }
      }
      throw changedByOthers('get', `skill ${name}`, { id: name })
    },
    set: async (skill, options = {}) => {
      checkWrite('set', options)
      const { name, description, ...body } = checkSkill('set', skill)
      const index = skillIndex(counter, { name, description })
      const version = await changeRegister<StoredEntry>(store, host, {
        ...options,
        operation: 'set',
        key: SKILL + name,
        index: () => index,
        change: async (before, _, opId) => {
          const { value: text } = before ? await textOf(name) : {}
          const isSameText = text?.text === body.text && text.frontMatter === body.frontMatter
          const textVersion = (isSameText && before?.textVersion) || textId(opId)
          return { name, description, textVersion, since: before?.since ?? opId }
        },
        beside: async (after, opId) =>
          after?.textVersion === textId(opId) ? [await putText(name, opId, body)] : [],
      })
      return version as string
    },
    delete: async (name, options = {}) => {
      checkWrite('delete', options)
      checkSkillName('delete', name)
      await removeShown(user, SKILL + name, options, async (_, opId) => [await putText(name, opId, null)])
    },
  }
}

function textId(opId: string): string {
  return partId(opId, 'text')
}

/** An entry of the index, and the name under which heads show the skill. */
export interface ShownSkill {
  readonly listed: ListedSkill
  readonly source: Name
}

export function shownIn(row: RegisterRow): ShownSkill | undefined {
  const { key, version } = row
  const stored = valueIn(row) as unknown as StoredEntry | null | undefined
  if (!stored) return undefined
  const { name, description } = stored
  return { listed: { name, description, version }, source: shownName(key, stored) }
}
