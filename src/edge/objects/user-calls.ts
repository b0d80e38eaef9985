import type { WriteOptions } from '../../features/register.ts'
import { fromMarkdown, toMarkdown } from '../../features/skills/markdown.ts'
import { readAudit } from '../../operations/audit.ts'
import { type ListOptions, listSessions } from '../../operations/sessions.ts'
import type { AuditQuery } from '../../ports/audit.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { FactInput, FactQuery } from '../../ports/fact.ts'
import type { Scope } from '../../ports/op.ts'
import type { UserRecallOptions } from '../../ports/recall.ts'
import type { Skill, SkillQuery } from '../../ports/skill.ts'
import { invalid } from '../../text/json.ts'
import { type EdgeMemory, type EdgeUser, using } from '../features.ts'
import { type Answer, answer, NOTHING } from './answer.ts'
import { type Conditional, whereTrue } from './condition.ts'

/** What all sessions of one user share, and the memory that they are in. */
export interface UserMemory {
  readonly memory: EdgeMemory
  readonly scope: Scope
  readonly user: EdgeUser
}

interface Named {
  readonly name: string
}

/** What the Worker may ask of a user's object, by name. Plain data only. */
export const userCalls = {
  sessions: async ({ memory, scope }: UserMemory, options: ListOptions): Promise<Answer> =>
    answer({ sessions: await listSessions(memory, scope, options) }),

  profile: async ({ user }: UserMemory, _: undefined): Promise<Answer> =>
    answer({ documents: await using(user, 'profile').profile.list() }),

  document: async ({ user }: UserMemory, { name }: Named): Promise<Answer> => {
    const document = await using(user, 'profile').profile.get(name)
    if (!document) throw notFound('profile', name)
    return answer(document, document.version)
  },

  setDocument: async (
    { user }: UserMemory,
    { name, text, condition }: Named & { readonly text: string } & Conditional,
    opId?: string,
  ): Promise<Answer> => {
    const { profile } = using(user, 'profile')
    const version = await whereTrue({
      condition,
      read: async () => (await profile.get(name))?.version ?? null,
      write: (bound) => profile.set(name, text, writing(bound, opId)),
    })
    return answer({ name, version }, version)
  },

  deleteDocument: async (
    { user }: UserMemory,
    { name, condition }: Named & Conditional,
    opId?: string,
  ): Promise<Answer> => {
    const { profile } = using(user, 'profile')
    await whereTrue({
      condition,
      read: async () => (await profile.get(name))?.version ?? null,
      write: (bound) => profile.delete(name, writing(bound, opId)),
    })
    return NOTHING
  },

  skills: async ({ user }: UserMemory, query: SkillQuery): Promise<Answer> =>
    answer({ skills: await using(user, 'skills').skills.list(query) }),

  skill: async ({ user }: UserMemory, { name }: Named): Promise<Answer> => {
    const skill = await using(user, 'skills').skills.get(name)
    if (!skill) throw notFound('skills', name)
    return answer({ ...skill, markdown: toMarkdown(skill) }, skill.version)
  },

  setSkill: async (
    { user }: UserMemory,
    {
      name,
      skill,
      condition,
    }: Named & { readonly skill: (Omit<Skill, 'name'> & { readonly name?: string }) | string } & Conditional,
    opId?: string,
  ): Promise<Answer> => {
    const { skills } = using(user, 'skills')
    const given = named(name, skill)
    const version = await whereTrue({
      condition,
      read: async () => (await skills.get(name))?.version ?? null,
      write: (bound) => skills.set(given, writing(bound, opId)),
    })
    return answer({ name, version }, version)
  },

  deleteSkill: async (
    { user }: UserMemory,
    { name, condition }: Named & Conditional,
    opId?: string,
  ): Promise<Answer> => {
    const { skills } = using(user, 'skills')
    await whereTrue({
      condition,
      read: async () => (await skills.get(name))?.version ?? null,
      write: (bound) => skills.delete(name, writing(bound, opId)),
    })
    return NOTHING
  },

  facts: async ({ user }: UserMemory, query: FactQuery): Promise<Answer> =>
    answer({ facts: await using(user, 'facts').facts.list(query) }),

  remember: async ({ user }: UserMemory, input: FactInput, opId?: string): Promise<Answer> =>
    answer(await using(user, 'facts').facts.remember(input, opId)),

  holdings: async (given: UserMemory, _: undefined): Promise<Answer> => answer(await holdingsOf(given)),

  audit: async ({ memory, scope }: UserMemory, query: AuditQuery): Promise<Answer> =>
    answer({ records: await readAudit(memory, scope, query) }),

  recall: async (
    { user }: UserMemory,
    { query, ...options }: { readonly query: string } & UserRecallOptions,
  ): Promise<Answer> => answer({ items: await using(user, 'recall').recall.find(query, options) }),
} as const

type UserCalls = typeof userCalls
export type UserCallName = keyof UserCalls
export type UserCallInput<Name extends UserCallName> = Parameters<UserCalls[Name]>[1]

/** Names of sessions that are told. */
const MOST_NAMED = 100
/** Pages of sessions that are counted, of 512 each. */
const MOST_PAGES = 64

/** How much is held of a user, without what it says. */
async function holdingsOf({ memory, scope, user }: UserMemory): Promise<object> {
  const first: string[] = []
  let count = 0
  let after: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const sessions = await listSessions(memory, scope, after === undefined ? {} : { after })
    after = sessions.at(-1)?.sessionId
    if (after === undefined) break
    count += sessions.length
    first.push(...sessions.slice(0, MOST_NAMED - first.length).map(({ sessionId }) => sessionId))
  }
  let facts = 0
  for (let last: string | undefined, page = 0; page < MOST_PAGES; page++) {
    const some = (await user.facts?.list(last === undefined ? {} : { after: last })) ?? []
    last = some.at(-1)?.id
    if (last === undefined) break
    facts += some.length
  }
  const documents = (await user.profile?.list())?.length ?? 0
  const skills = (await user.skills?.list())?.length ?? 0
  const isEmpty = count + facts + documents + skills === 0
  return { isEmpty, sessions: { count, first }, facts, documents, skills }
}

function writing(bound: Pick<WriteOptions, 'ifVersion'>, opId: string | undefined): WriteOptions {
  return { ...bound, ...(opId !== undefined && { opId }) }
}

function notFound(operation: string, id: string): PlimsollError {
  return new PlimsollError('ERR_NOT_FOUND', `${operation}: no ${id}`, { id })
}

/** A skill may say its own name: it must be the one that it is put under. */
function named(name: string, given: Partial<Skill> | string): Skill {
  const skill = typeof given === 'string' ? fromMarkdown(given) : { name, ...given }
  if (skill.name !== name) throw invalid('skills', 'name', 'must be the name in the path')
  return skill as Skill
}
