import { lowerTrust } from '../../kernel/log/message.ts'
import type { Message, Trust } from '../../ports/message.ts'

/** What a message counts for: one of the user that is no statement may have been pasted. */
export function typedTrust({ id, role, trust }: Message, typed: ReadonlySet<string>): Trust {
  return role === 'user' && !typed.has(id) ? lowerTrust(trust, 'import') : trust
}
