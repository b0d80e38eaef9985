import { nothingWritten } from '../../kernel/log/decide.ts'
import { carriers, followed } from '../../operations/transfer/follow.ts'
import type { LogRow, ScopeStore } from '../../ports/store.ts'
import type { Collected } from './collect.ts'
import { type Place, START } from './pull.ts'

/** What was pulled, and where the replica stood then. */
export interface PullContext {
  readonly since: Place
  /** Whether the replica knew by then what was deleted before its first pull. */
  readonly wasWhole: boolean
  /** Keys that were asked about. */
  readonly names: readonly string[]
}

/**
 * Ids of the one row that each pull writes to the replica's log: whether it also knows what was
 * deleted before its first pull.
 */
const WHOLE = 'replica/whole'
const PART = 'replica/part'

/** Where a replica stands. */
export async function placeOf(local: ScopeStore): Promise<Place & { readonly isWhole: boolean }> {
  const { seq } = await local.head()
  const marker = (await local.changesSince(seq - 1)).rows.at(-1)
  if (!marker) return { ...START, isWhole: true }
  return { seq: marker.seq, opId: marker.opId, isWhole: marker.id === WHOLE }
}

/**
 * Writes what was collected, in one transaction. False, where another call moved the replica in
 * between, so that what it adds is not known: then nothing was written.
 */
export async function applyPull(
  local: ScopeStore,
  { since, wasWhole, names }: PullContext,
  { isReset, isWhole, rows, place }: Collected,
): Promise<boolean> {
  const registers = [...rows.values()]
  // Whether what is here now knows what was deleted before: another call may have restarted it
  // since.
  let base = { seq: since.seq, isWhole: wasWhole }
  for (;;) {
    let isDone = true
    let isMoved = false
    await local.commit(carriers({ registers }), (ops, read) => {
      const { seq } = read.head
      // What changed up to a place holds for all that stand before it.
      const fits = seq === since.seq || (seq > since.seq && seq < place.seq)
      isDone = fits || (!isReset && seq >= place.seq && names.length === 0)
      isMoved = fits && seq !== base.seq
      if (!fits || isMoved || (seq === 0 && place.seq === 0)) return nothingWritten([])
      const isNew = isReset || place.seq > seq
      const log = isNew ? [markerOf(place, isReset ? isWhole : base.isWhole)] : []
      // Where nothing was, nothing is to be removed.
      return followed(ops, read, { erase: isReset && seq > 0, log, registers })
    })
    if (!isMoved) return isDone
    base = await placeOf(local)
  }
}

function markerOf({ seq, opId }: Place, isWhole: boolean): LogRow {
  return { seq, place: 0, kind: 'put', id: isWhole ? WHOLE : PART, opId, ordinal: 0, body: null }
}
