import { PlimsollError } from '../../ports/errors.ts'
import type { Imported } from '../../ports/transfer.ts'
import type { ImportCount } from '../ports.ts'

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

/**
 * What an import came to where it was made: how many messages it wrote, and how many facts show
 * there that did not before.
 *
 * @throws as {@link importCount}
 */
export async function counted(
  facts: () => Promise<readonly unknown[]>,
  run: () => Promise<Imported>,
): Promise<ImportCount> {
  const before = (await facts()).length
  const messages = importCount(await run())
  return { messages, facts: Math.max(0, (await facts()).length - before) }
}
