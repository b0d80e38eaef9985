import { PlimsollError } from '../../ports/errors.ts'
import type { Imported } from '../../ports/transfer.ts'
import type { ImportCount } from '../ports.ts'

/**
 * What an import came to, for the panel: messages and facts that were written.
 *
 * @throws ERR_CONFLICT: a session has another log here, one that was erased included, so that its
 * messages were not taken in
 */
export function importCount({ parts, messages, conflicts }: Imported): ImportCount {
  const refused = conflicts.first.filter(({ part, sessionId }) => part === 'log' && sessionId !== undefined)
  if (refused.length > 0)
    throw new PlimsollError(
      'ERR_CONFLICT',
      `import: ${refused.length} sessions of the file have another log here, or were erased`,
    )
  return { messages: messages.written, facts: parts.facts.written }
}
