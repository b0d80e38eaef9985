/** What the ids of guests begin with. A user's token with such a subject is refused. */
export const GUEST_PREFIX = 'guest_'

/** How long a guest stays the same, by default: 30 days. */
export const GUEST_LIFETIME_MS = 30 * 86_400_000

/** RFC 9562, section 5.7: the first 48 bits are Unix milliseconds. */
const UUID_V7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7/

export function isGuest({ userId }: { readonly userId: string }): boolean {
  return userId.startsWith(GUEST_PREFIX)
}

/**
 * When a guest's token has ended for certain, Unix milliseconds: a guest gets one token, when it is
 * made. Where the id does not say when that was, it was before now.
 */
export function guestEnd(userId: string, lifetimeMs: number, now: number): number {
  const [, high = '', low = ''] = UUID_V7.exec(userId.slice(GUEST_PREFIX.length)) ?? []
  const made = Number.parseInt(high + low, 16)
  return (made <= now && made > now - lifetimeMs ? made : now) + lifetimeMs
}
