import type { Certificate, Removed, RemovedKind } from '../../ports/certificate.ts'
import type { Host } from '../../ports/host.ts'

/** Ids that a certificate names of each kind; the rest is counted. */
export const NAMED = 32

/** What was found of each kind. */
export type Found = Partial<Record<RemovedKind, Removed>>

export function certificateOf(
  host: Pick<Host, 'now'>,
  action: Certificate['action'],
  target: string,
  already: boolean,
  found: Found,
  kept = NONE,
  isGone = true,
): Certificate {
  return {
    action,
    target,
    at: host.now(),
    already,
    removed: {
      sessions: NONE,
      messages: NONE,
      summaries: NONE,
      facts: NONE,
      heads: NONE,
      attachments: NONE,
      ...found,
    },
    kept,
    confirmed: isGone ? ['store'] : [],
    pending: [...(isGone ? [] : (['store'] as const)), 'replicas', 'devices', 'recovery'],
  }
}

/** How much of each kind, for an audit record. */
export function countsOf(found: Found): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(found).flatMap(([kind, { count }]) => (count > 0 ? [[kind, count]] : [])),
  )
}

/** What two steps found together. */
export function sumOf(one: Found, other: Found): Found {
  const kinds = Object.keys({ ...one, ...other }) as RemovedKind[]
  return Object.fromEntries(
    kinds.map((kind) => {
      const [a, b] = [one[kind] ?? NONE, other[kind] ?? NONE]
      return [kind, { count: a.count + b.count, first: [...a.first, ...b.first].slice(0, NAMED) }]
    }),
  )
}

export function removed(ids: readonly string[]): Removed {
  return { count: ids.length, first: ids.slice(0, NAMED) }
}

const NONE: Removed = { count: 0, first: [] }
