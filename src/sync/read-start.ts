import { checkReadable } from '../kernel/log/bodies.ts'
import { nothingWritten } from '../kernel/log/decide.ts'
import { readEntry } from '../kernel/log/entries.ts'
import type { SealedOp } from '../ports/op.ts'
import type { Head, LogRow, MarkRow, RegisterRow, ScopeStore } from '../ports/store.ts'
import type { LogStart } from '../ports/sync.ts'
import { utf8Length } from '../ports/utf8-length.ts'
import { asking } from './replica.ts'

/**
 * What a home's log comes to at a seq.
 *
 * @param since see `HomeState.since`
 * @param at that seq, as the log has it
 * @param page messages up to there, and the newest head
 * @param waiting see `PullRequest.waiting`
 * @param bytes most bytes of it, as JSON
 * @returns nothing where it has more; `left`: how many are left
 * @throws ERR_DECRYPT: what cannot be read must not be taken for what was forgotten
 */
export async function readStart(
  scope: ScopeStore,
  since: number,
  at: number,
  { ordinal, head }: { readonly ordinal: number; readonly head: Head },
  waiting: readonly string[] = [],
  bytes: number,
): Promise<{ readonly start: LogStart; readonly left: number } | undefined> {
  if (at === since) return { start: { ordinal, registers: [], marks: [], arrived: [] }, left: bytes }
  const relative = <Row extends { readonly seq: number }>(row: Row): Row => ({ ...row, seq: row.seq - since })
  const arrived = await acceptedOf(scope, waiting, at)
  const first = ordinal > 0 ? head.first : undefined
  const marks: MarkRow[] = []
  for (const mark of head.marks.values()) {
    const found = await markAt(scope, mark, at)
    if (found) marks.push(relative(found))
  }
  const registers: RegisterRow[] = []
  const start = { ordinal, ...(first !== undefined && { first }), registers, marks, arrived }
  let left = bytes - bytesOf(start)
  for (let after: string | undefined; ; ) {
    const page = await scope.registers('', after)
    after = page.at(-1)?.key
    for (const row of page.filter(({ seq }) => seq <= at)) {
      checkReadable(row)
      const found = relative(row)
      registers.push(found)
      // And the comma.
      left -= bytesOf(found) + 1
    }
    if (left < 0) return undefined
    if (after === undefined) break
  }
  return { start, left }
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
