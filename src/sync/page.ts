import { SECRET } from '../kernel/context/secret.ts'
import {
  decide,
  EMPTY_HEAD,
  NO_ROWS,
  nothingWritten,
  reindexed,
  replay,
  slotOf,
} from '../kernel/log/decide.ts'
import { SHARED } from '../kernel/log/message.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Name, SealedOp } from '../ports/op.ts'
import {
  type Decision,
  type Head,
  isEntry,
  type LogRow,
  type MarkRow,
  type RegisterRow,
  type Rows,
} from '../ports/store.ts'
import type { SyncOp } from '../ports/sync.ts'
import { knownOp } from './known-op.ts'
import {
  type Before,
  type Confirmed,
  NO_GENERATION,
  NO_STATE,
  outboxRow,
  type ReplicaState,
  stateIn,
  type Waiting,
} from './state.ts'
import { scrub, waitingOf, withOlder, writtenBy } from './write.ts'

/** An op whole: what waits, put together with what the log holds of it. */
export interface WholeOp extends SyncOp {
  readonly derived?: SealedOp['derived']
}

export interface Held {
  readonly waiting: Waiting
  readonly op: WholeOp
}

/** Ops that the home accepted, one for each seq after the newest that was confirmed. */
export interface Page {
  /** Empty: nothing was ever written there. */
  readonly generation: string
  readonly ops: readonly WholeOp[]
  /** Seq and tok of the last of them. */
  readonly cursor: number
  readonly anchor: string
}

/**
 * Writes a page of the home's log, and what waits behind it again. Where the page is what waited,
 * in that order, only the outbox gets shorter; where nothing waits, only the log longer.
 *
 * @param held all that waits, in order, as it is under `rows.replica`
 * @param rows what a store read for the ops of both, and of the register {@link SECRET}
 * @param refused of `held`, what the home refused: it is taken back, and kept with its refusal
 * @throws ERR_STORAGE: the page does not follow the log that is here
 */
export function applyPage(
  { ops, generation, cursor, anchor }: Page,
  held: readonly Held[],
  rows: Rows,
  refused: readonly Waiting[] = [],
): Decision {
  const state = stateIn(rows.replica)
  const isRefused = new Set(refused.map(({ order }) => order))
  const same = refused.length > 0 ? 0 : sameOps(ops, held, state)
  const confirmed = held.slice(0, same).map(({ waiting }) => waiting)
  const after = held.slice(same)
  const theirs = ops.slice(same)
  const at = confirmedAfter(state, confirmed)
  const known = { ...(generation !== NO_GENERATION && { generation }), seq: cursor, anchor }
  const behind = after.map(({ waiting }) => waiting)
  const moved = movedBefore(confirmed, behind)
  const own = confirmed.flatMap((one) => one.emptied ?? [])
  const isInTheWay = rows.head.seq > at.seq && theirs.length + refused.length > 0
  if (theirs.length === 0 && !isInTheWay)
    return {
      ...nothingWritten([]),
      replica: {
        state: JSON.stringify({ ...state, ...at, ...known, ...goneOf(state, own) } satisfies ReplicaState),
        outbox: [...moved, ...refused].map(outboxRow),
        sent: confirmed.map(({ order }) => order),
      },
    }
  const arrived = new Set(theirs.map(({ envelope }) => envelope.opId))
  const left = after.filter(
    ({ waiting: { order, envelope } }) => !isRefused.has(order) && !arrived.has(envelope.opId),
  )
  const waited = [...moved, ...behind.slice(moved.length)]
  const before = beforeAll(waited)
  const base = takenBack(rows, at, before, waited)
  const followed = follow(theirs, base)
  const middle = advanced(base, followed)
  const { seq, ordinal, first } = middle.head
  if (seq !== cursor) throw misfit(`it ends with ${seq}, and not with ${cursor}`)
  const next = { ...state, ...known, ordinal, ...(first !== undefined && { first }) }
  // A delete that the home refused is to be sent no more.
  const kept = waited.filter(({ order, envelope }) => !isRefused.has(order) || envelope.kind !== 'delete')
  const again = decideAgain(left, middle, next, kept, rows.deleted)
  const { gone, ...decision } = joined(rows, before, followed, again.decision)
  const goneNow = goneOf(state, [...own, ...decision.emptied, ...linkedBy(theirs, rows, decision)])
  // What a delete of the page empties is not kept for the home either; a delete here has a secret
  // of its own.
  const isRotated = followed.registers.some(({ key }) => key === SECRET)
  const outbox = [...again.waiting, ...refused].map((one) =>
    scrub(one, followed.emptied, isRotated && one.envelope.kind !== 'delete'),
  )
  return {
    ...decision,
    replica: {
      state: JSON.stringify({ ...again.state, ...goneNow } satisfies ReplicaState),
      outbox: outbox.map(outboxRow),
      sent: sentOf(held, outbox),
      ...(isInTheWay && { rebase: { to: at, ...gone } }),
    },
  }
}

/** What the user's other scopes are still to be asked about. */
function goneOf({ gone = [] }: ReplicaState, names: readonly Name[]): Pick<ReplicaState, 'gone'> {
  const all = new Set([...gone, ...names])
  return all.size > 0 ? { gone: [...all] } : {}
}

/** Of what ops derive from: what is shown of the user's, and what was gone before they came. */
function linkedBy(
  ops: readonly WholeOp[],
  { deleted }: Rows,
  { emptied }: Pick<Decision, 'emptied'>,
): readonly Name[] {
  const gone = new Set([...deleted, ...emptied])
  return ops
    .flatMap(({ envelope }) => envelope.sources ?? [])
    .filter((source) => source.startsWith(SHARED) || gone.has(source))
}

/**
 * Empties a replica whose home was erased, but for what was written after an erase of its own: that
 * is of the new log.
 *
 * @param held as in {@link applyPage}; refused ops too, which go with the rest
 */
export function resetErased(generation: string | undefined, held: readonly Held[], rows: Rows): Decision {
  const { erasing } = stateIn(rows.replica)
  const erase = held.findIndex(({ op }) => op.envelope.kind === 'erase')
  const left = erasing ? held.slice(erase + 1).filter(({ waiting }) => !waiting.refusal) : []
  return emptied(generation, left, held, rows)
}

/** A replica that is to read all of its home's log again. What waits stays. */
export function resetAll(generation: string | undefined, held: readonly Held[], rows: Rows): Decision {
  return emptied(generation, held, held, rows)
}

function emptied(
  generation: string | undefined,
  left: readonly Held[],
  held: readonly Held[],
  rows: Rows,
): Decision {
  const { last } = stateIn(rows.replica)
  const state: ReplicaState = { ...(generation !== undefined && { generation }), ...NO_STATE, last }
  const again = decideAgain(
    left,
    emptyRows(rows),
    state,
    left.map(({ waiting }) => waiting),
    rows.deleted,
  )
  return {
    ...again.decision,
    results: [],
    refused: [],
    erase: true,
    replica: {
      state: JSON.stringify(again.state),
      outbox: again.waiting.map(outboxRow),
      sent: sentOf(held, again.waiting),
      rebase: { to: { seq: 0, ordinal: 0 }, registers: [], slots: [] },
    },
  }
}

/**
 * What waits first is to be sent again, since the home lost it, or has never seen it: nothing
 * changes in the log.
 *
 * @param recovered as `recoveredFrom` gives them, of all rows that were confirmed
 */
export function resetDiverged(
  generation: string | undefined,
  recovered: readonly Waiting[],
  held: readonly Held[],
  rows: Rows,
): Decision {
  const { last } = stateIn(rows.replica)
  const outbox = [...recovered, ...held.map(({ waiting }) => waiting)].map((one, index) => ({
    ...one,
    order: last + 1 + index,
  }))
  const state: ReplicaState = {
    ...(generation !== undefined && { generation }),
    ...NO_STATE,
    last: last + outbox.length,
  }
  return {
    ...nothingWritten([]),
    replica: {
      state: JSON.stringify(state),
      outbox: outbox.map(outboxRow),
      sent: held.map(({ waiting: { order } }) => order),
    },
  }
}

/** What does not wait any more. */
function sentOf(held: readonly Held[], outbox: readonly Waiting[]): readonly number[] {
  const left = new Set(outbox.map(({ order }) => order))
  return held.flatMap(({ waiting: { order } }) => (left.has(order) ? [] : [order]))
}

/** How many ops of a page are those that wait first, where they stand already. */
export function sameOps(
  ops: readonly (WholeOp | Waiting)[],
  held: readonly Held[],
  { seq }: ReplicaState,
): number {
  const differs = ops.findIndex((op, index) => {
    const { waiting, op: own } = held[index] ?? {}
    if (waiting?.seq !== seq + 1 + index || waiting.envelope.opId !== op.envelope.opId) return true
    // Where it was only named, the home has of it what is here.
    const isNamed = 'order' in op || op === own
    return !isNamed && !(isWhole(op, waiting) && isBeside(op, waiting))
  })
  const same = differs < 0 ? ops.length : differs
  // Of a part nobody knows what it was that was the first to empty something.
  return same < held.length && held.some(({ waiting }) => waiting.emptied) ? 0 : same
}

/** Whether nothing of an op was forgotten, at home or here. */
function isWhole({ bodies }: WholeOp, waiting: Waiting): boolean {
  const isHere = !waiting.emptied && !waiting.bodies?.includes(null)
  return bodies.length === 0 || (isHere && !bodies.includes(null))
}

/** Whether the home has the same written beside an op as is here. */
function isBeside({ beside = [] }: WholeOp, waiting: Waiting): boolean {
  return JSON.stringify(beside) === JSON.stringify(waiting.beside ?? [])
}

/** The head without its marks once these are confirmed. */
function confirmedAfter(state: ReplicaState, confirmed: readonly Waiting[]): Confirmed {
  const first = state.first ?? confirmed.find(({ envelope }) => envelope.kind === 'append')?.envelope.ids[0]
  return {
    seq: state.seq + confirmed.length,
    ordinal: confirmed.at(-1)?.ordinal ?? state.ordinal,
    ...(first !== undefined && { first }),
  }
}

/**
 * The first op that waits on, where what is confirmed now stands under what is written later: from
 * now on that is what to come back to.
 */
function movedBefore(confirmed: readonly Waiting[], after: readonly Waiting[]): readonly Waiting[] {
  const [first] = after
  if (!first || confirmed.length === 0) return []
  const known = beforeAll(confirmed)
  const keys = new Set(after.flatMap(writtenBy))
  const slots = new Set(after.flatMap(slotIn))
  const registers = [...known.registers].flatMap(([key, row]) => {
    const last = confirmed.findLast((one) => writtenBy(one).includes(key))
    return keys.has(key) ? [[key, last ? registerAfter(last, key) : row] as const] : []
  })
  const marks = [...known.marks].flatMap(([slot, row]) => {
    const last = confirmed.findLast((one) => slotIn(one) === slot)
    return slots.has(slot) ? [[slot, last ? markAfter(last, slot) : row] as const] : []
  })
  if (registers.length + marks.length === 0) return []
  const { before = { registers: [], marks: [] } } = first
  return [
    {
      ...first,
      before: { registers: [...registers, ...before.registers], marks: [...marks, ...before.marks] },
    },
  ]
}

/** A register as one that waited leaves it. */
function registerAfter({ envelope, bodies, beside, seq = 0 }: Waiting, key: string): RegisterRow {
  const { opId, sources, index } = envelope
  const row = { key, version: opId, seq }
  const other = beside?.find((one) => one.key === key)
  if (other) return { ...row, body: other.body }
  const body = envelope.key === key ? (bodies?.[0] ?? null) : null
  return body === null
    ? { ...row, body }
    : { ...row, ...(sources && { sources }), ...(index && { index }), body }
}

function slotIn({ envelope: { mark, lane }, chain }: Waiting): string | [] {
  return (chain === undefined ? undefined : slotOf(mark, lane)) ?? []
}

function markAfter({ envelope: { ids }, seq = 0, chain = 0 }: Waiting, slot: string): MarkRow {
  return { slot, id: ids[0] ?? '', seq, chain }
}

/** What is confirmed under all that waits: of each place, what the first that wrote there found. */
interface AllBefore {
  readonly registers: ReadonlyMap<string, RegisterRow | null>
  readonly marks: ReadonlyMap<string, MarkRow | null>
}

function beforeAll(waiting: readonly { readonly before?: Before }[]): AllBefore {
  const all = waiting.toReversed().flatMap(({ before }) => before ?? [])
  return {
    registers: new Map(all.flatMap(({ registers }) => registers.toReversed())),
    marks: new Map(all.flatMap(({ marks }) => marks.toReversed())),
  }
}

/** What was read, as it was before all that waits. */
function takenBack(rows: Rows, at: Confirmed, before: AllBefore, waited: readonly Waiting[]): Rows {
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
function advanced(rows: Rows, { log, registers, marks, emptied }: Decision): Rows {
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

function sourcesOf(row: RegisterRow | null): readonly Link[] {
  return (row?.sources ?? []).map((source) => [source, `register:${row?.key}`])
}

function linksOf({ id, sources = [] }: LogRow): readonly Link[] {
  return sources.map((source) => [source, `entry:${id}`])
}

/** What names what as a source: without what some names had, and with what they have now. */
function relations(
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
function follow(ops: readonly WholeOp[], rows: Rows): Decision {
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
function decideAgain(
  held: readonly Held[],
  rows: Rows,
  state: ReplicaState,
  before: readonly Waiting[],
  deleted: ReadonlySet<Name>,
): Again {
  const again = decideOnce(held, rows, state)
  const gone = new Set([...rows.deleted, ...again.decision.emptied])
  const names = before.flatMap(({ envelope, emptied = [] }) =>
    emptied.flatMap((target, index) =>
      gone.has(target) || !deleted.has(target) ? [] : { target, opId: `${envelope.opId}/${index}` },
    ),
  )
  if (names.length === 0) return again
  // What went with a delete here stays deleted, and goes elsewhere too: by a delete of its own.
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
    waitingOf(ops.map(knownOp), rows, decision, state).map((one) => [one.envelope.opId, one]),
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
function joined(rows: Rows, before: AllBefore, one: Decision, other: Decision) {
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

function emptyRows({ replica, head: { rebased } }: Rows): Rows {
  return {
    ...NO_ROWS,
    head: { ...EMPTY_HEAD, ...(rebased !== undefined && { rebased }) },
    ...(replica !== undefined && { replica }),
  }
}

function misfit(reason: string): PlimsollError {
  return new PlimsollError('ERR_STORAGE', `sync: a page of the home does not follow the log: ${reason}`)
}
