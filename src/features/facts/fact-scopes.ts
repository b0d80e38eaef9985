import type { Fact, FactList, FactSums } from '../../ports/fact.ts'
import type { ScopeStore, Sum } from '../../ports/store.ts'
import { LIVE } from './fact.ts'
import { ascending, byRank, comparing, groupsUntil, listOf } from './fact-index.ts'
import type { Facts } from './facts.ts'

/** The facts of one scope, as far as lists and sums over several scopes read them. */
export interface FactScope {
  readonly facts: Pick<Facts, 'top'>
  /** Contract: as `ScopeStore.sums` of the same scope. */
  readonly sums: ScopeStore['sums']
}

const byReview = comparing(({ reviewAt }) => ascending(reviewAt))

/** The first facts of a list over several scopes, in one strict order: the list's, then by id, then by scope. */
export async function topOf(
  scopes: readonly FactScope[],
  list: FactList,
  project: string | undefined,
  first: number,
  day: number,
): Promise<readonly Fact[]> {
  const read = await Promise.all(scopes.map(({ facts }) => facts.top(list, project, first, day)))
  const order = list === 'due' ? byReview : byRank
  // Of the same id, what is of an earlier scope stays before the others.
  return read
    .flatMap((rows) => rows.map(({ fact }) => fact))
    .sort(order)
    .slice(0, first)
}

/**
 * Counts over all scopes what stands in the indexes on a day, of no project and of that one: what expired is left out, swept or not.
 * As many sums are read whatever the number of facts.
 *
 * @param day the start of a day
 */
export async function sumFacts(
  scopes: readonly FactScope[],
  project: string | undefined,
  day: number,
): Promise<FactSums> {
  const lists = (list: FactList): readonly string[] => [
    listOf(list),
    ...(project === undefined ? [] : [listOf(list, project)]),
  ]
  const dues = lists('due')
  const groups = {
    live: [LIVE],
    pinned: lists('pinned'),
    shown: lists('shown'),
    due: dues.flatMap((group) => groupsUntil(group, day)),
    low: lists('low'),
  }
  const ended = {
    live: groupsUntil(expiring(LIVE), day),
    pinned: groups.pinned.flatMap((group) => groupsUntil(expiring(group), day)),
    shown: groups.shown.flatMap((group) => groupsUntil(expiring(group), day)),
    due: dues.flatMap((group) => groupsUntil(expiring(group), day)),
    low: groups.low.flatMap((group) => groupsUntil(expiring(group), day)),
  }
  const all = [...Object.values(groups), ...Object.values(ended)].flat()
  const sums = await Promise.all(scopes.map((scope) => scope.sums(all)))
  const sum = (name: keyof FactSums): Sum => {
    const there = added(sums, groups[name])
    const gone = added(sums, ended[name])
    return { count: there.count - gone.count, weight: there.weight - gone.weight }
  }
  return {
    live: sum('live'),
    pinned: sum('pinned'),
    shown: sum('shown'),
    due: sum('due'),
    low: sum('low'),
  }
}

function expiring(group: string): string {
  return `${group}/expires`
}

function added(sums: readonly ReadonlyMap<string, Sum>[], groups: readonly string[]): Sum {
  const found = sums.flatMap((scope) => groups.flatMap((group) => scope.get(group) ?? []))
  return {
    count: found.reduce((sum, { count }) => sum + count, 0),
    weight: found.reduce((sum, { weight }) => sum + weight, 0),
  }
}
