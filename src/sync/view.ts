import type { Decision, Head, Rows } from '../ports/store.ts'
import { type ReplicaState, stateIn, type Waiting, type Wanted } from './state.ts'

/** A replica as it was at one moment. */
export interface View {
  /** What {@link Rows.replica} was. */
  readonly text: string | undefined
  readonly state: ReplicaState
  readonly head: Head
  /** All rows of the outbox. */
  readonly rows: readonly (Waiting | Wanted)[]
  /** Of these, the ops. */
  readonly outbox: readonly Waiting[]
  /** Of it, what is not refused. */
  readonly waiting: readonly Waiting[]
  /** And what is to be fetched. */
  readonly wanted: readonly Wanted[]
}

export function viewOf(text: string | undefined, head: Head, rows: readonly (Waiting | Wanted)[]): View {
  const outbox = rows.filter((one): one is Waiting => 'envelope' in one)
  const wanted = rows.filter((one): one is Wanted => 'wants' in one)
  const waiting = outbox.filter(({ refusal }) => !refusal)
  return { text, state: stateIn(text), head, rows, outbox, waiting, wanted }
}

/**
 * An outbox with what is written to it, and without what is sent. New rows have higher numbers; to
 * add them alone is cheap, however much waits.
 */
export function changed(
  rows: View['rows'],
  written: View['rows'],
  sent: readonly number[] = [],
): View['rows'] {
  const all = [...rows, ...written]
  const end = rows.at(-1)?.order ?? 0
  if (sent.length === 0 && written.every(({ order }) => order > end)) return all
  const left = new Map(all.map((one) => [one.order, one]))
  for (const order of sent) left.delete(order)
  return [...left.values()]
}

/** What is erased takes along what was to be fetched of it. */
export function withoutWanted(decision: Decision, { wanted }: Pick<View, 'wanted'>): Decision {
  const { erase, replica } = decision
  if (!erase || !replica || wanted.length === 0) return decision
  const sent = [...(replica.sent ?? []), ...wanted.map(({ order }) => order)]
  return { ...decision, replica: { ...replica, sent } }
}
