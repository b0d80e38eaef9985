import { nothingWritten } from '../../src/kernel/log/decide.ts'
import type { Envelope, IndexEntry, Name, SealedOp } from '../../src/ports/op.ts'
import type {
  Decide,
  Decision,
  Head,
  IndexRow,
  LogRow,
  RegisterRow,
  ReplicaChange,
  Rows,
  ScopeStore,
  Sum,
} from '../../src/ports/store.ts'
import { readLog } from './samples.ts'

/** What commits read of these ops, without writing anything. */
export async function rowsOf(scope: ScopeStore, envelopes: readonly Envelope[]): Promise<Rows> {
  let found: Rows | undefined
  await scope.commit(
    envelopes.map((envelope) => ({ envelope, bodies: [] })),
    (_, rows) => {
      found = rows
      return nothingWritten([])
    },
  )
  return found as Rows
}

/** What `decide` says, with what becomes of the scope as a replica. */
export function replicating(decide: Decide, replica: ReplicaChange): Decide {
  return (ops, rows) => ({ ...decide(ops, rows), replica })
}

/** All of a scope that a rebase may change. */
interface State {
  readonly head: Head
  readonly log: readonly LogRow[]
  readonly registers: ReadonlyMap<string, RegisterRow>
  readonly deleted: ReadonlySet<Name>
}

/** @param names all that may be in the scope, or deleted from it */
export async function stateOf(scope: ScopeStore, names: readonly Name[]): Promise<State> {
  const { head, registers, deleted } = await rowsOf(
    scope,
    names.map((target, at) => ({ opId: `which/${at}`, kind: 'delete', ids: [], target })),
  )
  return { head, registers, deleted, log: await readLog(scope) }
}

/**
 * Takes back what came after a seq, and writes what another scope, which has the same rows up to
 * there, has after it. Contract: that one has the names deleted that this one has.
 *
 * @param wrote what else the commits decided that `to` has after the seq
 */
export function rebasing(
  from: State,
  to: State,
  seq: number,
  wrote: readonly Pick<Decision, 'refused' | 'used'>[] = [],
): Decide {
  const kept = to.log.filter((row) => row.seq <= seq)
  const first = kept.find(({ kind }) => kind === 'message')?.id
  const rebase = {
    to: { seq, ordinal: kept.at(-1)?.ordinal ?? 0, ...(first !== undefined && { first }) },
    registers: without(from.registers.keys(), to.registers),
    slots: without(from.head.marks.keys(), to.head.marks),
  }
  return (ops) => ({
    results: [],
    erase: false,
    log: to.log.filter((row) => row.seq > seq).map((row) => withTexts(row, ops)),
    registers: [...to.registers.values()]
      .filter((row) => JSON.stringify(from.registers.get(row.key)) !== JSON.stringify(row))
      .map((row) => ({ ...row, body: row.body === null ? null : bodyFrom(ops, row.version, row.key) })),
    ...placesBetween(from, to),
    emptied: without(to.deleted, from.deleted),
    marks: [...to.head.marks.values()].filter((row) => {
      const before = from.head.marks.get(row.slot)
      return before?.id !== row.id || before.seq !== row.seq || before.chain !== row.chain
    }),
    refused: wrote.flatMap(({ refused }) => refused),
    used: wrote.flatMap(({ used }) => used),
    replica: { state: `at ${seq}`, rebase },
  })
}

function without<Value>(values: Iterable<Value>, others: { has(value: Value): boolean }): Value[] {
  return [...values].filter((value) => !others.has(value))
}

/** A store may have sealed the texts of the ops: a decision takes what it was given. */
function withTexts(row: LogRow, ops: readonly SealedOp[]): LogRow {
  const { derived, ...rest } = row
  if (row.body === null) return row
  const op = ops.find(({ envelope }) => envelope.opId === row.opId)
  const column = derived === undefined ? undefined : op?.derived?.[op.envelope.ids.indexOf(row.id)]
  return {
    ...rest,
    body: bodyFrom(ops, row.opId, row.id),
    ...(column !== undefined && { derived: column }),
  }
}

function bodyFrom(ops: readonly SealedOp[], opId: string, id: string): string {
  const op = ops.find(({ envelope }) => envelope.opId === opId)
  return op?.bodies[op.envelope.ids.indexOf(id)] ?? `no body of ${id} by ${opId}`
}

/** How places and sums of one state become those of another. */
function placesBetween(from: State, to: State): Pick<Decision, 'unlisted' | 'listed' | 'sums'> {
  const [before, after] = [indexesOf(from), indexesOf(to)]
  const sums = new Map<string, Sum>()
  for (const group of new Set([...before.sums.keys(), ...after.sums.keys()])) {
    const { count, weight } = after.sums.get(group) ?? NO_SUM
    const was = before.sums.get(group) ?? NO_SUM
    const sum = { count: count - was.count, weight: weight - was.weight }
    if (sum.count !== 0 || sum.weight !== 0) sums.set(group, sum)
  }
  return {
    unlisted: [...before.places].flatMap(([name, place]) => (after.places.has(name) ? [] : place)),
    listed: [...after.places].flatMap(([name, place]) => (before.places.has(name) ? [] : place)),
    sums,
  }
}

function indexesOf({ registers }: State) {
  const rows = [...registers.values()]
  return { places: new Map(rows.flatMap(placesOf)), sums: sumsOf(rows.flatMap(({ index = [] }) => index)) }
}

const NO_SUM: Sum = { count: 0, weight: 0 }

function placesOf({ key, index = [] }: RegisterRow): [string, IndexRow][] {
  return index.flatMap(({ group, order }) =>
    order === undefined ? [] : [[JSON.stringify([group, order, key]), { group, order, key }]],
  )
}

function sumsOf(index: readonly IndexEntry[]): Map<string, Sum> {
  const sums = new Map<string, Sum>()
  for (const { group, weight } of index) {
    if (weight === undefined) continue
    const sum = sums.get(group) ?? NO_SUM
    sums.set(group, { count: sum.count + 1, weight: sum.weight + weight })
  }
  return sums
}
