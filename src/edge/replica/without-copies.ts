import type { Certificate } from '../../ports/certificate.ts'

/** A certificate of what no copy of the user's scope holds any more. */
export function withoutCopies(certificate: Certificate): Certificate {
  const { confirmed, pending } = certificate
  return {
    ...certificate,
    confirmed: [...confirmed, 'replicas'],
    pending: pending.filter((holder) => holder !== 'replicas'),
  }
}
