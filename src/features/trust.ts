import { lowerTrust } from '../kernel/log/message.ts'
import type { Trust } from '../ports/message.ts'

/** Whether a label is `user` or above: what may be shown as instructions, pinned and shared. */
export function isTrusted(trust: Trust): boolean {
  return lowerTrust(trust, 'user') === 'user'
}

/** The trust of what was made from several: the lowest of theirs, and at most `user`. */
export function lowestTrust(made: readonly { readonly trust: Trust }[], most: Trust = 'user'): Trust {
  return made.reduce((low, { trust }) => lowerTrust(low, trust), most)
}
