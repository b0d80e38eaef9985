import type { View } from '../../kernel/context/view.ts'
import type { Layout, Window } from '../../kernel/context/window.ts'
import type { Account, Covering, Within } from '../../kernel/cover.ts'
import type { SummaryMark } from '../../ports/op.ts'
import type { LogRow, Reads } from '../../ports/store.ts'
import { partGaps } from './parted-gaps.ts'

/** The first entry in the log's order that a summary may not cover, and the messages before it. */
export function endOf({ upto, count, apart }: SummaryMark): {
  readonly from: string
  readonly count: number
} {
  return apart ?? { from: upto, count }
}

/** How a summary stands to the entries in memory. */
export function withinOf({ mark }: Covering, view: View, layout: Layout): Within {
  const { conversation, rows, opener } = view
  const { loose, hidden } = conversation
  const { upto, seen, skipped = 0, count } = mark
  const covered = rows.find(({ id }) => id === upto)
  const isLoose = loose.some(({ id }) => id === upto)
  const read = rows.find(({ id }) => id === seen)?.ordinal ?? count
  return {
    // Where it ends in a round that opened before all that is in memory, all of this follows.
    from: covered && !isLoose ? layout.indexOf(upto, rows) : 0,
    isRead: !isLoose && rows.some((row) => row !== opener && row.id === endOf(mark).from),
    hasAll: !loose.some(({ id, ordinal }) => ordinal > read && !hidden.has(id)),
    folds: ({ row }) => row.ordinal > skipped && row.ordinal <= count,
  }
}

/**
 * What a receipt says of a summary. Where the window begins with the first message that it does not
 * cover, it stands for all that was there when it was written: of writers that interleave, some
 * stands after that message. Else for what stands before all that showed then.
 */
export function accountOf(
  { mark, place }: Pick<Covering, 'mark' | 'place'>,
  { units, opener }: Pick<Window, 'units' | 'opener'>,
  rows: readonly LogRow[],
  reads: Reads,
): Account {
  const { id, trust, by, lost, from, skipped = 0, upto, seen } = mark
  const end = endOf(mark)
  const start = units[opener ? 1 : 0]?.row.id
  const read = start === upto ? (rows.findLast((row) => row.id === seen)?.ordinal ?? end.count) : end.count
  const last = Math.max(end.count, read)
  const borders = [
    { last: skipped, next: from },
    { last: end.count, next: end.from },
  ]
  return {
    part: (gaps) => partGaps(reads, gaps, borders),
    covers: (ordinal) => ordinal > skipped && ordinal <= last,
    use: (covers) => ({ id, place, covers, trust, by, lost }),
  }
}
