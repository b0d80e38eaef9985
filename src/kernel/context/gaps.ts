import type { EntryKind, LogRow, Reads } from '../../ports/store.ts'

/** A range of messages that are not in memory, by id and by ordinal. */
export interface Gap {
  readonly from: string
  readonly to: string
  readonly first: number
  readonly last: number
}

const MESSAGES: readonly EntryKind[] = ['message']

/** The messages before `entries` as ranges: all, or those on both sides of the opener. */
export async function readGaps(
  store: Reads,
  oldest: string | undefined,
  entries: readonly LogRow[],
  opener: LogRow | undefined,
): Promise<readonly Gap[]> {
  // Entries without any message stand after all messages but theirs.
  const first = entries.find(({ kind }) => kind === 'message') ?? entries.at(-1)
  if (!first || oldest === undefined) return []
  const last = first.kind === 'message' ? first.ordinal - 1 : first.ordinal
  const before = async ({ id }: LogRow): Promise<string> => (await lastBefore(store, id)) ?? oldest
  const gaps: Gap[] = []
  const start = opener ? opener.ordinal + 1 : 1
  if (opener && opener.ordinal > 1)
    gaps.push({ from: oldest, to: await before(opener), first: 1, last: opener.ordinal - 1 })
  if (start > last) return gaps
  const after = opener && (await store.entries({ after: opener.id, first: 1, kinds: MESSAGES }))
  const from = after?.rows[0]?.id ?? oldest
  return [...gaps, { from, to: await before(first), first: start, last }]
}

/** Id of the last message before an entry. */
export async function lastBefore(store: Reads, id: string): Promise<string | undefined> {
  return (await store.entries({ to: id, last: 1, kinds: MESSAGES })).rows[0]?.id
}
