import { NAMED } from '../../operations/forget/certificate.ts'
import type { Certificate, RemovedKind } from '../../ports/certificate.ts'

/** What was removed in two places or steps, and who holds it no more in both of them. */
export function together(one: Certificate, other: Certificate): Certificate {
  const removed = Object.fromEntries(
    Object.entries(one.removed).map(([kind, { count, first }]) => {
      const more = other.removed[kind as RemovedKind]
      return [kind, { count: count + more.count, first: [...first, ...more.first].slice(0, NAMED) }]
    }),
  ) as unknown as Certificate['removed']
  return {
    ...other,
    already: one.already && other.already,
    removed,
    confirmed: one.confirmed.filter((holder) => other.confirmed.includes(holder)),
    pending: [...new Set([...one.pending, ...other.pending])],
  }
}
