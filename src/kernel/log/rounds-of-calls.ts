import { type LogRow, PAGE_ROWS, type ScopeStore } from '../../ports/store.ts'
import { findOpener } from './entries.ts'
import { type Conversation, fold } from './fold.ts'

/** Pages that are read back at most to find the step of a late result. */
const LATE_PAGES = 8

/** The end of a log, as far back as it is in memory. */
interface LogEnd {
  readonly rows: readonly LogRow[]
  readonly opener: LogRow | undefined
  readonly conversation: Conversation
  readonly whole: boolean
}

/** For each call id the round of the newest step in which it waits: in memory, else up to 4 096 entries back. */
export async function readRoundsOfCalls(
  store: ScopeStore,
  view: LogEnd,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  if (ids.size === 0) return found
  let { units } = view.conversation
  let rows = view.rows.filter((row) => row !== view.opener)
  for (let page = 0, { whole } = view; ; page++) {
    for (const { calls, round } of units.toReversed())
      for (const { answered, part } of calls)
        if (!answered && ids.has(part.id) && !found.has(part.id)) found.set(part.id, round)
    const [first] = rows
    if (found.size === ids.size || whole || !first || page === LATE_PAGES) return found
    const older = await store.entries({ last: PAGE_ROWS, to: first.id })
    rows = [...older.rows, ...rows]
    whole = !older.more
    units = fold(rows, undefined, await findOpener(store, rows)).units
  }
}
