import type { FactList, FactSums } from '../../ports/fact.ts'
import type { ScopeStore, Sum } from '../../ports/store.ts'
import type { FactRow } from './fact.ts'
import { ascending, byRank, comparing, endedIn, groupsUntil, listsOf } from './fact-index.ts'
import type { Facts } from './facts.ts'
import { LIVE } from './live.ts'

/** The facts of one scope, as far as lists and sums over several scopes read them. */
export type FactScope = Pick<Facts, 'top' | 'sums'>

const SUMS = ['live', 'pinned', 'shown', 'due', 'low'] as const

const byReview = comparing(({ reviewAt }) => ascending(reviewAt))

/**
 * The first facts of a list over several scopes, in one strict order: the list's, then by id, then
 * by scope.
 */
export async function topOf(
  scopes: readonly FactScope[],
  list: FactList,
  project: string | undefined,
  first: number,
  day: number,
): Promise<readonly FactRow[]> {
  const read = await Promise.all(scopes.map((facts) => facts.top(list, project, first, day)))
  const order = list === 'due' ? byReview : byRank
  // Of the same id, what is of an earlier scope stays before the others.
  return read
    .flat()
    .sort((one, other) => order(one.fact, other.fact))
    .slice(0, first)
}

/** How many stand in a group of one scope on a day: what expired is left out. */
export async function countOn(scope: Pick<ScopeStore, 'sums'>, group: string, day: number): Promise<number> {
  const gone = groupsUntil(endedIn(group), day)
  const sums = await scope.sums([group, ...gone])
  const counted = (one: string): number => sums.get(one)?.count ?? 0
  return gone.reduce((left, one) => left - counted(one), counted(group))
}

/**
 * Counts over all scopes what stands in the indexes on a day, of no project and of that one: what
 * expired is left out, swept or not. As many sums are read whatever the number of facts.
 *
 * @param day the start of a day
 */
export async function sumFacts(
  scopes: readonly FactScope[],
  project: string | undefined,
  day: number,
): Promise<FactSums> {
  const asked = SUMS.map((name) => {
    const groups = name === 'live' ? [LIVE] : listsOf(name, project)
    return {
      name,
      there: name === 'due' ? groups.flatMap((group) => groupsUntil(group, day)) : groups,
      gone: groups.flatMap((group) => groupsUntil(endedIn(group), day)),
    }
  })
  const all = asked.flatMap(({ there, gone }) => [...there, ...gone])
  const sums = await Promise.all(scopes.map((scope) => scope.sums(all)))
  const added = (groups: readonly string[], field: keyof Sum): number =>
    sums
      .flatMap((scope) => groups.map((group) => scope.get(group)?.[field] ?? 0))
      .reduce((total, one) => total + one, 0)
  const sumOf = (field: keyof Sum, { there, gone }: (typeof asked)[number]): number =>
    added(there, field) - added(gone, field)
  return Object.fromEntries(
    asked.map((one) => [one.name, { count: sumOf('count', one), weight: sumOf('weight', one) }]),
  ) as unknown as FactSums
}
