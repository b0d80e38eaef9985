import type { Covering } from '../../kernel/cover.ts'
import { markIn } from '../../kernel/log/bodies.ts'
import type { RewindMark, SummaryMark } from '../../ports/op.ts'
import type { LogRow } from '../../ports/store.ts'
import { fenced } from '../../text/fence.ts'

/** As much of a summary as its text in the memory section is made of. */
export interface ShownSummary extends Pick<Covering, 'place' | 'pinsOnly'> {
  readonly mark: Pick<SummaryMark, 'text' | 'carry' | 'pinned' | 'of'>
}

/** A summary as the memory section shows it; empty, where there is nothing to show of it. */
export function memoryText({ mark, place, pinsOnly }: ShownSummary, tag: string): string {
  if (pinsOnly) return mark.pinned === '' ? '' : fenced(tag, 'data', defused(mark.pinned))
  const lines = [
    `[summary #${place} of ${mark.of} earlier messages]`,
    defused(mark.text),
    defused(mark.carry),
  ]
  return fenced(tag, 'data', lines.filter((line) => line !== '').join('\n'))
}

/** How a summary begins in the memory section. */
const TAG = /\[(?=summary #)/g

/**
 * A text that does not look like a further summary: extracts, names and pins may quote anything.
 */
export function defused(text: string): string {
  return text.replace(TAG, '(')
}

/**
 * Whether a summary still tells what the log shows: `upto` stands where it stood, and nothing that
 * it covers was hidden, or shown again, since it was written. Rows are the end of the log, from the
 * summary's `upto` on or further back.
 */
export function holds({ upto, seen, count }: SummaryMark, rows: readonly LogRow[]): boolean {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const start = byId.get(upto)
  if (start && start.ordinal - 1 !== count) return false
  const opened = (row: LogRow): number => byId.get(row.round ?? '')?.ordinal ?? 0
  const covers = (id: string): boolean => {
    const row = byId.get(id)
    return row === undefined || row.ordinal <= count || (start !== undefined && opened(row) < opened(start))
  }
  const since = rows.slice(rows.findIndex(({ id }) => id === seen) + 1)
  const rewinds = since.flatMap((row) =>
    row.kind === 'rewind' ? ((markIn(row) as RewindMark | undefined) ?? []) : [],
  )
  const made = new Map(rewinds.flatMap((mark) => ('hides' in mark ? [[mark.id, mark.hides]] : [])))
  // What was taken back is as it was, if all of it is known.
  for (const mark of rewinds) if ('undo' in mark && !made.delete(mark.undo)) return false
  return ![...made.values()].some((hides) => hides.some(covers))
}
