import { SECRET } from '../kernel/context/secret.ts'
import { EMPTY_HEAD, NO_ROWS, nothingWritten } from '../kernel/log/decide.ts'
import { FACT } from '../ports/fact.ts'
import type { Name, SealedOp } from '../ports/op.ts'
import type { Decision, ReplicaChange, Rows } from '../ports/store.ts'
import { goneOf, sentOf } from './page.ts'
import { readRegisters, readRows } from './read.ts'
import { decideAgain } from './rebase.ts'
import { recoveredFrom } from './recover.ts'
import { asking, type Replica } from './replica.ts'
import {
  type Held,
  NO_GENERATION,
  NO_STATE,
  outboxRow,
  type ReplicaState,
  stateIn,
  type Waiting,
} from './state.ts'
import type { View } from './view.ts'

/**
 * Takes a replica back, whose place is not in its home's log.
 *
 * @returns whether it was as it was seen
 */
export async function resetReplica(
  replica: Replica,
  view: View,
  reset: 'erased' | 'diverged' | 'too-old',
  named: string,
): Promise<boolean> {
  const generation = named === NO_GENERATION ? undefined : named
  const held = await replica.held(reset === 'too-old' ? view.waiting : view.outbox)
  if (!held) return false
  if (reset === 'diverged') {
    const recovered = await recoveredOf(replica, view)
    if (view.state.after !== undefined) return resetPartial(replica, view, generation, recovered)
    return replica.write(view, [], (rows) => resetDiverged(generation, recovered, held, rows))
  }
  const ops = [...held.map(({ op }) => op), asking(SECRET)] as readonly unknown[] as readonly SealedOp[]
  if (reset === 'too-old') return replica.write(view, ops, (rows) => resetAll(generation, held, rows))
  // After an erase of its own, what is here is of the new log.
  const gone = view.state.erasing ? [] : replica.notesOf((await readRegisters(replica.store, FACT)).keys())
  return replica.write(view, ops, (rows) => resetErased(generation, held, rows, gone))
}

/** As {@link resetDiverged}, where older rows are not here: nothing may stand in their place. */
async function resetPartial(
  replica: Replica,
  view: View,
  generation: string | undefined,
  recovered: readonly Waiting[],
): Promise<boolean> {
  const held = await replica.held([...recovered, ...view.waiting])
  if (!held) return false
  const { last } = view.state
  const left = held.map(({ waiting, op }, index) => ({
    waiting: { ...waiting, order: last + 1 + index },
    op,
  }))
  const ops = [...held.map(({ op }) => op), asking(SECRET)] as readonly unknown[] as readonly SealedOp[]
  return replica.write(view, ops, (rows) => {
    const { replica: change, ...decision } = emptied(generation, left, held.slice(recovered.length), rows)
    return { ...decision, replica: { ...(change as ReplicaChange), kept: 'all' } }
  })
}

/** What was written while the scope was no replica waits from now on. */
export async function adoptLog(replica: Replica, view: View): Promise<void> {
  const { state, head } = view
  const recovered = await recoveredOf(replica, { ...view, state: { ...state, seq: head.seq } })
  await replica.write(view, [], (rows) => resetDiverged(undefined, recovered, [], rows))
}

/**
 * Empties the scope, which is a replica that knows nothing then. @returns whether it was as it was
 * seen
 */
export function forget(replica: Replica, view: View): Promise<boolean> {
  const state = JSON.stringify({ ...NO_STATE, last: view.state.last + 1 } satisfies ReplicaState)
  const sent = view.outbox.map(({ order }) => order)
  return replica.write(view, [], () => ({
    ...nothingWritten([]),
    erase: true,
    replica: { state, sent, rebase: BEGINNING },
  }))
}

async function recoveredOf({ store }: Replica, { state, outbox }: View): Promise<readonly Waiting[]> {
  const rows = await readRows(store, 0, state.seq)
  const registers = await readRegisters(store)
  for (const { before } of outbox.toReversed())
    for (const [key, row] of before?.registers.toReversed() ?? [])
      if (row) registers.set(key, row)
      else registers.delete(key)
  return recoveredFrom(rows, registers)
}

const BEGINNING = { to: { seq: 0, ordinal: 0 }, registers: [], slots: [] }

/**
 * Empties a replica whose home was erased, but for what was written after an erase of its own: that
 * is of the new log.
 *
 * @param held as in `applyPage`; refused ops too, which go with the rest
 * @param gone what the user's scope may have of it, which is still to be looked at
 */
export function resetErased(
  generation: string | undefined,
  held: readonly Held[],
  rows: Rows,
  gone: readonly Name[] = [],
): Decision {
  const { erasing } = stateIn(rows.replica)
  const erase = held.findIndex(({ op }) => op.envelope.kind === 'erase')
  const left = erasing ? held.slice(erase + 1).filter(({ waiting }) => !waiting.refusal) : []
  return emptied(generation, left, held, rows, gone)
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
  gone: readonly Name[] = [],
): Decision {
  const last = Math.max(stateIn(rows.replica).last, left.at(-1)?.waiting.order ?? 0)
  const known = named(generation, rows)
  const state: ReplicaState = { ...known, ...goneOf(known, gone), last }
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
      rebase: BEGINNING,
      // What is still to be sent is nowhere else.
      kept: again.decision.used,
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
  const state: ReplicaState = { ...named(generation, rows), last: last + outbox.length }
  return {
    ...nothingWritten([]),
    replica: {
      state: JSON.stringify(state),
      outbox: outbox.map(outboxRow),
      sent: held.map(({ waiting: { order } }) => order),
    },
  }
}

/** A replica that knows nothing of that log yet, but what went of the one before. */
function named(generation: string | undefined, rows: Rows): ReplicaState {
  const { replica, gone } = stateIn(rows.replica)
  return {
    ...(generation !== undefined && { generation }),
    ...NO_STATE,
    ...(gone && { gone }),
    ...(replica !== undefined && { replica }),
  }
}

export function emptyRows({ replica, head: { rebased } }: Rows): Rows {
  return {
    ...NO_ROWS,
    head: { ...EMPTY_HEAD, ...(rebased !== undefined && { rebased }) },
    ...(replica !== undefined && { replica }),
  }
}
