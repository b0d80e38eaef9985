import type { Head, Rows } from '../ports/store.ts'
import { type ReplicaState, stateIn, type Waiting } from './state.ts'

/** A replica as it was at one moment. */
export interface View {
  /** What {@link Rows.replica} was. */
  readonly text: string | undefined
  readonly state: ReplicaState
  readonly head: Head
  /** All of the outbox. */
  readonly outbox: readonly Waiting[]
  /** Of it, what is not refused. */
  readonly waiting: readonly Waiting[]
}

export function viewOf(text: string | undefined, head: Head, outbox: readonly Waiting[]): View {
  return { text, state: stateIn(text), head, outbox, waiting: outbox.filter(({ refusal }) => !refusal) }
}

/**
 * An outbox with what is written to it, and without what is sent. New rows have higher numbers; to
 * add them alone is cheap, however much waits.
 */
export function changed(
  outbox: readonly Waiting[],
  written: readonly Waiting[],
  sent: readonly number[] = [],
): readonly Waiting[] {
  const all = [...outbox, ...written]
  const end = outbox.at(-1)?.order ?? 0
  if (sent.length === 0 && written.every(({ order }) => order > end)) return all
  const rows = new Map(all.map((one) => [one.order, one]))
  for (const order of sent) rows.delete(order)
  return [...rows.values()]
}
