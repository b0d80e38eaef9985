import { findSession } from '../operations/sessions.ts'
import { exportFrom } from '../operations/transfer/export.ts'
import { isPlimsollError } from '../ports/errors.ts'
import type { ExportCommandOptions } from './arguments.ts'
import { loadCounter } from './counters.ts'
import { noSession, readDatabase } from './database.ts'
import type { Io, LineWriter } from './io.ts'

/**
 * Writes what a database has of a user, or of one session. Resolves to the exit status: 1 if there
 * is no such session, or something cannot be read.
 */
export async function exportCommand(options: ExportCommandOptions, io: Io): Promise<number> {
  const { session: sessionId, format, to } = options
  const counter = await loadCounter('default', () => {})
  return readDatabase(options, { counter }, io, async (memory, user) => {
    if (sessionId !== undefined && !(await findSession(memory, user, sessionId)))
      return noSession(memory, user, sessionId, io)
    const file: LineWriter | undefined = to === undefined ? undefined : await io.create(to)
    const scope = { ...user, ...(sessionId !== undefined && { sessionId }) }
    const lines = exportFrom(memory, scope, { format })
    try {
      for await (const line of lines)
        if (file) await file.write(line.replace(/\n$/, ''))
        else io.out(line)
    } catch (error) {
      // After the last line it is to be recorded, which a reader does not.
      if (!isPlimsollError(error, 'ERR_READ_ONLY')) throw error
    } finally {
      await file?.close()
    }
    return 0
  })
}
