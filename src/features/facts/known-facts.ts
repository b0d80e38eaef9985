import type { ReadAsk } from '../../kernel/feature.ts'
import { defined } from '../../ports/defined.ts'
import type { Fact, FactSums } from '../../ports/fact.ts'
import type { Name } from '../../ports/op.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { cached } from '../cached.ts'
import { factKey } from './fact.ts'
import { byRank, dayStart } from './fact-index.ts'
import { type FactScope, sumFacts } from './fact-scopes.ts'

/** Facts of each list that are read at most: what is further down has no room in any section. */
const FIRST = { pinned: 80, shown: 160, recent: 16 } as const

/** A fact, and where it was found. */
export interface KnownFact {
  readonly fact: Fact
  readonly scope: 'user' | 'session'
  /** Of the op that wrote it, in its scope. */
  readonly seq: number
  /** Name of that op. */
  readonly version: string
}

/**
 * The facts of a session and of its user, as far as a context could show them: in strict order and
 * bounded.
 */
export interface Known {
  /** Whose facts are among them, beside those of no project. */
  readonly project?: string
  readonly pinned: readonly KnownFact[]
  readonly shown: readonly KnownFact[]
  /** The newest ones of each scope, pinned or not. */
  readonly recent: readonly KnownFact[]
  /** How much there is of all of them. */
  readonly totals: Pick<FactSums, 'pinned' | 'shown'>
  /** Seq of each scope's newest fact that is in it and has its place for good. */
  readonly asOf: { readonly user: number; readonly session: number }
}

export interface KnownFactsParts {
  readonly user: FactScope
  readonly session: FactScope
  /** The user's scope. */
  readonly store: ScopeStore
  /** Whose facts are shown beside those of no project. */
  readonly project: string | undefined
  readonly now: () => number
  /**
   * Contract: hands over to the user what an end of the process left in the session. @returns
   * whether there was anything
   */
  readonly finish: () => Promise<boolean>
}

/**
 * Reads the facts that a session's contexts show, again only when something of them may have
 * changed.
 */
export function knownFacts(parts: KnownFactsParts): (ask: ReadAsk) => Promise<Known> {
  const { store, project, now, finish } = parts
  const latest = cached<Known>()

  /** The first facts of a list, of both scopes, in strict order. */
  async function top(
    list: keyof typeof FIRST,
    day: number,
    scopes: readonly KnownFact['scope'][],
  ): Promise<readonly KnownFact[]> {
    const first = FIRST[list]
    const read = scopes.map(async (scope) => {
      const rows = await parts[scope].top(list, project, first, day)
      return rows.map((row): KnownFact => ({ ...row, scope }))
    })
    const found = (await Promise.all(read)).flat()
    const users = found.filter(({ scope }) => scope === 'user')
    const shared = new Map(users.map(({ fact }) => [fact.id, fact.text]))
    // What is on its way from the session to its user is in both.
    const once = found.filter(({ fact, scope }) => scope === 'user' || shared.get(fact.id) !== fact.text)
    return list === 'recent' ? once : once.sort(inOrder).slice(0, first)
  }

  async function known(day: number, scopes: readonly KnownFact['scope'][]): Promise<Known> {
    const [pinned, shown, recent] = await Promise.all([
      top('pinned', day, scopes),
      top('shown', day, scopes),
      top('recent', day, scopes),
    ])
    const asOf = { user: 0, session: 0 }
    for (const { scope, seq } of [...pinned, ...shown, ...recent]) asOf[scope] = Math.max(asOf[scope], seq)
    // Where the lists were read to their end, there is no more than that.
    const isAll = pinned.length < FIRST.pinned && shown.length < FIRST.shown
    const totals = isAll
      ? { pinned: { count: pinned.length, weight: 0 }, shown: { count: shown.length, weight: 0 } }
      : await sumFacts([parts.user, parts.session], project, day)
    return defined({ project, pinned, shown, recent, totals, asOf })
  }

  return async ({ own, registersAt, user, mayWrite }) => {
    const isMoved = mayWrite && own.indexed && (await finish())
    const day = dayStart(now())
    const shared = isMoved ? await store.head() : await user()
    const scopes = [
      ...(shared.indexed ? (['user'] as const) : []),
      ...(own.indexed ? (['session'] as const) : []),
    ]
    // Mostly nothing is remembered, and then nothing is looked for: no list of no scope.
    const on = [shared.seq, shared.rebased, shared.confirmed, registersAt, own.rebased, own.confirmed, day]
    return latest(on, async () => {
      const found = await known(day, scopes)
      const { user, session } = found.asOf
      // What a home has not confirmed yet may move behind facts that nobody here knows.
      const asOf = {
        user: Math.min(user, shared.confirmed ?? user),
        session: Math.min(session, own.confirmed ?? session),
      }
      return { ...found, asOf }
    })
  }
}

/** Names a fact among those of both scopes. */
export function nameOf({ fact, scope }: KnownFact): Name {
  return `${scope === 'session' ? 'register' : scope}:${factKey(fact.id)}`
}

export function inOrder(one: KnownFact, other: KnownFact): number {
  // Of the same id, the user's and the session's stay in this order.
  return byRank(one.fact, other.fact)
}
