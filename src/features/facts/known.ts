import type { Head, ScopeStore, Sum } from '../../ports/store.ts'
import { FACT, factKey } from './fact.ts'
import { type Fact } from '../../ports/fact.ts'
import { byRank, dayStart, type FactList } from './fact-index.ts'
import { type FactScope, sumFacts } from './fact-scopes.ts'
import type { Facts } from './facts.ts'
import type { LoadedSkills } from '../skills/loaded-skills.ts'
import { DOCUMENTS, type Profile } from '../profile/profile.ts'
import { type ProfileDocument } from '../../ports/profile.ts'
import type { Skill, SkillEntry } from '../../ports/skill.ts'
import { SKILLS, type Skills } from '../skills/skills.ts'

/** Facts of each list that are read at most: what is further down has no room in any section. */
const FIRST = { pinned: 80, shown: 160, recent: 16 } as const

/** A fact, and where it was found. */
export interface KnownFact {
  readonly fact: Fact
  readonly scope: 'user' | 'session'
  /** Of the op that wrote it, in its scope. */
  readonly seq: number
}

/** What a session remembers beside its log, as far as a context could show it: in strict order and bounded. */
export interface Known {
  /** Whose facts are among them, beside those of no project. */
  readonly project?: string
  readonly profile: readonly ProfileDocument[]
  readonly skills: readonly SkillEntry[]
  /** Skills whose text is to show. */
  readonly loaded: readonly Skill[]
  readonly pinned: readonly KnownFact[]
  readonly facts: readonly KnownFact[]
  /** The newest ones of each scope, pinned or not. */
  readonly recent: readonly KnownFact[]
  /** How much there is of all of them. */
  readonly totals: { readonly pinned: Sum; readonly facts: Sum; readonly skills: Sum }
  /** Seq of each scope's newest fact that is in it. */
  readonly asOf: { readonly user: number; readonly session: number }
}

const NOTHING: Sum = { count: 0, weight: 0 }

export const NOTHING_KNOWN: Known = {
  profile: [],
  skills: [],
  loaded: [],
  pinned: [],
  facts: [],
  recent: [],
  totals: { pinned: NOTHING, facts: NOTHING, skills: NOTHING },
  asOf: { user: 0, session: 0 },
}

export interface LongTermParts {
  readonly user: {
    readonly store: ScopeStore
    readonly facts: Facts
    readonly profile: Profile
    readonly skills: Skills
  }
  readonly session: {
    readonly store: ScopeStore
    readonly facts: Facts
    readonly loaded: LoadedSkills
  }
  /** Whose facts are shown beside those of no project. */
  readonly project: string | undefined
  readonly now: () => number
  /** Contract: hands over to the user what an end of the process left in the session. */
  readonly finish: () => Promise<void>
}

/** What a session remembers beside its log, read again only when something of it may have changed. */
export class LongTerm {
  readonly #parts: LongTermParts
  #known: Known = NOTHING_KNOWN
  #seen: { readonly user: number; readonly session: number; readonly day: number } | undefined

  constructor(parts: LongTermParts) {
    this.#parts = parts
  }

  /**
   * What is known now.
   *
   * @param registersAt seq of the newest change to the session's own registers, as its view saw it.
   * @param own the session's head.
   * @param mayWrite whether what was left undone is finished first.
   */
  async read(registersAt: number, own: Head, mayWrite: boolean): Promise<Known> {
    const { user, now, finish } = this.#parts
    if (mayWrite && own.indexed) await finish()
    const day = dayStart(now())
    const shared = await user.store.head()
    const { seq } = shared
    const seen = this.#seen
    if (seen?.user !== seq || seen.session !== registersAt || seen.day !== day) {
      const scopes = [
        ...(shared.indexed ? (['user'] as const) : []),
        ...(own.indexed ? (['session'] as const) : []),
      ]
      // Mostly nothing is remembered, and then nothing is looked for.
      this.#known = scopes.length === 0 ? NOTHING_KNOWN : await this.#read(day, scopes)
      this.#seen = { user: seq, session: registersAt, day }
    }
    return this.#known
  }

  async #read(day: number, scopes: readonly KnownFact['scope'][]): Promise<Known> {
    const { user, session } = this.#parts
    const [shared, names] = await Promise.all([
      user.store.sums([DOCUMENTS, SKILLS]),
      scopes.includes('session') ? session.loaded.list() : [],
    ])
    const [profile, skills, loaded, pinned, facts, recent] = await Promise.all([
      shared.has(DOCUMENTS) ? user.profile.list() : [],
      shared.has(SKILLS) ? user.skills.list() : [],
      Promise.all(names.map((name) => user.skills.get(name))),
      this.#top('pinned', day, scopes),
      this.#top('shown', day, scopes),
      this.#top('recent', day, scopes),
    ])
    const { project } = this.#parts
    return {
      ...(project !== undefined && { project }),
      profile,
      skills,
      loaded: loaded.flatMap((skill) => skill ?? []),
      pinned,
      facts,
      recent,
      totals: {
        ...(await this.#totals(pinned, facts, day)),
        skills: shared.get(SKILLS) ?? NOTHING,
      },
      asOf: newestOf([...pinned, ...facts, ...recent]),
    }
  }

  /** How much there is of the two lists that show. Where they were read to their end, that is what was read. */
  async #totals(
    pinned: readonly KnownFact[],
    facts: readonly KnownFact[],
    day: number,
  ): Promise<Pick<Known['totals'], 'pinned' | 'facts'>> {
    const read = { pinned: { count: pinned.length, weight: 0 }, facts: { count: facts.length, weight: 0 } }
    if (pinned.length < FIRST.pinned && facts.length < FIRST.shown) return read
    const { user, session, project } = this.#parts
    const sums = await sumFacts([user, session].map(scopeOf), project, day)
    return { pinned: sums.pinned, facts: sums.shown }
  }

  /** The first facts of a list, of both scopes, in strict order. */
  async #top(
    list: keyof typeof FIRST & FactList,
    day: number,
    scopes: readonly KnownFact['scope'][],
  ): Promise<readonly KnownFact[]> {
    const first = FIRST[list]
    const found = await Promise.all(
      scopes.map(async (scope) => {
        const rows = await this.#parts[scope].facts.top(list, this.#parts.project, first, day)
        return rows.map(({ fact, seq }) => ({ fact, seq, scope }))
      }),
    )
    const shared = new Map(
      found.flat().flatMap(({ fact, scope }) => (scope === 'user' ? [[fact.id, fact.text] as const] : [])),
    )
    // What is on its way from the session to its user is in both.
    const once = found
      .flat()
      .filter(({ fact, scope }) => scope === 'user' || shared.get(fact.id) !== fact.text)
    return list === 'recent' ? once : once.sort(inOrder).slice(0, first)
  }
}

function scopeOf({ store, facts }: { readonly store: ScopeStore; readonly facts: Facts }): FactScope {
  return { facts, sums: (groups) => store.sums(groups) }
}

function newestOf(facts: readonly KnownFact[]): Known['asOf'] {
  const newest = { user: 0, session: 0 }
  for (const { scope, seq } of facts) newest[scope] = Math.max(newest[scope], seq)
  return newest
}

/** Names a fact among those of both scopes. */
export function nameOf({ fact, scope }: KnownFact): string {
  return `${scope}:${factKey(fact.id)}`
}

/** Id of the fact that a name is of. */
export function idIn(name: string): string {
  return name.slice(name.indexOf(':') + 1 + FACT.length)
}

export function inOrder(one: KnownFact, other: KnownFact): number {
  // Of the same id, the user's and the session's stay in this order.
  return byRank(one.fact, other.fact)
}
