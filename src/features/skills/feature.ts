import type { Feature, Hash, HeadPart, RegisterKind, Rung } from '../../kernel/feature.ts'
import { provide } from '../../kernel/slot.ts'
import type { Name } from '../../ports/op.ts'
import type { ListedSkill, SkillEntry, StoredSkill } from '../../ports/skill.ts'
import type { Sum } from '../../ports/store.ts'
import { checkId, checkOptions, invalid } from '../../text/json.ts'
import { cached } from '../cached.ts'
import { notFound } from '../failures.ts'
import { Filling } from '../filling.ts'
import { PLACES } from '../places.ts'
import { laneOf } from '../sizes.ts'
import { SkillLists } from '../slots.ts'
import { oneLine } from '../text/one-line.ts'
import { checkLoaded, LOADED_SKILLS, loadedIndex, loadedSkills } from './loaded-skills.ts'
import { checkBody, checkDescription, checkSkillName } from './skill.ts'
import {
  listedSkills,
  SKILL,
  SKILL_TEXT,
  SKILLS,
  type Skills,
  type StoredEntry,
  shownIn,
  skillIndex,
  skillsOf,
} from './skills.ts'

export interface SkillsOptions {
  /** Most tokens of names and descriptions in a context. Default: a thirty-second of the cap. */
  readonly indexTokens?: number
  /** Most tokens of the texts of skills that are loaded. Default: a sixteenth of the cap. */
  readonly loadedTokens?: number
}

/** Which of the user's skills a session shows whole. */
export interface SessionSkills {
  /**
   * A skill of the user's, which shows in the memory section from the next epoch on. Idempotent.
   *
   * @throws ERR_NOT_FOUND, ERR_LIMIT (a 17th skill), ERR_INVALID_ARGUMENT
   */
  load(name: string): Promise<StoredSkill>
  /**
   * Shows a skill no more, from the next epoch on; its text stays with the user. Idempotent.
   * @throws ERR_INVALID_ARGUMENT
   */
  unload(name: string): Promise<void>
  /**
   * Names of the skills that are loaded, in the order in which they were. One that was deleted
   * since is still named.
   */
  loaded(): Promise<readonly string[]>
}

export interface SkillsShape {
  readonly api: SessionSkills
  readonly user: Skills
}

const INDEX_SHARE = 1 / 32
const LOADED_SHARE = 1 / 16

/** What a session shows of skills. */
interface Known {
  readonly index: readonly ListedSkill[]
  readonly total: Sum
  readonly loaded: readonly StoredSkill[]
  readonly sources: readonly Name[]
}

const NONE: Sum = { count: 0, weight: 0 }

/**
 * Instructions that a model loads when it needs them, in the format of Agent Skills; at most 64 KiB
 * each, and 16 loaded in a session. Adds `memory.user(…).skills`, which keeps them, and
 * `session.skills`, which loads them. Contexts show names and descriptions, and the texts of those
 * that are loaded, in the memory section.
 *
 * @throws ERR_INVALID_ARGUMENT, an unknown option included
 */
export function skills(options: SkillsOptions = {}): Feature<'skills', SkillsShape> {
  checkOptions('skills', 'options', options, ['indexTokens', 'loadedTokens'])
  const { indexTokens, loadedTokens } = options
  return {
    name: 'skills',
    registers: REGISTERS,
    ...laneOf('skills', { indexTokens, loadedTokens }),
    user: skillsOf,
    open: (session) => {
      const { user, store, memory, policy } = session
      const all = skillsOf(user)
      const loaded = loadedSkills(store, memory.host, () => session.register())
      const sizes: Required<SkillsOptions> = {
        indexTokens: indexTokens ?? Math.floor(policy.cap * INDEX_SHARE),
        loadedTokens: loadedTokens ?? Math.floor(policy.cap * LOADED_SHARE),
      }
      const sum = async (): Promise<Sum> => (await user.store.sums([SKILLS])).get(SKILLS) ?? NONE
      const latest = cached<Known>()
      return {
        api: {
          load: (name) =>
            session.run(async () => {
              const skill = await all.get(name)
              if (!skill) throw notFound('load', `no skill ${name}`, name)
              await loaded.load(name)
              return skill
            }),
          unload: (name) => session.run(() => loaded.unload(name)),
          loaded: () => session.run(() => loaded.list()),
        },
        provides: [
          provide(SkillLists, { list: (first) => listedSkills(user.store, first, policy.counter), sum }),
        ],
        show: {
          read: async ({ own, registersAt, user: shared }) => {
            const { seq, rebased, indexed } = await shared()
            // Mostly there are none, and then nothing is looked for.
            return latest([seq, rebased, registersAt, own.rebased], async () => {
              const names = own.indexed ? await loaded.list() : []
              const total = indexed ? await sum() : NONE
              const rows = total.count > 0 ? await user.store.indexed(SKILLS) : []
              // Before their texts are read: one that is removed in between is not shown.
              const entries = await Promise.all(names.map((name) => user.store.register(SKILL + name)))
              const texts = await Promise.all(names.map((name) => all.get(name)))
              const index = rows.flatMap((row) => shownIn(row) ?? [])
              const shown = [...index, ...entries.flatMap((row) => (row && shownIn(row)) ?? [])]
              return {
                index: index.map(({ listed }) => listed),
                total,
                loaded: texts.flatMap((skill) => skill ?? []),
                sources: [...new Set(shown.map(({ source }) => source))],
              }
            })
          },
          holds: (frozen, state, hash) =>
            (frozen?.record ?? recordOf([], hash)) === recordOf((state as Known).index, hash),
          head: (state, { count, rung, hash }) => headOf(state as Known, sizes, count, rung, hash),
        },
      }
    },
  }
}

function headOf(
  { index, total, loaded, sources }: Known,
  sizes: Required<SkillsOptions>,
  count: (text: string) => number,
  rung: Rung,
  hash: Hash,
): HeadPart | undefined {
  if (index.length === 0 && loaded.length === 0) return undefined
  const names = new Filling('skills', rung === 0 ? sizes.indexTokens : 0, count)
  for (const { name, description } of index) names.take(name, `- ${name}: ${oneLine(description)}`)
  const texts = new Filling('loaded-skills', rung === 0 ? sizes.loadedTokens : 0, count)
  for (const { name, text } of loaded) texts.takePart(name, `## ${name}\n\n`, text)
  const shown = { in: 'memory', trust: 'user' } as const
  const listed = { ...shown, at: PLACES.skills, text: names.lines.join('\n') }
  const whole = { ...shown, at: PLACES.loadedSkills, text: texts.lines.join('\n\n') }
  return {
    sections: [...names.section(listed, total.count, total.weight), ...texts.section(whole)],
    record: recordOf(index, hash),
    sources,
  }
}

/** Versions, since a text that is loaded may change alone. */
function recordOf(index: readonly ListedSkill[], hash: Hash): string {
  return hash(JSON.stringify(index.map(({ version }) => version)))
}

const REGISTERS: readonly RegisterKind[] = [
  {
    prefix: SKILL_TEXT,
    part: 'profile',
    owners: ['user'],
    isUnlabelled: true,
    check: (operation, name, value) => {
      checkOptions(operation, 'value', value, ['text', 'frontMatter'])
      checkSkillName(operation, name)
      return { ...checkBody(operation, value) }
    },
  },
  {
    prefix: SKILL,
    part: 'profile',
    owners: ['user'],
    isUnlabelled: true,
    check: (operation, name, value) => {
      checkOptions(operation, 'value', value, ['name', 'description', 'textVersion', 'since'])
      const fields: { readonly [field in keyof StoredEntry]?: unknown } = value
      if (checkSkillName(operation, fields.name) !== name)
        throw invalid(operation, 'value.name', 'differs from the name in its key')
      const description = checkDescription(operation, fields.description)
      const textVersion = checkId(operation, 'value.textVersion', fields.textVersion)
      return { name, description, textVersion, since: checkId(operation, 'value.since', fields.since) }
    },
    index: (_, value, { memory }) => skillIndex(memory.policy.counter, value as unknown as SkillEntry),
  },
  {
    prefix: LOADED_SKILLS,
    part: 'profile',
    owners: ['session'],
    isUnlabelled: true,
    check: (operation, _, value) => checkLoaded(operation, value),
    index: (_, value) => loadedIndex(value as readonly string[]),
  },
]
