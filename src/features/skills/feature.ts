import {
  type Feature,
  type HeadPart,
  type KernelUser,
  provide,
  type RegisterKind,
  type Rung,
} from '../../kernel/feature.ts'
import { tokens } from '../../kernel/policy.ts'
import { hashText } from '../../kernel/text/hash.ts'
import { checkId, checkOptions, invalid } from '../../kernel/text/json.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Json } from '../../ports/message.ts'
import type { ListedSkill, SkillEntry, StoredSkill } from '../../ports/skill.ts'
import type { Sum } from '../../ports/store.ts'
import { Filling } from '../filling.ts'
import { PLACES } from '../places.ts'
import { SkillLists } from '../slots.ts'
import { checkLoaded, LOADED_SKILLS, LoadedSkills, loadedIndex } from './loaded-skills.ts'
import { checkSkill } from './skill.ts'
import { skillTokens } from './skill-item.ts'
import { SKILL, SKILL_TEXT, SKILLS, Skills } from './skills.ts'

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
  /** Shows a skill no more, from the next epoch on; its text stays with the user. Idempotent. @throws ERR_INVALID_ARGUMENT */
  unload(name: string): Promise<void>
  /** Names of the skills that are loaded, in the order in which they were. One that was deleted since is still named. */
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
}

const NOTHING: Known = { index: [], total: { count: 0, weight: 0 }, loaded: [] }

/**
 * Instructions that a model loads when it needs them, in the format of Agent Skills; at most 64 KiB each, and 16 loaded in a session. Adds
 * `memory.user(…).skills`, which keeps them, and `session.skills`, which loads them. Contexts show names and descriptions, and the texts of
 * those that are loaded, in the memory section.
 *
 * @throws ERR_INVALID_ARGUMENT, an unknown option included
 */
export function skills(options: SkillsOptions = {}): Feature<'skills', SkillsShape> {
  checkOptions('skills', 'options', options, ['indexTokens', 'loadedTokens'])
  for (const [name, size] of Object.entries(options)) if (size !== undefined) tokens('skills', name, size, 0)
  const skillsOf = ({ store, memory: { host, policy } }: KernelUser): Skills =>
    new Skills({ store, host, tokensOf: (entry) => skillTokens(policy.counter, entry) })
  return {
    name: 'skills',
    registers: REGISTERS,
    ...(Object.keys(options).length > 0 && { lane: () => ({ ...options }) as Json }),
    user: skillsOf,
    open: (session) => {
      const { user, store, memory, policy } = session
      const all = skillsOf(user)
      const loaded = new LoadedSkills({ store, host: memory.host, register: () => session.register() })
      const sizes: Required<SkillsOptions> = {
        indexTokens: options.indexTokens ?? Math.floor(policy.cap * INDEX_SHARE),
        loadedTokens: options.loadedTokens ?? Math.floor(policy.cap * LOADED_SHARE),
      }
      let known: { readonly user: number; readonly session: number; readonly state: Known } | undefined
      return {
        api: {
          load: (name) =>
            session.run(async () => {
              const skill = await all.get(name)
              if (!skill) throw new PlimsollError('ERR_NOT_FOUND', `load: no skill ${name}`, { id: name })
              await loaded.load(name)
              return skill
            }),
          unload: (name) => session.run(() => loaded.unload(name)),
          loaded: () => session.run(() => loaded.list()),
        },
        provides: [
          provide(SkillLists, {
            list: (query) => all.list(query),
            sum: async () => (await user.store.sums([SKILLS])).get(SKILLS) ?? NOTHING.total,
          }),
        ],
        show: {
          read: async ({ own, registersAt, user: shared }) => {
            const { seq, indexed } = await shared()
            if (known?.user !== seq || known.session !== registersAt) {
              const names = own.indexed ? await loaded.list() : []
              const total = indexed ? (await user.store.sums([SKILLS])).get(SKILLS) : undefined
              const state: Known =
                total === undefined && names.length === 0
                  ? NOTHING
                  : {
                      index: total ? await all.list() : [],
                      total: total ?? NOTHING.total,
                      loaded: (await Promise.all(names.map((name) => all.get(name)))).flatMap(
                        (skill) => skill ?? [],
                      ),
                    }
              known = { user: seq, session: registersAt, state }
            }
            return known.state
          },
          holds: (frozen, state) => (frozen?.record ?? hashOf([])) === hashOf((state as Known).index),
          head: (state, { count, rung }) => headOf(state as Known, sizes, count, rung),
        },
      }
    },
  }
}

function headOf(
  { index, total, loaded }: Known,
  sizes: Required<SkillsOptions>,
  count: (text: string) => number,
  rung: Rung,
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
    record: hashOf(index),
    sources: [],
  }
}

function hashOf(index: readonly SkillEntry[]): string {
  return hashText(JSON.stringify(index.map(({ name, description }) => [name, description])))
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

const REGISTERS: readonly RegisterKind[] = [
  {
    prefix: SKILL_TEXT,
    part: 'profile',
    owners: ['user'],
    isUnlabelled: true,
    check: (operation, name, value) => {
      checkOptions(operation, 'value', value, ['text', 'frontMatter'])
      const skill = { name, description: '-', ...value } as Parameters<typeof checkSkill>[1]
      const { text, frontMatter } = checkSkill(operation, skill)
      return { text, ...(frontMatter !== undefined && { frontMatter }) }
    },
  },
  {
    prefix: SKILL,
    part: 'profile',
    owners: ['user'],
    isUnlabelled: true,
    check: (operation, name, value) => {
      checkOptions(operation, 'value', value, ['name', 'description', 'textVersion'])
      const fields = value as { readonly [field: string]: unknown }
      const entry = { name: fields.name, description: fields.description, text: '' }
      const checked = checkSkill(operation, entry as Parameters<typeof checkSkill>[1])
      if (checked.name !== name) throw invalid(operation, 'value.name', 'is not that of its key')
      const textVersion = checkId(operation, 'value.textVersion', fields.textVersion)
      return { name, description: checked.description, textVersion }
    },
    index: (order, value, { memory }) => {
      const { name, description } = value as unknown as SkillEntry
      const weight = skillTokens(memory.policy.counter, { name, description })
      return [{ group: SKILLS, order, weight }]
    },
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
