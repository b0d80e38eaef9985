import type { ReadAsk } from '../../kernel/feature.ts'
import type { Fact, FactList } from '../../ports/fact.ts'
import type { ScopeStore, Sum } from '../../ports/store.ts'
import { FACT, factKey } from './fact.ts'
import { byRank, dayStart } from './fact-index.ts'
import { type FactScope, sumFacts } from './fact-scopes.ts'
import type { Facts } from './facts.ts'

/** Facts of each list that are read at most: what is further down has no room in any section. */
const FIRST = { pinned: 80, shown: 160, recent: 16 } as const

/** A fact, and where it was found. */
export interface KnownFact {
  readonly fact: Fact
  readonly scope: 'user' | 'session'
  /** Of the op that wrote it, in its scope. */
  readonly seq: number
}

/** The facts of a session and of its user, as far as a context could show them: in strict order and bounded. */
export interface Known {
  /** Whose facts are among them, beside those of no project. */
  readonly project?: string
  readonly pinned: readonly KnownFact[]
  readonly facts: readonly KnownFact[]
  /** The newest ones of each scope, pinned or not. */
  readonly recent: readonly KnownFact[]
  /** How much there is of all of them. */
  readonly totals: { readonly pinned: Sum; readonly facts: Sum }
  /** Seq of each scope's newest fact that is in it. */
  readonly asOf: { readonly user: number; readonly session: number }
}

const NOTHING: Sum = { count: 0, weight: 0 }

export const NOTHING_KNOWN: Known = {
  pinned: [],
  facts: [],
  recent: [],
  totals: { pinned: NOTHING, facts: NOTHING },
  asOf: { user: 0, session: 0 },
}

export interface KnownFactsParts {
  readonly user: { readonly store: ScopeStore; readonly facts: Facts }
  readonly session: { readonly store: ScopeStore; readonly facts: Facts }
  /** Whose facts are shown beside those of no project. */
  readonly project: string | undefined
  readonly now: () => number
  /** Contract: hands over to the user what an end of the process left in the session. @returns whether there was anything */
  readonly finish: () => Promise<boolean>
}

/** The facts that a session's contexts show, read again only when something of them may have changed. */
export class KnownFacts {
  readonly #parts: KnownFactsParts
  #known: Known = NOTHING_KNOWN
  #seen: { readonly user: number; readonly session: number; readonly day: number } | undefined

  constructor(parts: KnownFactsParts) {
    this.#parts = parts
  }

  /** What is known now. */
  async read({ own, registersAt, user, mayWrite }: ReadAsk): Promise<Known> {
    const { now, finish, user: home } = this.#parts
    const isMoved = mayWrite && own.indexed && (await finish())
    const day = dayStart(now())
    const shared = isMoved ? await home.store.head() : await user()
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
    const [pinned, facts, recent] = await Promise.all([
      this.#top('pinned', day, scopes),
      this.#top('shown', day, scopes),
      this.#top('recent', day, scopes),
    ])
    const { project } = this.#parts
    return {
      ...(project !== undefined && { project }),
      pinned,
      facts,
      recent,
      totals: await this.#totals(pinned, facts, day),
      asOf: newestOf([...pinned, ...facts, ...recent]),
    }
  }

  /** How much there is of the two lists that show. Where they were read to their end, that is what was read. */
  async #totals(
    pinned: readonly KnownFact[],
    facts: readonly KnownFact[],
    day: number,
  ): Promise<Known['totals']> {
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
