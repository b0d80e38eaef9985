import { firstNeeded } from '../../kernel/context/window.ts'
import type { Covering } from '../../kernel/cover.ts'
import { messageIn } from '../../kernel/log/bodies.ts'
import type { Conversation } from '../../kernel/log/fold.ts'
import { defined } from '../../ports/defined.ts'
import type { Message } from '../../ports/message.ts'
import type { SummaryMark } from '../../ports/op.ts'
import type { LogRow } from '../../ports/store.ts'
import { grouped } from '../grouped.ts'

/** A message, and the round that it belongs to. */
interface Placed {
  readonly round: string
  readonly row: LogRow
  readonly message: Message
}

/** A stretch of a log in memory, and where in it an epoch's window began. */
export interface CutFrom {
  readonly conversation: Conversation
  readonly rows: readonly LogRow[]
  /** Whether it is the whole log. */
  readonly whole: boolean
  /** The summary that the next one updates. */
  readonly summary: Covering | undefined
  /** First unit that is not covered by it; without one, the first that the epoch before showed. */
  readonly start: number
}

/** What a new summary has to be written from, and what it then covers. */
export interface Uncovered {
  /** By round, oldest first. */
  readonly rounds: readonly (readonly Message[])[]
  /** The summary that it replaces. */
  readonly updates: Covering | undefined
  /** Rows of these messages. */
  readonly rows: readonly LogRow[]
  readonly covers: Pick<SummaryMark, 'from' | 'skipped' | 'upto' | 'seen' | 'count' | 'of' | 'apart'>
}

/**
 * What shows before unit `from` and no summary covers: the units from where the coverage ends, and
 * what was added since to what it covers. Nothing, where all is covered.
 */
export function uncoveredBefore(
  { conversation, rows, whole, summary, start }: CutFrom,
  from: number,
): Uncovered | undefined {
  const { units } = conversation
  const upto = units[from]?.row
  const seen = rows.at(-1)
  if (!upto || !seen || from <= start) return undefined
  const first = units[start]?.row
  // Without a summary to update, what is older than the window was is no part of the new one.
  const read = summary
    ? (rows.findLast(({ id }) => id === summary.mark.seen)?.ordinal ?? summary.mark.count)
    : whole || !first
      ? 0
      : first.ordinal - 1
  const later = ({ row }: Placed): boolean => row.ordinal > read
  const opened = new Map(rows.map(({ id, ordinal }) => [id, ordinal]))
  const isOlder = ({ round }: Placed): boolean =>
    round === upto.round || (opened.get(round) ?? 0) < (opened.get(upto.round ?? '') ?? 0)
  const placed = new Map(
    [
      ...shownIn({ units: units.slice(0, start) }).filter(later),
      ...shownIn({ units: units.slice(start, from) }).filter((one) => summary !== undefined || later(one)),
      ...unplacedIn(conversation).filter((one) => later(one) && isOlder(one)),
    ].map((one) => [one.row.id, one]),
  )
  const needed = firstNeeded(rows, { units: units.slice(from) })
  return {
    rounds: grouped(placed.values(), ({ round }) => round).map((all) => all.map(({ message }) => message)),
    updates: summary,
    rows: [...placed.values()].map(({ row }) => row),
    covers: defined({
      ...beginning(summary, whole ? undefined : first),
      upto: upto.id,
      seen: seen.id,
      count: upto.ordinal - 1,
      of: (summary?.mark.of ?? 0) + placed.size,
      apart: needed && needed !== upto ? { from: needed.id, count: needed.ordinal - 1 } : undefined,
    }),
  }
}

/**
 * Where the coverage begins: with the summary's that is updated, or with the first message that was
 * shown.
 */
function beginning(
  summary: Covering | undefined,
  first: LogRow | undefined,
): Pick<SummaryMark, 'from' | 'skipped'> {
  if (!summary) return first ? { from: first.id, skipped: first.ordinal - 1 } : {}
  const { from, skipped } = summary.mark
  return defined({ from, skipped })
}

/** The messages of units, in the order in which they show. */
function shownIn({ units }: Pick<Conversation, 'units'>): readonly Placed[] {
  return units.flatMap(({ row, message, round, results }) => [
    { round, row, message },
    ...results.map((result) => ({ round, row: result.row, message: result.message })),
  ])
}

/**
 * Messages that join nothing in memory; they may belong to what was cut: a late result of a step
 * that is out of sight.
 */
function unplacedIn({ unshown, loose, hidden }: Conversation): readonly Placed[] {
  const lost = unshown.flatMap(({ row, reason }) =>
    reason === 'orphan' || reason === 'duplicate' ? row : [],
  )
  return [...loose, ...lost].flatMap((row) => {
    const message = hidden.has(row.id) ? undefined : messageIn(row)
    return message ? { round: row.round ?? row.id, row, message } : []
  })
}
