import { defined } from '../../ports/defined.ts'
import type { Fact, FactList, FactQuery } from '../../ports/fact.ts'
import { type IndexQuery, PAGE_ROWS, type RegisterRow, type ScopeStore } from '../../ports/store.ts'
import { FACT, type FactRow, factIn, factKey, type Place } from './fact.ts'
import { ascending, compared, DAY, dayStart, hasEnded, listsOf, rankOf } from './fact-index.ts'
import { LIVE } from './live.ts'

/** Rows of a list that are read at least, so that a few ended facts do not cost a second read. */
const LEAST = 16
/** Pages of a list that are read to get past facts that have ended. */
const MOST_PAGES = 8

/**
 * A page of facts: the live ones in their strict order (priority, strength, confidence, the newest
 * first), or `all` by id. Empty only after the last one; a page may hold fewer facts than were
 * asked for.
 *
 * @param after the fact that the page begins after
 */
export async function readFacts(
  store: ScopeStore,
  { kinds, project, all = false, first = PAGE_ROWS }: Omit<FactQuery, 'after'>,
  after: Fact | undefined,
  now: number,
): Promise<readonly Fact[]> {
  const most = Math.min(first, PAGE_ROWS)
  const found: Fact[] = []
  const isAsked = (fact: Fact): boolean =>
    (kinds === undefined || kinds.includes(fact.kind)) &&
    (project === undefined || fact.project === undefined || fact.project === project) &&
    (all || !hasEnded(fact, now))
  // Where all are asked for, few have to be read; else it is not known how many.
  const page = kinds === undefined && !(all && project !== undefined) ? Math.max(LEAST, most) : PAGE_ROWS
  let place = after && { order: rankOf(after), key: factKey(after.id) }
  while (found.length < most) {
    const rows: readonly RegisterRow[] = all
      ? await store.registers(FACT, place?.key)
      : await readLive(store, project, defined({ first: page, after: place }))
    const last = rows.at(-1)
    if (last === undefined) break
    found.push(...rows.flatMap((row) => factIn(row) ?? []).filter(isAsked))
    place = { order: orderIn(last, LIVE), key: last.key }
  }
  return found.slice(0, most)
}

/**
 * The first facts of a list, those of no project and of the project together, in the list's order;
 * facts that ended before the UTC day of `now` are left out, and of `due` those that are due only
 * later. Reads at most eight pages of each list: where thousands ended on one day and nothing was
 * written since, it may give fewer than there are.
 *
 * @param first at most 512
 */
export async function readTop(
  store: ScopeStore,
  list: FactList,
  project: string | undefined,
  first: number,
  now: number,
): Promise<readonly FactRow[]> {
  const to = list === 'due' ? ascending(dayStart(now) + DAY) : undefined
  const most = Math.min(first, PAGE_ROWS)
  const lists = listsOf(list, project).map((group) => readList(store, group, to, most, now))
  return merged(await Promise.all(lists), most)
}

/**
 * Facts that hold, in strict order: of all projects, or those that show in one. These are in four
 * lists, so that no other project's are read.
 */
async function readLive(
  store: ScopeStore,
  project: string | undefined,
  query: IndexQuery,
): Promise<readonly RegisterRow[]> {
  const groups =
    project === undefined ? [LIVE] : [...listsOf('pinned', project), ...listsOf('shown', project)]
  const pages = groups.map(async (group) => {
    const rows = await store.indexed(group, query)
    return rows.map((row) => ({ ...row, order: orderIn(row, group) }))
  })
  return merged(await Promise.all(pages), query.first)
}

async function readList(
  store: ScopeStore,
  group: string,
  to: string | undefined,
  most: number,
  now: number,
): Promise<readonly FactRow[]> {
  const found: FactRow[] = []
  const first = Math.min(PAGE_ROWS, Math.max(LEAST, most))
  let after: Place | undefined
  for (let page = 0; page < MOST_PAGES && found.length < most; page++) {
    const rows = await store.indexed(group, defined({ first, to, after }))
    for (const row of rows) {
      const fact = factIn(row)
      after = { order: orderIn(row, group), key: row.key }
      const { seq, version, index = [] } = row
      if (fact && !hasEnded(fact, now)) found.push({ ...after, fact, seq, version, index })
    }
    if (rows.length < first) break
  }
  return found
}

function orderIn({ index = [] }: RegisterRow, group: string): string {
  return index.find((entry) => entry.group === group)?.order ?? ''
}

/** The first of several lists, in one order. */
function merged<Row extends Place>(lists: readonly (readonly Row[])[], first?: number): readonly Row[] {
  return lists
    .flat()
    .sort((a, b) => compared(a.order, b.order) || compared(a.key, b.key))
    .slice(0, first)
}
