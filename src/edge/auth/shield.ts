import { PlimsollError } from '../../ports/errors.ts'
import type { Principal } from '../principal.ts'

/** As much of Cloudflare's rate-limit binding as is used here. */
export interface RateLimiter {
  limit(options: { readonly key: string }): Promise<{ readonly success: boolean }>
}

export interface ShieldOptions {
  /** Period of the binding, after which a caller may try again: 10 or 60. Default 60. */
  readonly periodSeconds?: number
}

/** Contract: resolves where the call may go on. @throws ERR_RATE_LIMIT */
export type Shield = (request: Request, principal?: Principal) => Promise<void>

/**
 * A coarse shield, in front of the exact budgets: Cloudflare counts by location, late, and "not
 * accurately". So it fails open: a limiter that throws lets the call pass. Users are counted by who
 * they are; guests, of whom anybody can make more, and strangers by their address.
 */
export function shield(limiter: RateLimiter, { periodSeconds = 60 }: ShieldOptions = {}): Shield {
  return async function check(request, principal) {
    const key = keyOf(request, principal)
    if (await passes(limiter, key)) return
    throw new PlimsollError('ERR_RATE_LIMIT', 'shield: too many calls', { retryAfter: periodSeconds })
  }
}

async function passes(limiter: RateLimiter, key: string): Promise<boolean> {
  try {
    return (await limiter.limit({ key })).success
  } catch {
    return true
  }
}

function keyOf(request: Request, principal: Principal | undefined): string {
  const address = request.headers.get('CF-Connecting-IP')
  const user = principal && `user:${JSON.stringify([principal.tenant ?? null, principal.userId])}`
  if (user !== undefined && !principal?.isGuest) return user
  return address === null ? (user ?? 'unknown') : `address:${network(address)}`
}

/** An IPv4 address, or of an IPv6 one the first 64 bits, since one customer has all of the rest. */
function network(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail] = address.toLowerCase().split('::')
  const before = head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  const groups = tail === undefined ? before : [...before, ...zeros, ...after]
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, '') || '0')
    .join(':')
}
