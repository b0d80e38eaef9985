import { SECRET } from '../kernel/context/secret.ts'
import type { SealedOp } from '../ports/op.ts'
import type { Decision, RegisterRow, Rows } from '../ports/store.ts'
import type { SyncOp } from '../ports/sync.ts'
import { knownOp } from './known-op.ts'

/**
 * What a commit is given for a push: the ops, and after them the secrets beside them, since a store
 * may have to seal these too, and has to read the one that is there.
 */
export function pushedOps(pushed: readonly SyncOp[]): readonly SealedOp[] {
  const secrets = pushed.flatMap(({ envelope: { opId }, beside = [] }) =>
    beside.flatMap(({ key, body }): SealedOp[] =>
      key === SECRET ? [{ envelope: { opId, kind: 'put', ids: [key], key }, bodies: [body] }] : [],
    ),
  )
  return [...pushed.map(knownOp), ...secrets]
}

/**
 * The secret that is written beside ops, as they were decided: that of the newest delete, or else
 * the first, where there is none yet.
 *
 * @param secrets as {@link pushedOps} gives them, after the ops
 */
export function secretBeside(
  secrets: readonly SealedOp[],
  { registers }: Pick<Rows, 'registers'>,
  { log }: Pick<Decision, 'log'>,
): RegisterRow | undefined {
  let hasSecret = registers.get(SECRET)?.body != null
  let secret: RegisterRow | undefined
  for (const { envelope, bodies } of secrets) {
    const row = log.find(({ opId }) => opId === envelope.opId)
    if (!row || (hasSecret && row.kind !== 'delete')) continue
    hasSecret = true
    secret = { key: SECRET, version: row.opId, seq: row.seq, body: bodies[0] ?? null }
  }
  return secret
}
