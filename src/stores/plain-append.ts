import type { SealedOp } from '../ports/op.ts'
import type { Decision, LogRow, Rows } from '../ports/store.ts'
import type { LogTail } from './log-tail.ts'

/** What ops may name, where they name nothing that is there. */
export const NOTHING_NAMED: Omit<Rows, 'head' | 'entries' | 'emptiedAt' | 'replica'> = {
  results: new Map(),
  registers: new Map(),
  deleted: new Set(),
  dependents: new Map(),
}

/**
 * The rows by which plain appends are decided whose ops and messages are all new: the messages that
 * opened their rounds, where those are not among them. Nothing for other ops, for those that name
 * attachments, and where a round is not in memory.
 */
export function rowsIfNew(
  ops: readonly SealedOp[],
  known: Pick<Rows, 'head' | 'emptiedAt' | 'replica'>,
  tail: LogTail | undefined,
): Rows | undefined {
  const entries = new Map<string, LogRow>()
  const own = new Set<string>()
  for (const { envelope } of ops) {
    const { kind, ids, round, attachments } = envelope
    if (kind !== 'append' || attachments || round === undefined) return undefined
    for (const id of ids) own.add(id)
    const opener = own.has(round) ? undefined : tail?.find(round)
    if (opener) entries.set(opener.id, opener)
    else if (!own.has(round)) return undefined
  }
  return { ...NOTHING_NAMED, ...known, entries }
}

/** Whether a decision has nothing but rows of the log, and what waits for a home. */
export function isAppend(decision: Decision): boolean {
  const { erase, log, registers, unlisted, listed, sums, emptied, marks, refused, used, replica } = decision
  const others = [registers, unlisted, listed, emptied, marks, refused, used]
  return (
    log.length > 0 && !erase && sums.size === 0 && !replica?.rebase && !others.some(({ length }) => length)
  )
}
