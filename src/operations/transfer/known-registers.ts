import type { Counter } from '../../ports/counter.ts'
import type { Json, Trust } from '../../ports/message.ts'
import type { IndexEntry } from '../../ports/op.ts'
import type { TransferPart } from '../../ports/transfer.ts'
import { checkJson } from '../../kernel/text/check-json.ts'
import { checkTime } from '../../kernel/log/check-message.ts'
import { checkStoredFact } from '../../features/facts/check-fact.ts'
import { FACT } from '../../features/facts/fact.ts'
import { type Fact } from '../../ports/fact.ts'
import { hasEnded, indexOf, pastIndexOf, shareOf } from '../../features/facts/fact-index.ts'
import { bandsOf } from '../../features/facts/near-duplicates.ts'
import { hashJson } from '../../kernel/text/hash.ts'
import { HEAD_KEY } from '../../kernel/context/head.ts'
import { checkCount, checkId, invalid, isPlainObject } from '../../kernel/text/json.ts'
import { isTrusted, lowerTrust } from '../../kernel/log/message.ts'
import { CHECKPOINT, checkKept } from '../../features/checkpoint/checkpoint.ts'
import { checkLoaded, LOADED_SKILLS, loadedIndex } from '../../features/skills/loaded-skills.ts'
import { checkDocument, DOCUMENTS, PROFILE, profileKey } from '../../features/profile/profile.ts'
import { checkSettings, SETTINGS } from '../settings.ts'
import { checkSkill } from '../../features/skills/skill.ts'
import { type SkillEntry } from '../../ports/skill.ts'
import { SKILL, SKILL_TEXT, SKILLS } from '../../features/skills/skills.ts'
import { writtenAt } from '../../features/written.ts'
import { SESSION } from '../../kernel/log/session-list.ts'
import { checkTitle } from '../sessions.ts'
import { factTokens, skillTokens } from '../start/start-items.ts'
import { checkHead } from './check-head.ts'

/** Whose scope it is. */
export type Owner = 'user' | 'session'

/** What a register stands in its scope by. */
export interface Standing {
  readonly owner: Owner
  readonly counter: Counter
  /** Unix milliseconds. */
  readonly now: number
  /** Whether it is noted when a checkpoint was written. */
  readonly isDated: boolean
}

/** A kind of register that is exported and imported. */
export interface RegisterKind {
  readonly part: TransferPart
  readonly owners: readonly Owner[]
  /** Whether it has no label of trust, and shows as the app's or the user's own word. */
  readonly isUnlabelled?: true
  /**
   * The value as it is stored, unless it was taken off.
   *
   * @param name the key after the kind's prefix
   * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE
   */
  check(operation: string, name: string, value: unknown, owner: Owner): Json
  /** Where the register stands; the writer of a file is not asked. Default: nowhere. */
  index?(name: string, value: Json, standing: Standing): readonly IndexEntry[]
  /** The value at a lower trust; undefined: it cannot be kept there. */
  lowered?(value: Json, most: Trust, owner: Owner): Json | undefined
}

const BOTH: readonly Owner[] = ['user', 'session']

/** By what keys begin with; one without a slash at its end is the whole key. */
const KINDS: ReadonlyMap<string, RegisterKind> = new Map<string, RegisterKind>([
  [
    FACT,
    {
      part: 'facts',
      owners: BOTH,
      check: (operation, name, value, owner) =>
        checkStoredFact(operation, name, value, owner === 'user') as unknown as Json,
      index: (_, value, { owner, counter, now }) => {
        const fact = value as unknown as Fact
        if (hasEnded(fact, now)) return pastIndexOf(fact)
        return [
          ...indexOf(fact, factTokens(counter, fact), bandsOf(fact)),
          ...(owner === 'user' ? [] : shareOf(fact)),
        ]
      },
      lowered: (value, most, owner) => {
        const fact = value as unknown as Fact
        const trust = lowerTrust(fact.trust, most)
        if (trust === fact.trust) return value
        if (owner === 'user' && !isTrusted(trust)) return undefined
        return { ...fact, pinned: fact.pinned && isTrusted(trust), trust } as unknown as Json
      },
    },
  ],
  [
    PROFILE,
    {
      part: 'profile',
      owners: ['user'],
      isUnlabelled: true,
      check: (operation, name, value) => {
        profileKey(operation, name)
        return { ...checkDocument(operation, fieldsOf(operation, value, ['text']).text) }
      },
      index: (order) => [{ group: DOCUMENTS, order, weight: 0 }],
    },
  ],
  [
    SKILL_TEXT,
    {
      part: 'profile',
      owners: ['user'],
      isUnlabelled: true,
      check: (operation, name, value) => {
        const { text, frontMatter } = fieldsOf(operation, value, ['text', 'frontMatter'])
        const skill = { name, description: '-', text, frontMatter } as Parameters<typeof checkSkill>[1]
        const checked = checkSkill(operation, skill)
        return {
          text: checked.text,
          ...(checked.frontMatter !== undefined && { frontMatter: checked.frontMatter }),
        }
      },
    },
  ],
  [
    SKILL,
    {
      part: 'profile',
      owners: ['user'],
      isUnlabelled: true,
      check: (operation, name, value) => {
        const fields = fieldsOf(operation, value, ['name', 'description', 'textVersion'])
        const entry = { name: fields.name, description: fields.description, text: '' }
        const checked = checkSkill(operation, entry as Parameters<typeof checkSkill>[1])
        if (checked.name !== name) throw invalid(operation, 'value.name', 'is not that of its key')
        return {
          name,
          description: checked.description,
          textVersion: checkId(operation, 'value.textVersion', fields.textVersion),
        }
      },
      index: (order, value, { counter }) => {
        const { name, description } = value as unknown as SkillEntry
        return [{ group: SKILLS, order, weight: skillTokens(counter, { name, description }) }]
      },
    },
  ],
  [
    SETTINGS,
    {
      part: 'profile',
      owners: ['user'],
      isUnlabelled: true,
      check: (operation, _, value) => {
        checkCount(operation, 'value.v', (value as { readonly v?: unknown } | null)?.v)
        return checkSettings(operation, value) as unknown as Json
      },
    },
  ],
  [
    LOADED_SKILLS,
    {
      part: 'profile',
      owners: ['session'],
      isUnlabelled: true,
      check: (operation, _, value) => checkLoaded(operation, value),
      index: (_, value) => loadedIndex(value as readonly string[]),
    },
  ],
  [
    CHECKPOINT,
    {
      part: 'checkpoint',
      owners: ['session'],
      isUnlabelled: true,
      check: (operation, _, value) => checkKept(operation, value),
      // It is kept for a time from then on.
      index: (_, __, { isDated, now }) => (isDated ? [writtenAt(now)] : []),
    },
  ],
  [
    HEAD_KEY,
    {
      part: 'log',
      owners: ['session'],
      isUnlabelled: true,
      check: (operation, name, value) => {
        const json = checkJson(operation, 'value', value)
        checkHead(operation, value)
        if (hashJson(json) !== name) throw invalid(operation, 'value', 'is not what its key is the hash of')
        return json
      },
    },
  ],
  [
    SESSION,
    {
      part: 'log',
      owners: ['user'],
      check: (operation, name, value) => {
        const { sessionId, title, createdAt } = fieldsOf(operation, value, [
          'sessionId',
          'title',
          'createdAt',
        ])
        checkId(operation, 'value.sessionId', sessionId)
        if (sessionId !== name) throw invalid(operation, 'value.sessionId', 'is not that of its key')
        return {
          sessionId: name,
          title: checkTitle(operation, 'value.title', title),
          createdAt: checkTime(operation, 'value.createdAt', createdAt),
        }
      },
    },
  ],
])

/** What kind of register a key names, and what is called so. Undefined: none that is exported. */
export function kindOf(key: string): { readonly kind: RegisterKind; readonly name: string } | undefined {
  const whole = KINDS.get(key)
  if (whole) return key.endsWith('/') ? undefined : { kind: whole, name: key }
  const prefix = key.slice(0, key.indexOf('/') + 1)
  const kind = KINDS.get(prefix)
  return kind && { kind, name: key.slice(prefix.length) }
}

/** An object that has none but these fields. */
function fieldsOf<Name extends string>(
  operation: string,
  value: unknown,
  names: readonly Name[],
): { readonly [name in Name]?: unknown } {
  if (!isPlainObject(value)) throw invalid(operation, 'value', 'must be an object')
  const unknown = Object.keys(value).find((name) => !(names as readonly string[]).includes(name))
  if (unknown !== undefined) throw invalid(operation, `value.${unknown}`, 'is nothing that it has')
  return value as { readonly [name in Name]?: unknown }
}
