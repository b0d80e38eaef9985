import { checkId, invalid } from '../../text/json.ts'

/** @throws ERR_INVALID_ARGUMENT */
export function checkSessions(operation: string, argument: string, sessions: unknown, most: number): void {
  if (sessions === 'all') return
  if (!Array.isArray(sessions) || sessions.length > most)
    throw invalid(operation, argument, `must be all or a list of at most ${most} ids`)
  for (const sessionId of sessions) checkId(operation, argument, sessionId)
}
