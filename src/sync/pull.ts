import type { LogRow, RegisterRow } from '../ports/store.ts'
import type { PullAnswer, PulledOp, PullRequest, SyncOp } from '../ports/sync.ts'
import type { HomeState } from './home.ts'
import { recoveredFrom } from './recover.ts'

/** What a home reads to answer a pull, all of it as of one state. */
export interface PullRows {
  readonly state: HomeState
  /** Newest seq of the log. */
  readonly head: number
  /** The tok of the row at the cursor that is asked about, if there is one. */
  readonly anchor?: string
  /** The log after the cursor, or a part of it: whole ops, in order. */
  readonly rows: readonly LogRow[]
  /** Registers that these wrote, by key; and that of the session's secret. */
  readonly registers: ReadonlyMap<string, RegisterRow>
}

/** Answers a pull. Pure: the same rows give the same answer. */
export function pullFrom(
  { generation, cursor, anchor, known = [] }: PullRequest,
  { state, head, anchor: found, rows, registers }: PullRows,
): PullAnswer {
  const { since } = state
  if (generation !== undefined && generation !== state.generation)
    return {
      reset: state.erased.includes(generation) ? 'erased' : 'diverged',
      generation: state.generation,
    }
  if (cursor > 0 && (since + cursor > head || found !== anchor))
    return { reset: 'diverged', generation: state.generation }
  const isKnown = (seq: number) => known.some(({ from, to }) => from <= seq && seq <= to)
  const bodies = new Map<number, (string | null)[]>()
  for (const { seq, body } of rows) {
    const all = bodies.get(seq)
    if (all) all.push(body)
    else bodies.set(seq, [body])
  }
  const ops = recoveredFrom(rows, registers).map((waiting): PulledOp => {
    const { envelope, seq = 0, beside } = waiting
    if (isKnown(seq - since)) return { opId: envelope.opId }
    const all = waiting.bodies ?? (envelope.kind === 'delete' ? [] : (bodies.get(seq) ?? []))
    return { envelope, bodies: all, ...(beside && { beside }) } satisfies SyncOp
  })
  const last = rows.findLast(({ place }) => place === 0)
  return {
    generation: state.generation,
    from: cursor,
    ops,
    cursor: last ? last.seq - since : cursor,
    anchor: last?.tok ?? anchor,
    head: head - since,
  }
}
