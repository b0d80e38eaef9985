import type { Certificate, Replicas } from '../ports/certificate.ts'
import type { Scope } from '../ports/op.ts'
import { invalid } from '../ports/options.ts'
import type { Confirmations } from '../ports/sync.ts'
import { engineOf } from './engine-of.ts'
import type { SyncedStore } from './sync.ts'

/**
 * Which replicas hold nothing of what is deleted.
 *
 * @param isForgetting whether a delete is still to be sent: then none has heard of it
 */
export function replicasOf({ replicas = [], emptiedAt = 0 }: Confirmations, isForgetting = false): Replicas {
  const named = (isDone: boolean): readonly string[] =>
    replicas.flatMap(({ name, seq }) => ((!isForgetting && seq >= emptiedAt) === isDone ? name : []))
  return { confirmed: named(true), pending: named(false) }
}

/**
 * A certificate of forgetting with the replicas of its scope, which is open or followed, as the
 * home told last: which hold nothing of all that is deleted there, this device among them, and
 * which have not said so. Where a delete still waits here, none has. Wait for `store.settled()`
 * before.
 *
 * @param scope a session's, or that of the user: what derives in others goes with theirs
 * @throws ERR_INVALID_ARGUMENT
 */
export async function certify(
  store: SyncedStore,
  scope: Scope,
  certificate: Certificate,
): Promise<Certificate> {
  const engine = engineOf('certify', store)
  if (typeof certificate?.target !== 'string')
    throw invalid('certify', 'certificate', 'must be what forget() or an erase resolved to')
  return engine.followed.with(scope, async (replica, { confirmations }) => {
    const { waiting } = await replica.refreshed()
    const isForgetting = waiting.some(({ envelope: { kind } }) => kind === 'delete' || kind === 'erase')
    return { ...certificate, replicas: replicasOf(confirmations, isForgetting) }
  })
}
