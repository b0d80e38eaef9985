import { lowerTrust } from '../kernel/log/message.ts'
import type { Trust } from '../ports/message.ts'

/** Whether a label is `user` or above: what may be shown as instructions, pinned and shared. */
export function isTrusted(trust: Trust): boolean {
  return lowerTrust(trust, 'user') === 'user'
}
