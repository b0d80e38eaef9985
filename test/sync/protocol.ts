/** The rules that the model plays by: those of `src/sync/`, one of which a mutant puts wrong. */
import { SECRET } from '../../src/kernel/context/secret.ts'
import type { SealedOp } from '../../src/ports/op.ts'
import type { PullAnswer, PullRequest, PushAnswer, PushRequest } from '../../src/ports/sync.ts'
import { decidePush } from '../../src/sync/home.ts'
import { applyPage, type Held, resetDiverged, resetErased, type WholeOp } from '../../src/sync/page.ts'
import { pullFrom } from '../../src/sync/pull.ts'
import { recoveredFrom } from '../../src/sync/recover.ts'
import type { ReplicaState, Waiting } from '../../src/sync/state.ts'
import { writeLocally } from '../../src/sync/write.ts'
import { put } from '../contract/samples.ts'

export interface Protocol {
  readonly writeLocally: typeof writeLocally
  readonly applyPage: typeof applyPage
  readonly resetErased: typeof resetErased
  readonly resetDiverged: typeof resetDiverged
  readonly recoveredFrom: typeof recoveredFrom
  readonly decidePush: typeof decidePush
  readonly pullFrom: typeof pullFrom
  readonly sealed: (op: WholeOp) => SealedOp
  /** Of what waits and was not answered, what is sent. */
  readonly prefix: (held: readonly Held[], limit: number) => readonly Held[]
  /** What an answer to a push removes from the outbox. */
  readonly acked: (held: readonly Held[], request: PushRequest, answer: PushAnswer) => readonly Waiting[]
  readonly isOf: (state: ReplicaState, request: PushRequest, answer: PushAnswer) => boolean
  readonly isFresh: (state: ReplicaState, request: PullRequest, answer: PullAnswer) => boolean
  /** An op of which a page gives the name alone. */
  readonly known: (opId: string, own: ReadonlyMap<string, WholeOp>) => WholeOp | undefined
}

export const PROTOCOL: Protocol = {
  writeLocally,
  applyPage,
  resetErased,
  resetDiverged,
  recoveredFrom,
  decidePush,
  pullFrom,
  sealed,
  prefix: (held, limit) => held.slice(0, limit),
  acked: () => [],
  isOf: ({ generation }, request) => generation === request.generation,
  isFresh: ({ generation, seq, anchor, erasing }, request) =>
    !erasing && generation === request.generation && seq === request.cursor && anchor === request.anchor,
  known: (opId, own) => own.get(opId),
}

/** Makes a store read the secret, and writes nothing: no decision looks at it. */
export const SECRET_ROW: SealedOp = put('', SECRET, null)

/** Kinds of ops that `decide` knows. */
const KINDS: ReadonlySet<string> = new Set(['append', 'mark', 'put', 'delete', 'erase'])

/** As stores take it. */
function sealed({ envelope, bodies, derived }: WholeOp): SealedOp {
  const { opId, kind, ids } = envelope
  const known = KINDS.has(kind)
    ? envelope
    : { ...envelope, kind: 'mark' as const, mark: kind, ids: [ids[0] ?? opId] }
  return { envelope: known, bodies: bodies as readonly string[], ...(derived && { derived }) }
}
