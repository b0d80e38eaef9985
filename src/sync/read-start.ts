import { checkReadable } from '../kernel/log/bodies.ts'
import { nothingWritten } from '../kernel/log/decide.ts'
import { readEntry } from '../kernel/log/entries.ts'
import type { SealedOp } from '../ports/op.ts'
import type { LogRow, MarkRow, ScopeStore } from '../ports/store.ts'
import type { LogStart } from '../ports/sync.ts'
import { readRegisters } from './read.ts'
import { asking } from './replica.ts'

/**
 * What a home's log comes to at a seq.
 *
 * @param since see `HomeState.since`
 * @param from a seq as replicas count them
 * @param waiting see `PullRequest.waiting`
 * @throws ERR_DECRYPT: what cannot be read must not be taken for what was forgotten
 */
export async function readStart(
  scope: ScopeStore,
  since: number,
  from: number,
  waiting: readonly string[] = [],
): Promise<LogStart> {
  if (from === 0) return { ordinal: 0, registers: [], marks: [], arrived: [] }
  const at = since + from
  const { rows, head } = await scope.changesSince(at - 1)
  const { ordinal = 0 } = rows.findLast(({ seq }) => seq === at) ?? {}
  const registers = [...(await readRegisters(scope)).values()].filter(({ seq }) => seq <= at)
  for (const row of registers) checkReadable(row)
  const marks: MarkRow[] = []
  for (const mark of head.marks.values()) {
    const found = await markAt(scope, mark, at)
    if (found) marks.push(found)
  }
  const relative = <Row extends { readonly seq: number }>(row: Row): Row => ({ ...row, seq: row.seq - since })
  return {
    ordinal,
    ...(ordinal > 0 && head.first !== undefined && { first: head.first }),
    registers: registers.map(relative),
    marks: marks.map(relative),
    arrived: await acceptedOf(scope, waiting, at),
  }
}

/** The mark of a slot that was current at a seq: from the newest one back, each names the last. */
async function markAt(scope: ScopeStore, newest: MarkRow, at: number): Promise<MarkRow | undefined> {
  let mark: MarkRow | undefined = newest
  while (mark && mark.seq > at) {
    const { base }: Partial<LogRow> = (await readEntry(scope, mark.id)) ?? {}
    const row: LogRow | undefined = base == null ? undefined : await readEntry(scope, base)
    mark = row && { slot: mark.slot, id: row.id, seq: row.seq, chain: row.chain ?? 0 }
  }
  return mark
}

/** Which of these ops were accepted up to a seq. */
async function acceptedOf(scope: ScopeStore, opIds: readonly string[], at: number): Promise<string[]> {
  if (opIds.length === 0) return []
  let accepted: string[] = []
  const ops = opIds.map((opId): SealedOp => ({ ...asking(''), envelope: { ...asking('').envelope, opId } }))
  await scope.commit(ops, (_, { results }) => {
    accepted = opIds.filter((opId) => {
      const result = results.get(opId)
      return result?.status === 'accepted' && result.seq <= at
    })
    return nothingWritten([])
  })
  return accepted
}
