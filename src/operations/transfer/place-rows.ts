import { isApplied, slotOf } from '../../kernel/log/decide.ts'
import { idIn, type Name } from '../../ports/op.ts'
import { isEntry, type LogRow, type MarkRow, type Rows } from '../../ports/store.ts'
import type { Followed } from './follow.ts'
import { emptiedIn, marksOf } from './rows.ts'

/** A row of a file: where it stands among those that are there is yet to be seen. */
export interface FileRow {
  /** As a store has it, but for `ordinal`, `applied` and `chain`. */
  readonly row: LogRow
  /** Attachments that its message names. */
  readonly used: readonly string[]
  /** Number of its line. */
  readonly line: number
  /** What of the line is not taken over as it says. */
  readonly lowered?: string
}

/** Why the row of a line can be in no log. */
export interface Misplaced {
  readonly line: number
  readonly reason: string
}

/**
 * What writing rows of a file after those that are there comes to, by the rules of `decide`:
 * numbers without gaps, ids and ops that are new, rounds that were opened, marks that take effect
 * where their base is current.
 */
export function placeRows(rows: readonly FileRow[], read: Rows): Followed | Misplaced {
  const { head, results, entries } = read
  const log: LogRow[] = []
  const own = new Map<string, LogRow>()
  const ops = new Set<string>()
  const marks = new Map<string, MarkRow>()
  let { seq, ordinal } = head
  let opId: string | undefined
  for (const { row, line } of rows) {
    const isNew = row.place === 0
    if (isNew && row.seq !== seq + 1 && seq > 0) return { line, reason: `has seq ${row.seq} after ${seq}` }
    if (isNew && (results.has(row.opId) || ops.has(row.opId)))
      return { line, reason: `repeats op ${row.opId}` }
    if (!isNew && row.opId !== opId) return { line, reason: `is of another op than the line before it` }
    const whole = idIn('entry', row.opId as Name)
    if (whole !== undefined && isNew && (!isEntry(row) || whole !== row.id))
      return { line, reason: `is of the op of another entry` }
    if (row.kind === 'erase' && seq > 0) return { line, reason: 'erases what stands before it' }
    seq = row.seq
    opId = row.opId
    ops.add(row.opId)
    if (isEntry(row) && (entries.has(row.id) || own.has(row.id)))
      return { line, reason: `repeats id ${row.id}` }
    const placed = place(row, ordinal, marks, head.marks)
    if (row.kind === 'message') {
      const { round = '', id } = row
      const first = isNew ? id : (rows.find((one) => one.row.seq === row.seq)?.row.id ?? id)
      const opener = own.get(round) ?? entries.get(round)
      if (round !== first && opener?.round !== round)
        return { line, reason: `joins round ${round}, which no line opened` }
    }
    ordinal = placed.ordinal
    log.push(placed)
    if (isEntry(placed)) own.set(placed.id, placed)
  }
  return {
    log,
    marks: marksOf(log),
    emptied: [...new Set(log.flatMap(emptiedIn))],
    used: rows.flatMap(({ used }) => used),
  }
}

function place(
  row: LogRow,
  before: number,
  marks: Map<string, MarkRow>,
  stored: ReadonlyMap<string, MarkRow>,
): LogRow {
  if (row.kind === 'message') return { ...row, ordinal: before + 1 }
  if (!isEntry(row)) return { ...row, ordinal: before }
  const slot = slotOf(row.kind, row.lane)
  const current = slot === undefined ? undefined : (marks.get(slot) ?? stored.get(slot))
  const applied = isApplied(row.kind, slot, row.base ?? null, current)
  if (!applied || slot === undefined) return { ...row, ordinal: before, applied }
  const chain = (current?.chain ?? 0) + 1
  marks.set(slot, { slot, id: row.id, seq: row.seq, chain })
  return { ...row, ordinal: before, applied, chain }
}
