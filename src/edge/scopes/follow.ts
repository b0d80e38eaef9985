import { decide } from '../../core/decide.ts'
import type { SealedOp } from '../../ports/op.ts'
import type { Decision, LogRow, RegisterRow, Rows } from '../../ports/store.ts'

/** What was decided elsewhere, to be written as it is. */
export interface Followed {
  /** Whether the scope is emptied first. Default: false. */
  readonly erase?: boolean
  readonly log?: readonly LogRow[]
  readonly registers?: readonly RegisterRow[]
  readonly marks?: Decision['marks']
  readonly emptied?: readonly string[]
  readonly used?: readonly string[]
}

/** Ops that make a store read what {@link followed} needs: the registers of these keys, and the head. They are never written. */
export function carriers(keys: Iterable<string>): readonly SealedOp[] {
  const ops = Array.from(keys, (key) => carrier(key, { key }))
  return ops.length > 0 ? ops : [carrier('')]
}

/**
 * The decision that writes rows of another home as they are: what changes of indexes and sums follows from the registers that are there.
 *
 * @param rows what {@link carriers} of these registers read
 */
export function followed(
  rows: Rows,
  { erase = false, log = [], registers = [], marks = [], emptied = [], used = [] }: Followed,
): Decision {
  const before = erase ? new Map<string, RegisterRow>() : rows.registers
  const changed = registers.filter((row) => !isSame(before.get(row.key), row))
  // What the core would make of these puts says which places come and go; whatever else it says is known already.
  const { unlisted, listed, sums } = decide(
    changed.map((row) => putOf(row, before.get(row.key))),
    {
      head: rows.head,
      results: new Map(),
      entries: new Map(),
      registers: before,
      deleted: new Set(),
      dependents: new Map(),
    },
  )
  return {
    results: [],
    erase,
    log,
    registers: changed,
    unlisted,
    listed,
    sums,
    emptied,
    marks,
    refused: [],
    used,
  }
}

function isSame(before: RegisterRow | undefined, { version, seq }: RegisterRow): boolean {
  return before?.version === version && before.seq === seq
}

/** A put that leaves a register as it is in `row`. Named by its key: one delete may have written many registers. */
function putOf(
  { key, sources, index }: RegisterRow,
  before: Pick<RegisterRow, 'version'> | undefined,
): SealedOp {
  return carrier(key, {
    key,
    base: before?.version ?? null,
    ...(sources && { sources }),
    ...(index && { index }),
  })
}

function carrier(opId: string, more: Partial<SealedOp['envelope']> = {}): SealedOp {
  return { envelope: { opId, kind: 'put', ids: [], ...more }, bodies: [] }
}
