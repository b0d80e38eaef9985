import type { Replicas } from '../ports/certificate.ts'
import type { Confirmations } from '../ports/sync.ts'

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
