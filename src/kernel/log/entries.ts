import { type EntriesQuery, type LogRow, PAGE_ROWS, type Reads } from '../../ports/store.ts'

/** The entry of that id, if the log has one. */
export async function readEntry(store: Reads, id: string): Promise<LogRow | undefined> {
  return (await store.entries({ from: id, first: 1 })).rows[0]
}

/** All entries from one to another, page by page. */
export function readRange(store: Reads, from: string | undefined, to?: string): Promise<LogRow[]> {
  return readAll(store, { ...(from !== undefined && { from }), ...(to !== undefined && { to }) })
}

/** All entries that match, page by page. */
export async function readAll(store: Reads, { from, ...query }: EntriesQuery): Promise<LogRow[]> {
  const rows: LogRow[] = []
  for (let start: EntriesQuery = from === undefined ? {} : { from }; ; ) {
    const page = await store.entries({ ...query, ...start, first: PAGE_ROWS })
    rows.push(...page.rows)
    const last = page.rows.at(-1)
    if (!page.more || !last) return rows
    start = { after: last.id }
  }
}

/**
 * The message that opened the round into which a window falls, if it stands before its entries.
 * Without `windowFrom`, and where several rounds opened before the entries, it is the newest of
 * them: all its later steps are here.
 */
export async function findOpener(
  store: Reads,
  entries: readonly LogRow[],
  windowFrom?: string | null,
): Promise<LogRow | undefined> {
  const known = new Set(entries.map(({ id }) => id))
  const start = entries.find((row) => row.id === windowFrom)
  let opener: LogRow | undefined
  for (const round of new Set((start ? [start] : entries).map((row) => row.round))) {
    // A window that began when nothing showed begins at a mark: only rounds that open in it show.
    if (round === undefined || known.has(round)) continue
    const row = await readEntry(store, round)
    if (row && row.seq > (opener?.seq ?? 0)) opener = row
  }
  return opener
}
