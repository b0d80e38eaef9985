import type { Envelope, IndexEntry, Op, OpResult, RejectReason, SealedOp } from '../../ports/op.ts'
import type {
  Decide,
  Decision,
  Head,
  IndexRow,
  LogRow,
  MarkRow,
  RegisterRow,
  Rows,
  Sum,
} from '../../ports/store.ts'

/** The head of a scope that holds nothing. */
export const EMPTY_HEAD: Head = { seq: 0, ordinal: 0, marks: new Map() }

/** The slot in which marks of one kind and lane replace each other; rewinds have none, they are a set. */
export function slotOf(mark: Envelope['mark'], lane: string | undefined): string | undefined {
  return mark === undefined || mark === 'rewind' ? undefined : `${mark}/${lane ?? ''}`
}

/**
 * What a batch of ops does to a scope, given the rows that the ops name. Pure; sees envelopes only. Ops take effect in
 * order, each seeing the ones before it; a conflict or a rejection changes nothing and stops nothing.
 */
export const decide: Decide = (ops, rows) => {
  const draft = draftOf(rows)
  const results = ops.map((op) => take(draft, op))
  const { erase, log, registers, emptied, marks, refused, used } = draft
  return {
    results,
    erase,
    log: log.map((row) => (isDeleted(draft, row.id) ? withoutBody(row) : row)),
    registers: [...registers.values()],
    ...reindexed(draft),
    emptied: [...emptied],
    marks: [...marks.values()],
    refused,
    used: [...used],
  }
}

const NO_ROWS: Rows = {
  head: EMPTY_HEAD,
  results: new Map(),
  entries: new Map(),
  registers: new Map(),
  deleted: new Set(),
  dependents: new Map(),
}

/** A decision that leaves the scope as it is. */
export function nothingWritten(results: readonly OpResult[]): Decision {
  return { ...decide([], NO_ROWS), results }
}

/** The rows as they would be after the ops taken so far: those that were read, and what is written over them. */
type Draft = ReturnType<typeof draftOf>

function draftOf(rows: Rows) {
  return {
    rows,
    seq: rows.head.seq,
    ordinal: rows.head.ordinal,
    erase: false,
    /** With the bodies of what is deleted, until the decision. */
    log: [] as LogRow[],
    entries: new Map<string, LogRow>(),
    registers: new Map<string, RegisterRow>(),
    marks: new Map<string, MarkRow>(),
    results: new Map<string, OpResult>(),
    refused: [] as { opId: string; result: OpResult }[],
    /** Names that are deleted from now on. */
    emptied: new Set<string>(),
    used: new Set<string>(),
  }
}

const RULES: { readonly [kind in Op['kind']]: (draft: Draft, op: SealedOp) => OpResult } = {
  append,
  mark,
  put,
  delete: remove,
  erase,
}

function take(draft: Draft, op: SealedOp): OpResult {
  const { opId, kind } = op.envelope
  const before = draft.results.get(opId) ?? draft.rows.results.get(opId)
  if (before) return { ...before, repeated: true }
  const result = RULES[kind](draft, op)
  draft.results.set(opId, result)
  if (result.status !== 'accepted') draft.refused.push({ opId, result })
  return result
}

function append(draft: Draft, { envelope, bodies, derived }: SealedOp): OpResult {
  const { opId, ids, round, attachments = [] } = envelope
  if (new Set(ids).size < ids.length || ids.some((id) => entryOf(draft, id))) return rejected('duplicate-id')
  if (round === undefined || (round !== ids[0] && entryOf(draft, round)?.round !== round))
    return rejected('unknown-round')
  const seq = ++draft.seq
  ids.forEach((id, place) => {
    const ordinal = ++draft.ordinal
    const body = bodies[place] ?? null
    const column = derived?.[place]
    const row = { seq, place, kind: 'message', id, opId, ordinal, round, body } as const
    write(draft, column === undefined ? row : { ...row, derived: column })
  })
  for (const id of attachments) draft.used.add(id)
  return accepted(seq)
}

function mark(draft: Draft, { envelope, bodies }: SealedOp): OpResult {
  const { opId, ids, mark: kind = 'rewind', lane, base = null, sources } = envelope
  const id = ids[0] as string
  if (entryOf(draft, id)) return rejected('duplicate-id')
  const slot = slotOf(kind, lane)
  const current = slot === undefined ? undefined : (draft.marks.get(slot) ?? draft.rows.head.marks.get(slot))
  const applied = slot === undefined || base === (current?.id ?? null)
  const seq = ++draft.seq
  const chained = slot !== undefined && applied && { chain: (current?.chain ?? 0) + 1 }
  if (chained) draft.marks.set(slot, { slot, id, seq, ...chained })
  arrivesDeleted(draft, id, sources)
  write(draft, {
    ...{ seq, place: 0, kind, id, opId, ordinal: draft.ordinal, base, applied, body: bodies[0] ?? null },
    ...(lane !== undefined && { lane }),
    ...chained,
    ...(sources && { sources }),
  })
  return accepted(seq, applied)
}

function put(draft: Draft, { envelope, bodies }: SealedOp): OpResult {
  const { opId, key = '', base = null, sources, index } = envelope
  if (isDeleted(draft, key)) return rejected('deleted')
  const version = registerOf(draft, key)?.version ?? null
  if (base !== version) return { status: 'conflict', version }
  const seq = record(draft, 'put', key, opId)
  const row = { key, version: opId, seq, body: null }
  const listed = { ...(sources && { sources }), ...(index && { index }) }
  const isForgotten = arrivesDeleted(draft, key, sources)
  draft.registers.set(key, isForgotten ? row : { ...row, ...listed, body: bodies[0] ?? null })
  return accepted(seq)
}

function remove(draft: Draft, { envelope: { opId, target = '' } }: SealedOp): OpResult {
  const seq = record(draft, 'delete', target, opId)
  // What names it as a source goes with it, and in turn what names that.
  const names = new Set([target])
  for (const name of names) for (const dependent of naming(draft, name)) names.add(dependent)
  for (const name of names) {
    draft.emptied.add(name)
    if (registerOf(draft, name)) draft.registers.set(name, { key: name, version: opId, seq, body: null })
  }
  return accepted(seq)
}

/** Nothing is left but the count of ops, and what is known of attachments. */
function erase(draft: Draft, { envelope: { opId } }: SealedOp): OpResult {
  const { seq, used } = draft
  Object.assign(draft, draftOf(NO_ROWS), { erase: true, seq, used })
  return accepted(record(draft, 'erase', opId, opId))
}

function accepted(seq: number, applied = true): OpResult {
  return { status: 'accepted', seq, applied }
}

function rejected(reason: RejectReason): OpResult {
  return { status: 'rejected', reason }
}

function write(draft: Draft, row: LogRow): void {
  draft.log.push(row)
  draft.entries.set(row.id, row)
}

/** Writes the row of an op that has no entry. @returns its seq */
function record(draft: Draft, kind: 'put' | 'delete' | 'erase', id: string, opId: string): number {
  const seq = ++draft.seq
  draft.log.push({ seq, place: 0, kind, id, opId, ordinal: draft.ordinal, body: null })
  return seq
}

function entryOf({ entries, rows }: Draft, id: string): LogRow | undefined {
  return entries.get(id) ?? rows.entries.get(id)
}

function registerOf({ registers, rows }: Draft, key: string): RegisterRow | undefined {
  return registers.get(key) ?? rows.registers.get(key)
}

function isDeleted({ emptied, rows }: Draft, name: string): boolean {
  return emptied.has(name) || rows.deleted.has(name)
}

/**
 * Whether a mark or register that is written now is deleted as it arrives: because it was deleted itself, or because it
 * derives from what was. Then what derives from it is too.
 */
function arrivesDeleted(draft: Draft, name: string, sources: readonly string[] = []): boolean {
  const isGone = [name, ...sources].some((one) => isDeleted(draft, one))
  if (isGone) draft.emptied.add(name)
  return isGone
}

/** What names `source` as a source: in the store, unless it was written over since, and among the rows of this batch. */
function naming({ rows, log, registers }: Draft, source: string): readonly string[] {
  const isFrom = ({ sources }: Pick<LogRow, 'sources'>) => sources?.includes(source)
  return [
    ...(rows.dependents.get(source) ?? []).filter((name) => !registers.has(name)),
    ...log.filter(isFrom).map(({ id }) => id),
    ...[...registers.values()].filter(isFrom).map(({ key }) => key),
  ]
}

function withoutBody({ derived: _, ...row }: LogRow): LogRow {
  return { ...row, body: null }
}

/** How the places and weights of the registers that are written differ from those that they had. */
function reindexed({ rows, registers }: Draft): Pick<Decision, 'unlisted' | 'listed' | 'sums'> {
  const unlisted: IndexRow[] = []
  const listed: IndexRow[] = []
  const sums = new Map<string, Sum>()
  for (const [key, { index: after = [] }] of registers) {
    const before = rows.registers.get(key)?.index ?? []
    unlisted.push(...placesOf(key, before, after))
    listed.push(...placesOf(key, after, before))
    for (const entry of before) add(sums, entry, -1)
    for (const entry of after) add(sums, entry, 1)
  }
  for (const [group, { count, weight }] of sums) if (count === 0 && weight === 0) sums.delete(group)
  return { unlisted, listed, sums }
}

/** Where an index lists a register and the other one does not; each place once, however often the index says so. */
function placesOf(key: string, index: readonly IndexEntry[], other: readonly IndexEntry[]): IndexRow[] {
  return index.flatMap(({ group, order }, at) => {
    const isHere = (one: IndexEntry) => one.group === group && one.order === order
    return order === undefined || index.findIndex(isHere) < at || other.some(isHere)
      ? []
      : { group, order, key }
  })
}

function add(sums: Map<string, Sum>, { group, weight }: IndexEntry, sign: 1 | -1): void {
  if (weight === undefined) return
  const sum = sums.get(group) ?? { count: 0, weight: 0 }
  sums.set(group, { count: sum.count + sign, weight: sum.weight + sign * weight })
}
