import { PlimsollError } from '../../ports/errors.ts'
import type { Imported } from '../../ports/transfer.ts'
import type { ImportCount } from '../ports.ts'

/** How many sessions of a file were not taken in: they have another log here, or were erased. */
function refusedOf({ conflicts }: Imported): number {
  return conflicts.first.filter(({ part, sessionId }) => part === 'log' && sessionId !== undefined).length
}

/**
 * How many messages an import wrote.
 *
 * @throws ERR_CONFLICT: a session has another log here, one that was erased included, so that its
 * messages were not taken in
 */
export function importCount(imported: Imported): number {
  const refused = refusedOf(imported)
  if (refused > 0)
    throw new PlimsollError(
      'ERR_CONFLICT',
      `import: ${refused} sessions of the file have another log here, or were erased`,
    )
  return imported.messages.written
}

/**
 * What an import came to where it was made: how many messages it wrote, how many facts show there
 * that did not before, and how many sessions were not taken in.
 */
export async function counted(
  facts: () => Promise<readonly unknown[]>,
  run: () => Promise<Imported>,
): Promise<ImportCount> {
  const before = (await facts()).length
  const imported = await run()
  return {
    messages: imported.messages.written,
    facts: Math.max(0, (await facts()).length - before),
    refused: refusedOf(imported),
  }
}
