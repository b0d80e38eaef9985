import { PlimsollError } from '../../ports/errors.ts'
import type { Imported } from '../../ports/transfer.ts'

/**
 * How many messages an import wrote.
 *
 * @throws ERR_CONFLICT: a session has another log here, one that was erased included, so that its
 * messages were not taken in
 */
export function importCount({ messages, conflicts }: Imported): number {
  const refused = conflicts.first.filter(({ part, sessionId }) => part === 'log' && sessionId !== undefined)
  if (refused.length > 0)
    throw new PlimsollError(
      'ERR_CONFLICT',
      `import: ${refused.length} sessions of the file have another log here, or were erased`,
    )
  return messages.written
}
