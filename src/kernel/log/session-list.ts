import type { Host } from '../../ports/host.ts'
import type { SessionInfo } from '../../ports/session.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { changeRegister } from './register.ts'

/** What the keys of a user's sessions begin with, in the user's scope. */
export const SESSION = 'session/'

/** Lists a session, unless it is listed. @param given what was said of it elsewhere */
export async function addSession(
  registers: ScopeStore,
  host: Host,
  sessionId: string,
  { title = '', createdAt = host.now() }: Partial<Omit<SessionInfo, 'sessionId'>> = {},
): Promise<void> {
  await changeRegister<SessionInfo>(registers, host, {
    operation: 'sessions',
    key: SESSION + sessionId,
    change: (info) => info ?? { sessionId, title, createdAt },
  })
}
