import type { Block, OmitReason, Omitted, SectionUse, SummaryUse } from '../../ports/context.ts'
import type { FloorBreakdown } from '../../ports/errors.ts'
import type { LogRow } from '../../ports/store.ts'
import type { Policy } from '../policy.ts'
import type { BlockShelf } from './blocks.ts'
import type { Gap } from './gaps.ts'
import { type Head, sum } from './head.ts'
import type { Slice } from './view.ts'
import { firstNeeded, type Window } from './window.ts'

/** Entries that an overflow names; the rest is counted. */
const NAMED = 5

/** What the blocks of each section come to, and what capped ones lack. */
export function sectionUses(
  { tokens }: Head,
  blocks: readonly Block[],
  room: number,
  shelf: BlockShelf,
): readonly SectionUse[] {
  const none = () => ({ tokens: 0, items: 0, overflow: { count: 0, tokens: 0, first: [] as string[] } })
  const uses = {
    system: { name: 'system', ...none() },
    memory: { name: 'memory', ...none() },
    window: { name: 'window', ...(room < Infinity && { cap: room }), ...none() },
    tail: { name: 'tail', ...none() },
  }
  for (const block of blocks) {
    const use = uses[block.section]
    use.items++
    use.tokens += block.tokens
    if (block.rule !== 'capped') continue
    const { overflow } = use
    overflow.count++
    overflow.tokens += shelf.missing(block)
    if (overflow.first.length < NAMED) overflow.first.push(...block.from)
  }
  const { system, ...others } = uses
  const tools = tokens.tools > 0 ? [{ name: 'tools', ...none(), tokens: tokens.tools, items: 1 }] : []
  return [system, ...tools, ...Object.values(others)]
}

/** The least that a call can be cut to, part by part. */
export function floorOf(
  { cap, margin }: Policy,
  { tokens }: Head,
  parts: { readonly user: number; readonly step: number; readonly tail: number },
): FloorBreakdown {
  return { cap, margin, ...tokens, ...parts, floor: margin + sum(tokens) + sum(parts) }
}

/** Why a message is not shown; `summary`: another text stands for it. */
type LeftOutReason = OmitReason | 'summary'

type Range = Gap & { readonly reason: LeftOutReason }

/**
 * What a window leaves out, as ranges in the log's order, each with a reason. It is `window` for
 * all that is older than the first entry that the window needs or is of an older round, and for
 * results of cut steps; of these, a summary covers what was there when it was written. So the
 * account is the same whether those entries are in memory (`rows`) or not (`gaps`).
 */
export function leftOut(
  gaps: readonly Gap[],
  { conversation: { units, unshown, loose }, rows }: Pick<Slice, 'conversation' | 'rows'>,
  window: Window,
  covered: (ordinal: number) => boolean,
): { readonly covers: SummaryUse['covers']; readonly omitted: readonly Omitted[] } {
  const { from } = window
  const ranges: Range[] = gaps.map((gap) => ({ ...gap, reason: covered(gap.last) ? 'summary' : 'window' }))
  // Mostly nothing that is in memory is left out.
  if (from !== (window.opener ? 1 : 0) || unshown.length > 0 || loose.length > 0) {
    const start = units[from]
    const cutRound = start && start.row.id !== start.round ? start.round : undefined
    const shown = new Set(window.units.flatMap((unit) => [unit.row, ...unit.results.map(({ row }) => row)]))
    const oldest = firstNeeded(rows, window)?.ordinal ?? Infinity
    const older = ({ ordinal }: LogRow): LeftOutReason => (covered(ordinal) ? 'summary' : 'window')
    const reasons = new Map<LogRow, LeftOutReason>()
    for (const { row, reason, opened } of unshown) {
      const isOlder = row.ordinal < oldest || (row.round !== cutRound && opened < oldest)
      const isCut = row.round === cutRound && (reason === 'orphan' || reason === 'duplicate')
      reasons.set(row, isOlder || isCut ? older(row) : reason)
    }
    for (const row of rows)
      if (row.kind === 'message' && !shown.has(row) && !reasons.has(row)) reasons.set(row, older(row))
    for (const [{ id, ordinal }, reason] of reasons)
      ranges.push({ from: id, to: id, first: ordinal, last: ordinal, reason })
  }
  const covers: SummaryUse['covers'][number][] = []
  const omitted: Omitted[] = []
  for (const { from, to, first, last, reason } of mergedRanges(ranges)) {
    const range = { from, to, count: last - first + 1 }
    if (reason === 'summary') covers.push(range)
    else omitted.push({ ...range, reason })
  }
  return { covers, omitted }
}

function mergedRanges(ranges: readonly Range[]): readonly Range[] {
  const merged: Range[] = []
  for (const range of [...ranges].sort((a, b) => a.first - b.first)) {
    const open = merged.at(-1)
    if (open && open.last === range.first - 1 && open.reason === range.reason)
      merged[merged.length - 1] = { ...open, to: range.to, last: range.last }
    else merged.push(range)
  }
  return merged
}
