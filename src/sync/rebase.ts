import { SECRET } from '../kernel/context/secret.ts'
import { decide, reindexed, replay } from '../kernel/log/decide.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Name } from '../ports/op.ts'
import {
  type Decision,
  type Head,
  isEntry,
  type LogRow,
  type MarkRow,
  type RegisterRow,
  type Rows,
} from '../ports/store.ts'
import { hashText } from '../text/hash.ts'
import { knownOp } from './known-op.ts'
import type { Before, Confirmed, Held, ReplicaState, Waiting, WholeOp } from './state.ts'
import { waitingOf, withOlder } from './write.ts'

/** What is confirmed under all that waits: of each place, what the first that wrote there found. */
export interface AllBefore {
  readonly registers: ReadonlyMap<string, RegisterRow | null>
  readonly marks: ReadonlyMap<string, MarkRow | null>
}

export function beforeAll(waiting: readonly { readonly before?: Before }[]): AllBefore {
  const all = waiting.toReversed().flatMap(({ before }) => before ?? [])
  return {
    registers: new Map(all.flatMap(({ registers }) => registers.toReversed())),
    marks: new Map(all.flatMap(({ marks }) => marks.toReversed())),
  }
}

/** What was read, as it was before all that waits. */
export function takenBack(rows: Rows, at: Confirmed, before: AllBefore, waited: readonly Waiting[]): Rows {
  const isHere = ({ seq }: { readonly seq: number }) => seq <= at.seq
  const pending = new Set<Name>([
    ...[...before.registers.keys()].map((key): Name => `register:${key}`),
    ...waited.flatMap(({ envelope: { kind, ids } }) =>
      kind === 'put' ? [] : ids.map((id): Name => `entry:${id}`),
    ),
  ])
  const registers = overlaid(rows.registers, before.registers)
  const { first: _, ...head } = rows.head
  const emptied = new Set(waited.flatMap((one) => one.emptied ?? []))
  return {
    ...rows,
    head: { ...head, ...at, marks: overlaid(rows.head.marks, before.marks) },
    results: new Map([...rows.results].filter(([, one]) => one.status === 'accepted' && isHere(one))),
    entries: new Map([...rows.entries].filter(([, row]) => isHere(row))),
    registers,
    deleted: new Set([...rows.deleted].filter((name) => !emptied.has(name))),
    dependents: relations(rows.dependents, pending, [...before.registers.values()].flatMap(sourcesOf)),
  }
}

/** What was read, once a decision is written. */
export function advanced(rows: Rows, { log, registers, marks, emptied }: Decision): Rows {
  const last = log.at(-1)
  const first = rows.head.first ?? log.find(({ kind }) => kind === 'message')?.id
  const head: Head = {
    ...rows.head,
    seq: last?.seq ?? rows.head.seq,
    ordinal: last?.ordinal ?? rows.head.ordinal,
    ...(first !== undefined && { first }),
    marks: new Map([...rows.head.marks, ...marks.map((mark) => [mark.slot, mark] as const)]),
  }
  const entries = log.filter(isEntry)
  return {
    ...rows,
    head,
    entries: new Map([...rows.entries, ...entries.map((row) => [row.id, row] as const)]),
    registers: new Map([...rows.registers, ...registers.map((row) => [row.key, row] as const)]),
    deleted: new Set([...rows.deleted, ...emptied]),
    dependents: relations(rows.dependents, new Set(registers.map(({ key }): Name => `register:${key}`)), [
      ...entries.flatMap(linksOf),
      ...registers.flatMap(sourcesOf),
    ]),
    ...(emptied.length > 0 && { emptiedAt: head.seq }),
  }
}

type Link = readonly [source: Name, name: Name]

export function sourcesOf(row: RegisterRow | null): readonly Link[] {
  return (row?.sources ?? []).map((source) => [source, `register:${row?.key}`])
}

function linksOf({ id, sources = [] }: LogRow): readonly Link[] {
  return sources.map((source) => [source, `entry:${id}`])
}

/** What names what as a source: without what some names had, and with what they have now. */
export function relations(
  dependents: Rows['dependents'],
  changed: ReadonlySet<Name>,
  links: readonly Link[],
): Rows['dependents'] {
  const all = new Map(
    [...dependents].map(([source, names]) => [source, names.filter((name) => !changed.has(name))]),
  )
  for (const [source, name] of links) all.set(source, [...(all.get(source) ?? []), name])
  return all
}

/** Ops that the home accepted, decided here as there. */
export function follow(ops: readonly WholeOp[], rows: Rows): Decision {
  const decision = replay(ops.map(knownOp), rows, true)
  const failed = decision.results.findIndex((result) => result.status !== 'accepted' || result.repeated)
  if (failed >= 0) throw misfit(`op ${ops[failed]?.envelope.opId} does not go with it`)
  const registers = withOlder(ops, rows, decision)
  return { ...decision, registers: [...registers, ...besides(ops, decision, () => true)] }
}

/** Registers that are written beside ops. */
function besides(
  ops: readonly WholeOp[],
  { log }: Decision,
  isWritten: (op: WholeOp) => boolean,
): readonly RegisterRow[] {
  return ops.flatMap((op) => {
    const { opId } = op.envelope
    const row = log.find((one) => one.opId === opId)
    if (!row || !op.beside || !isWritten(op)) return []
    return op.beside.map(({ key, body }) => ({ key, version: opId, seq: row.seq, body }))
  })
}

interface Again {
  readonly decision: Decision
  readonly waiting: readonly Waiting[]
  readonly state: ReplicaState
}

/**
 * What waits, decided again behind what was not there before.
 *
 * @param before as it was until now, with what has arrived
 * @param deleted what was deleted here until now
 */
export function decideAgain(
  held: readonly Held[],
  rows: Rows,
  state: ReplicaState,
  before: readonly Waiting[],
  deleted: ReadonlySet<Name>,
): Again {
  const again = decideOnce(held, rows, state)
  const gone = new Set([...rows.deleted, ...again.decision.emptied])
  const names = before.flatMap(({ envelope, emptied = [] }) =>
    emptied.flatMap((target) =>
      gone.has(target) || !deleted.has(target)
        ? []
        : { target, opId: `gone/${hashText(JSON.stringify([envelope.opId, target]))}` },
    ),
  )
  if (names.length === 0) return again
  // What went with a delete here stays deleted, and goes elsewhere too: by a delete of its own. Its
  // name begins as none of an entry's op does, which a home would refuse, and is no other device's
  // for another target.
  const deletes = names.map(({ target, opId }, index): Held => {
    const envelope = { opId, kind: 'delete', ids: [], target } as const
    return { waiting: { order: state.last + 1 + index, envelope }, op: { envelope, bodies: [] } }
  })
  return decideOnce([...held, ...deletes], rows, { ...state, last: state.last + deletes.length })
}

function decideOnce(held: readonly Held[], rows: Rows, state: ReplicaState): Again {
  const ops = held.map(({ op }) => op)
  const decided = decide(ops.map(knownOp), rows)
  const hasSecret = rows.registers.get(SECRET)?.body != null
  const registers = besides(ops, decided, ({ envelope }) => envelope.kind === 'delete' || !hasSecret)
  const decision = { ...decided, registers: [...decided.registers, ...registers] }
  const fresh = new Map(
    waitingOf(ops.map(knownOp), rows, decision, state, true).map((one) => [one.envelope.opId, one]),
  )
  const waiting = held.map(({ waiting, op }): Waiting => {
    const { order, envelope, beside } = waiting
    const now = fresh.get(envelope.opId)
    const lasting = { order, envelope, ...(beside && { beside }) }
    // What has no row in the log now is nowhere else.
    return now ? { ...now, ...lasting } : { ...lasting, bodies: op.bodies }
  })
  return { decision, waiting, state }
}

/** Two decisions, one after the other, as one that is written over what is here. */
export function joined(rows: Rows, before: AllBefore, one: Decision, other: Decision) {
  const emptied = new Set([...one.emptied, ...other.emptied])
  const { unrecorded = Number.POSITIVE_INFINITY } = other
  const log = [...one.log, ...other.log].map((row): LogRow => {
    const { derived: _, ...rest } = row
    const left = isEntry(row) && emptied.has(`entry:${row.id}`) ? { ...rest, body: null } : row
    return left.contexts && left.seq > unrecorded ? { ...left, contexts: [] } : left
  })
  const final = new Map<string, RegisterRow | null>([
    ...before.registers,
    ...[...one.registers, ...other.registers].map((row) => [row.key, row] as const),
  ])
  const marks = new Map<string, MarkRow | null>([
    ...before.marks,
    ...[...one.marks, ...other.marks].map((mark) => [mark.slot, mark] as const),
  ])
  const places = new Map(
    [...final].map(([key, row]) => [key, row ?? { key, version: '', seq: 0, body: null }] as const),
  )
  const since = Math.min(unrecorded, one.unrecorded ?? Number.POSITIVE_INFINITY)
  return {
    results: [],
    erase: false,
    log,
    registers: [...final.values()].flatMap((row) => row ?? []),
    ...reindexed(rows, places),
    emptied: [...emptied],
    ...(since < Number.POSITIVE_INFINITY && { unrecorded: since }),
    marks: [...marks.values()].flatMap((mark) => mark ?? []),
    refused: [],
    used: [...one.used, ...other.used],
    gone: { registers: without(final), slots: without(marks) },
  }
}

function without(map: ReadonlyMap<string, unknown>): string[] {
  return [...map].flatMap(([key, value]) => (value === null ? [key] : []))
}

/** A map with other values, `null` for those that are not there. */
function overlaid<Value>(
  map: ReadonlyMap<string, Value>,
  over: ReadonlyMap<string, Value | null>,
): ReadonlyMap<string, Value> {
  const all = new Map<string, Value | null>([...map, ...over])
  return new Map([...all].flatMap(([key, value]) => (value === null ? [] : [[key, value] as const])))
}

export function misfit(reason: string): PlimsollError {
  return new PlimsollError('ERR_STORAGE', `sync: a page of the home does not follow the log: ${reason}`)
}
