import { type AuditInput, auditOp, writeAudit } from '../features/audit.ts'
import { dropAllNotes } from '../features/facts/kept.ts'
import { changeRegister } from '../features/register.ts'
import type { Certificate } from '../ports/certificate.ts'
import { isPlimsollError } from '../ports/errors.ts'
import type { Memory, UserScope } from '../ports/memory.ts'
import type { SessionInfo } from '../ports/session.ts'
import { SESSION } from '../ports/session.ts'
import { checkId } from '../text/json.ts'
import { certificateOf, countsOf } from './forget/certificate.ts'
import { eraseSession, foundIn } from './forget/erase.ts'
import { home } from './sessions.ts'

/**
 * Removes a session with all that is in it: log, facts, checkpoint, attachments. What it shared
 * with the user's other sessions is the user's, and stays. A row that says that it was erased is
 * left. Idempotent: deleting what is not there, or never was, is no error, leaves that row too and
 * says `already`; what an end of the process left is finished. Calls of the session that are under
 * way, here or in another tab, may write to it again: end them first. It is recorded in the user's
 * audit: {@link readAudit}.
 *
 * @returns how much was removed; no text
 */
export async function deleteSession(
  memory: Memory,
  user: UserScope,
  sessionId: string,
): Promise<Certificate> {
  const { kernel, registers, scope } = home('deleteSession', memory, user)
  const { host } = kernel
  checkId('deleteSession', 'sessionId', sessionId)
  // Ahead of the log, without which nobody would find them; then what was noted meanwhile. Where
  // nobody can read the user's scope, the log goes all the same.
  await dropAllNotes(registers, host, sessionId).catch((error: unknown) => {
    if (!isPlimsollError(error, 'ERR_DECRYPT')) throw error
  })
  const held = await eraseSession(kernel, { ...scope, sessionId })
  await dropAllNotes(registers, host, sessionId)
  const found = foundIn(sessionId, held)
  const record: AuditInput = { action: 'erase', target: sessionId, counts: countsOf(found) }
  let wasListed = false
  await changeRegister<SessionInfo>(registers, host, {
    operation: 'deleteSession',
    key: SESSION + sessionId,
    change: (info) => {
      wasListed ||= info !== undefined
      return null
    },
    beside: async () => [await auditOp(registers, host, record)],
  })
  if (!wasListed && !held.isEmpty) await writeAudit(registers, host, record)
  return certificateOf(host, 'erase', sessionId, !wasListed && held.isEmpty, found)
}
