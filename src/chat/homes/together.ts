import { NAMED } from '../../operations/forget/certificate.ts'
import type { Certificate, RemovedKind } from '../../ports/certificate.ts'
import type { HomeCertificate } from '../ports.ts'

/** What was removed in two places or steps, and who holds it no more in both of them. */
export function together(one: HomeCertificate, other: HomeCertificate): HomeCertificate {
  const removed = Object.fromEntries(
    Object.entries(one.removed).map(([kind, { count, first }]) => {
      const more = other.removed[kind as RemovedKind]
      return [kind, { count: count + more.count, first: [...first, ...more.first].slice(0, NAMED) }]
    }),
  ) as unknown as Certificate['removed']
  // What is sent later arrives later.
  const arrival = other.arrival ?? one.arrival
  return {
    ...other,
    ...(arrival && { arrival }),
    already: one.already && other.already,
    removed,
    confirmed: one.confirmed.filter((holder) => other.confirmed.includes(holder)),
    pending: [...new Set([...one.pending, ...other.pending])],
  }
}
