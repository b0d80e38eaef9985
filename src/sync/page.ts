import { SECRET } from '../kernel/context/secret.ts'
import { nothingWritten, slotOf } from '../kernel/log/decide.ts'
import { SHARED } from '../kernel/log/message.ts'
import type { Name } from '../ports/op.ts'
import type { Decision, MarkRow, RegisterRow, Rows } from '../ports/store.ts'
import {
  type AllBefore,
  advanced,
  beforeAll,
  decideAgain,
  follow,
  joined,
  misfit,
  takenBack,
} from './rebase.ts'
import {
  type Confirmed,
  type Held,
  isRenamed,
  NO_GENERATION,
  outboxRow,
  type ReplicaState,
  stateIn,
  type Waiting,
  type WholeOp,
} from './state.ts'
import { scrub, writtenBy } from './write.ts'

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
 * @param held all that waits, in order, as it is under `rows.replica`; where nothing changes
 * places, without bodies but for what the page has whole
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
  const aside = refused.map((one) => scrub(one, [...rows.deleted], false))
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
        outbox: [...moved, ...aside].map(outboxRow),
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
  // A delete that the home refused for its own sake is to be sent no more.
  const kept = waited.filter(({ order }) => {
    const now = refused.find((one) => one.order === order)
    return now?.envelope.kind !== 'delete' || isRenamed(now)
  })
  const next = { ...state, ...known, ...goneOf(state, own) }
  const written = writtenOver({ rows, base, before, ops: theirs, left, kept, refused: aside, state: next })
  const { replica, gone } = written
  return {
    ...written.decision,
    replica: {
      ...replica,
      sent: sentOf(held, replica.outbox),
      outbox: replica.outbox.map(outboxRow),
      ...(isInTheWay && { rebase: { to: at, ...gone } }),
    },
  }
}

interface Over {
  readonly rows: Rows
  /** As it is without what waits. */
  readonly base: Rows
  readonly before: AllBefore
  /** They come next. */
  readonly ops: readonly WholeOp[]
  /** What waits behind them, and what has waited until now. */
  readonly left: readonly Held[]
  readonly kept: readonly Waiting[]
  readonly refused?: readonly Waiting[]
  /** As it is after them, but for what only they tell. */
  readonly state: ReplicaState
}

/**
 * Ops of the home, and behind them what waits, decided again.
 *
 * @throws ERR_STORAGE: they do not end where the state says
 */
export function writtenOver({ rows, base, before, ops, left, kept, refused = [], state }: Over) {
  const followed = follow(ops, base)
  const middle = advanced(base, followed)
  const { seq, ordinal, first } = middle.head
  if (seq !== state.seq) throw misfit(`it ends with ${seq}, and not with ${state.seq}`)
  const next = { ...state, ordinal, ...(first !== undefined && { first }) }
  const again = decideAgain(left, middle, next, kept, rows.deleted)
  const { gone, ...decision } = joined(rows, before, followed, again.decision)
  const goneNow = goneOf(state, [...decision.emptied, ...linkedBy(ops, rows, decision)])
  // What a delete of the page empties is not kept for the home either; a delete here has a secret
  // of its own.
  const isRotated = followed.registers.some(({ key }) => key === SECRET)
  const clean = (one: Waiting): Waiting =>
    scrub(one, followed.emptied, isRotated && one.envelope.kind !== 'delete')
  // What was decided just now goes back to what is there now, the home's newest secret among it.
  const waiting = again.waiting.map((one) => ({ ...clean(one), ...(one.before && { before: one.before }) }))
  const outbox = [...waiting, ...refused.map(clean)]
  return {
    decision,
    gone,
    replica: { state: JSON.stringify({ ...again.state, ...goneNow } satisfies ReplicaState), outbox },
  }
}

/** What the user's other scopes are still to be asked about. */
export function goneOf({ gone = [] }: ReplicaState, names: readonly Name[]): Pick<ReplicaState, 'gone'> {
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

/** What does not wait any more. */
export function sentOf(held: readonly Held[], outbox: readonly Waiting[]): readonly number[] {
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
    const one = held[index]
    if (one?.waiting.seq !== seq + 1 + index || one.waiting.envelope.opId !== op.envelope.opId) return true
    // Where it was only named, the home has of it what is here.
    const isNamed = 'order' in op || op === one.op
    return !isNamed && !(isWhole(op, one.waiting) && saidBy(op) === saidBy(one.op))
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

/**
 * By what an op is told from another writer's of its name, which may have come first: all that a
 * home keeps of it. What it attaches its bodies say; of a put no home keeps the base.
 */
function saidBy({ envelope, bodies, beside = [] }: WholeOp): string {
  const { kind, ids, mark, round, lane, base = null, target, sources, index } = envelope
  const over = kind === 'mark' && base
  return JSON.stringify([kind, ids, mark, round, lane, over, target, sources, index, bodies, beside])
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
