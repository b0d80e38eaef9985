import type { Envelope, SealedOp } from '../ports/op.ts'
import type { SyncOp } from '../ports/sync.ts'

/** Kinds of ops that this version knows. */
export const KINDS: ReadonlySet<string> = new Set(['append', 'mark', 'put', 'delete', 'erase'])

/**
 * An op as `decide` takes it. One of a kind that this version does not know is kept like a mark of
 * an unknown kind: it has no effect. A put without a value stands in no index.
 */
export function knownOp({
  envelope,
  bodies,
  derived,
}: SyncOp & { readonly derived?: SealedOp['derived'] }): SealedOp {
  const { opId, kind, ids } = envelope
  const known = KINDS.has(kind)
    ? kind === 'put' && bodies[0] === null
      ? unlisted(envelope)
      : envelope
    : { ...envelope, kind: 'mark' as const, mark: kind, ids: [ids[0] ?? opId] }
  return { envelope: known, bodies, ...(derived && { derived }) }
}

/** Places in indexes may be made of words. */
export function unlisted({ index: _, ...envelope }: Envelope): Envelope {
  return envelope
}
