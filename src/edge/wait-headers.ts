import type { PlimsollError } from '../ports/errors.ts'
import type { Limit } from './rows/token-buckets.ts'

/**
 * What says when to come again (RFC 9110, section 10.2.3; draft-ietf-httpapi-ratelimit-headers-10).
 */
export function waitHeaders({ retryAfter, budget, limit }: PlimsollError): Record<string, string> {
  if (retryAfter === undefined) return {}
  const wait = String(retryAfter)
  if (budget === undefined) return { 'Retry-After': wait }
  return {
    'Retry-After': wait,
    RateLimit: `"${budget}";r=0;t=${wait}`,
    ...(limit !== undefined && { 'RateLimit-Policy': `"${budget}";q=${Math.floor(limit)}` }),
  }
}

/** What says how much is left. */
export function limitHeaders(limits: readonly Limit[] = []): Record<string, string> {
  if (limits.length === 0) return {}
  return {
    RateLimit: limits.map(({ name, left, full }) => `"${name}";r=${left};t=${full}`).join(', '),
    'RateLimit-Policy': limits
      .map(({ name, capacity, seconds }) => `"${name}";q=${Math.floor(capacity)};w=${seconds}`)
      .join(', '),
  }
}
