import type { Certificate } from '../../ports/certificate.ts'

/** A certificate with what went in copies of the user's scope, and whether none holds it now. */
export function withoutCopies(
  certificate: Certificate,
  { heads = 0, isConfirmed = true }: { readonly heads?: number; readonly isConfirmed?: boolean } = {},
): Certificate {
  const { removed, confirmed, pending } = certificate
  const counted = {
    ...certificate,
    removed: { ...removed, heads: { ...removed.heads, count: removed.heads.count + heads } },
  }
  if (!isConfirmed) return counted
  return {
    ...counted,
    confirmed: [...confirmed, 'replicas'],
    pending: pending.filter((holder) => holder !== 'replicas'),
  }
}
