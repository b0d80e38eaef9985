import { valueIn } from '../../kernel/log/bodies.ts'
import { TRIES } from '../../kernel/log/once.ts'
import { partId } from '../../kernel/log/rounds.ts'
import { checkCount } from '../../kernel/text/json.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { Op } from '../../ports/op.ts'
import type { ListedSkill, Skill, SkillEntry, SkillQuery, StoredSkill } from '../../ports/skill.ts'
import type { RegisterRow, ScopeStore } from '../../ports/store.ts'
import { changeRegister, readRegister, type WriteOptions } from '../register.ts'
import { checkSkill, checkSkillName } from './skill.ts'

/** What the keys of skills begin with, and those of their texts. */
export const SKILL = 'skill/'
export const SKILL_TEXT = 'skill-text/'
/** Group of all skills, by name; its sum has the tokens of their entries. */
export const SKILLS = 'skill'

export interface SkillsParts {
  readonly store: ScopeStore
  readonly host: Host
  /** Contract: pure; what an entry takes in an index of skills, in whole tokens. */
  readonly tokensOf: (entry: SkillEntry) => number
}

/** The value of `skill/<name>`: the index is read without the texts. */
interface StoredEntry extends SkillEntry {
  /** Version of `skill-text/<name>`, which is written in the same commit. */
  readonly textVersion: string
}

/** The value of `skill-text/<name>`. */
interface StoredText {
  readonly text: string
  readonly frontMatter?: string
}

/** The skills of one user, in the format of Agent Skills (agentskills.io). Only the app writes them. */
export class Skills {
  readonly #store: ScopeStore
  readonly #host: Host
  readonly #tokensOf: (entry: SkillEntry) => number

  constructor({ store, host, tokensOf }: SkillsParts) {
    this.#store = store
    this.#host = host
    this.#tokensOf = tokensOf
  }

  /** A page of the index, by name in code unit order; more `after` the last one. @throws ERR_INVALID_ARGUMENT */
  async list({ after, first }: SkillQuery = {}): Promise<readonly ListedSkill[]> {
    if (after !== undefined) checkSkillName('list', after, 'after')
    const rows = await this.#store.indexed(SKILLS, {
      ...(first !== undefined && { first: checkCount('list', 'first', first) }),
      ...(after !== undefined && { after: { order: after, key: SKILL + after } }),
    })
    return rows.flatMap((row) => listedIn(row) ?? [])
  }

  /** @throws ERR_INVALID_ARGUMENT; ERR_CONFLICT: it was changed by others at every look */
  async get(name: string): Promise<StoredSkill | undefined> {
    checkSkillName('get', name)
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const { value, version } = await readRegister<StoredEntry>(this.#store, SKILL + name)
      if (value === undefined || version === null) return undefined
      const stored = await readRegister<StoredText>(this.#store, SKILL_TEXT + name)
      // Two reads: they belong together unless the skill was written in between.
      if (stored.value !== undefined && stored.version === value.textVersion)
        return { name, description: value.description, ...stored.value, version }
    }
    throw new PlimsollError(
      'ERR_CONFLICT',
      `get: skill ${name} was changed by others ${TRIES} times in a row`,
      {
        id: name,
      },
    )
  }

  /**
   * Writes a skill: its parts, or the Markdown of a SKILL.md, which begins with its front matter:
   *
   * ```markdown
   * ---
   * name: tides
   * description: Reads tide tables. Use it when a port or a tide is named.
   * ---
   * # Tides
   * ```
   *
   * This reads no YAML but these two keys, with plain or quoted texts of one line. Other lines of the front matter are kept as they are, in
   * `frontMatter`; line ends in it become `\n`.
   *
   * @returns its version
   * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE (64 KiB), ERR_CONFLICT (`version`); nothing is written
   */
  async set(skill: Skill | string, options: WriteOptions = {}): Promise<string> {
    const { name, description, ...body } = checkSkill('set', skill)
    const weight = checkCount('set', 'tokens of the skill', this.#tokensOf({ name, description }))
    const version = await changeRegister<StoredEntry>(this.#store, this.#host, {
      ...options,
      operation: 'set',
      key: SKILL + name,
      index: () => [{ group: SKILLS, order: name, weight }],
      change: async (before, _, opId) => {
        const isSameText = before !== undefined && (await this.#isText(name, body))
        return { name, description, textVersion: isSameText ? before.textVersion : textId(opId) }
      },
      beside: async (after, opId) =>
        after?.textVersion === textId(opId) ? [await this.#putText(name, opId, body)] : [],
    })
    return version as string
  }

  /** Removes a skill. Idempotent. @throws ERR_INVALID_ARGUMENT, ERR_CONFLICT (`version`) */
  async delete(name: string, options: WriteOptions = {}): Promise<void> {
    checkSkillName('delete', name)
    await changeRegister<StoredEntry>(this.#store, this.#host, {
      ...options,
      operation: 'delete',
      key: SKILL + name,
      change: () => null,
      beside: async (_, opId) => [await this.#putText(name, opId, null)],
    })
  }

  async #isText(name: string, body: StoredText): Promise<boolean> {
    const { value } = await readRegister<StoredText>(this.#store, SKILL_TEXT + name)
    return value?.text === body.text && value.frontMatter === body.frontMatter
  }

  async #putText(name: string, opId: string, body: StoredText | null): Promise<Op> {
    const key = SKILL_TEXT + name
    const { base } = await readRegister<StoredText>(this.#store, key)
    return { kind: 'put', opId: textId(opId), key, base, value: body === null ? null : { ...body } }
  }
}

function textId(opId: string): string {
  return partId(opId, 'text')
}

function listedIn(row: RegisterRow): ListedSkill | undefined {
  const stored = valueIn(row) as unknown as StoredEntry | null | undefined
  return stored ? { name: stored.name, description: stored.description, version: row.version } : undefined
}
