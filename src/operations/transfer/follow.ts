import { decide } from '../../kernel/log/decide.ts'
import type { IndexEntry, MarkKind, Name, SealedOp } from '../../ports/op.ts'
import { type Decision, isEntry, type LogRow, type RegisterRow, type Rows } from '../../ports/store.ts'

/** What was decided elsewhere, to be written as it is. */
export interface Followed {
  /** Whether the scope is emptied first. Default: false. */
  readonly erase?: boolean
  readonly log?: readonly LogRow[]
  readonly registers?: readonly RegisterRow[]
  readonly marks?: Decision['marks']
  readonly emptied?: readonly Name[]
  readonly used?: readonly string[]
}

/**
 * Ops that carry what {@link followed} writes through a store: the bodies and derived columns of
 * rows, each under the op and the id that it has, and the keys of registers, which the store reads,
 * with their places in indexes. Their kinds, ids and sources are those of the ops that wrote the
 * rows first, so that a store which seals bodies for what they are can do so. They are never
 * written themselves.
 */
export function carriers({
  log = [],
  registers = [],
}: Pick<Followed, 'log' | 'registers'>): readonly SealedOp[] {
  const ops = registers.map(({ key, version, sources, index, body }) =>
    carrier(
      version,
      { key, ids: body === null ? [] : [key], ...(sources && { sources }), ...(index && { index }) },
      body,
    ),
  )
  // One that is no append: what is written is not what plain appends would write.
  return [...carriersOf(log), ...(ops.length > 0 ? ops : [carrier('')])]
}

/**
 * The decision that writes rows of another home as they are: what changes of indexes and sums
 * follows from the registers that are there. Bodies, derived columns and places in indexes are
 * those of the ops, whatever the rows say: a store in between may have sealed them.
 *
 * @param ops what became of the {@link carriers} of these rows and registers
 * @param rows what they read
 */
export function followed(
  ops: readonly SealedOp[],
  rows: Rows,
  { erase = false, log = [], registers = [], marks = [], emptied = [], used = [] }: Followed,
): Decision {
  const before = erase ? new Map<string, RegisterRow>() : rows.registers
  const carried = carriedBy(ops)
  const changed = registers
    .filter((row) => !isSame(before.get(row.key), row))
    .map((row) => placed(row, carried))
  // What the core would make of these puts says which places come and go; whatever else it says is
  // known already.
  const { unlisted, listed, sums } = decide(
    changed.map((row) => putOf(row, before.get(row.key))),
    {
      head: rows.head,
      results: new Map(),
      entries: new Map(),
      registers: before,
      deleted: new Set(),
      dependents: new Map(),
      emptiedAt: 0,
    },
  )
  return {
    results: [],
    erase,
    log: log.map((row) => filled(row, carried)),
    registers: changed,
    unlisted,
    listed,
    sums,
    emptied,
    ...(emptied.length > 0 && { unrecorded: 0 }),
    marks,
    refused: [],
    used,
  }
}

interface Carried {
  readonly body: string | null | undefined
  readonly derived: string | undefined
  readonly index: readonly IndexEntry[] | undefined
}

/** One op for the entries of each op that have bodies. */
function carriersOf(log: readonly LogRow[]): readonly SealedOp[] {
  const byOp = new Map<string, LogRow[]>()
  for (const row of log) {
    if (!isEntry(row) || row.body === null) continue
    const rows = byOp.get(row.opId)
    if (rows) rows.push(row)
    else byOp.set(row.opId, [row])
  }
  return Array.from(byOp, ([opId, rows]): SealedOp => {
    const [{ kind, round, base, lane, sources }] = rows as [LogRow]
    const isMessage = kind === 'message'
    return {
      envelope: {
        opId,
        kind: isMessage ? 'append' : 'mark',
        ids: rows.map(({ id }) => id),
        ...(!isMessage && { mark: kind as MarkKind }),
        ...(round !== undefined && { round }),
        ...(base !== undefined && { base }),
        ...(lane !== undefined && { lane }),
        ...(sources && { sources }),
      },
      bodies: rows.map(({ body }) => body as string),
      places: rows.map(({ place }) => place),
      ...(isMessage && { derived: rows.map(({ derived }) => derived) }),
    }
  })
}

function carriedBy(ops: readonly SealedOp[]): ReadonlyMap<string, Carried> {
  return new Map(
    ops.flatMap(({ envelope: { opId, ids, index }, bodies, derived }) =>
      ids.map((id, place) => [nameOf(opId, id), { body: bodies[place], derived: derived?.[place], index }]),
    ),
  )
}

/** A register as its op carries it. */
function placed(row: RegisterRow, carried: ReadonlyMap<string, Carried>): RegisterRow {
  if (row.body === null) return row
  const { body = null, index } = carried.get(nameOf(row.version, row.key)) ?? {}
  return { ...row, body, ...(row.index && { index: index ?? [] }) }
}

function filled({ derived: _, ...row }: LogRow, carried: ReadonlyMap<string, Carried>): LogRow {
  if (row.body === null) return row
  const { body = null, derived } = carried.get(nameOf(row.opId, row.id)) ?? {}
  return { ...row, body, ...(derived !== undefined && { derived }) }
}

function nameOf(opId: string, id: string): string {
  return JSON.stringify([opId, id])
}

function isSame(before: RegisterRow | undefined, { version, seq }: RegisterRow): boolean {
  return before?.version === version && before.seq === seq
}

/**
 * A put that leaves a register as it is in `row`. Named by its key: one delete may have written
 * many registers.
 */
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

/** An op that makes a store read, and carries at most one body. */
export function carrier(
  opId: string,
  more: Partial<SealedOp['envelope']> = {},
  body: string | null = null,
): SealedOp {
  return { envelope: { opId, kind: 'put', ids: [], ...more }, bodies: body === null ? [] : [body] }
}
