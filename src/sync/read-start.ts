import { checkReadable } from '../kernel/log/bodies.ts'
import { nothingWritten } from '../kernel/log/decide.ts'
import { readEntry } from '../kernel/log/entries.ts'
import type { SealedOp } from '../ports/op.ts'
import type { LogRow, MarkRow, RegisterRow, ScopeStore } from '../ports/store.ts'
import type { LogStart } from '../ports/sync.ts'
import { utf8Length } from '../ports/utf8-length.ts'
import { asking } from './replica.ts'

/**
 * What a home's log comes to at a seq.
 *
 * @param since see `HomeState.since`
 * @param from a seq as replicas count them
 * @param waiting see `PullRequest.waiting`
 * @param most bytes of it, as JSON
 * @returns nothing where it has more
 * @throws ERR_DECRYPT: what cannot be read must not be taken for what was forgotten
 */
export async function readStart(
  scope: ScopeStore,
  since: number,
  from: number,
  waiting: readonly string[],
  most: number,
): Promise<LogStart | undefined> {
  if (from === 0) return { ordinal: 0, registers: [], marks: [], arrived: [] }
  const at = since + from
  const { rows, head } = await scope.changesSince(at - 1)
  const { ordinal = 0 } = rows.findLast(({ seq }) => seq === at) ?? {}
  const relative = <Row extends { readonly seq: number }>(row: Row): Row => ({ ...row, seq: row.seq - since })
  const arrived = await acceptedOf(scope, waiting, at)
  let left = most - bytesOf(arrived)
  const marks: MarkRow[] = []
  for (const mark of head.marks.values()) {
    const found = await markAt(scope, mark, at)
    if (found) marks.push(relative(found))
  }
  left -= bytesOf(marks)
  const registers: RegisterRow[] = []
  for (let after: string | undefined; ; ) {
    const page = await scope.registers('', after)
    after = page.at(-1)?.key
    for (const row of page.filter(({ seq }) => seq <= at)) {
      checkReadable(row)
      registers.push(relative(row))
      left -= bytesOf(row)
    }
    if (left < 0) return undefined
    if (after === undefined) break
  }
  const first = ordinal > 0 ? head.first : undefined
  return { ordinal, ...(first !== undefined && { first }), registers, marks, arrived }
}

function bytesOf(value: unknown): number {
  return utf8Length(JSON.stringify(value))
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
