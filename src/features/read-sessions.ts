import { checkReadable, valueIn } from '../kernel/log/bodies.ts'
import type { SessionInfo } from '../ports/session.ts'
import { SESSION } from '../ports/session.ts'
import type { RegisterRow, ScopeStore } from '../ports/store.ts'

/** At most 512 of a user's sessions, by id; more of them `after` the last one. */
export async function readSessions(registers: ScopeStore, after?: string): Promise<readonly SessionInfo[]> {
  for (let last = after === undefined ? undefined : SESSION + after; ; ) {
    const rows = await registers.registers(SESSION, last)
    const found = rows.flatMap((row) => infoIn(row) ?? [])
    last = rows.at(-1)?.key
    // A page may hold nothing but sessions that were deleted.
    if (found.length > 0 || last === undefined) return found
  }
}

/** @returns undefined: there is none, or it was deleted. @throws ERR_DECRYPT */
export async function readSession(
  registers: ScopeStore,
  sessionId: string,
): Promise<SessionInfo | undefined> {
  const row = checkReadable(await registers.register(SESSION + sessionId))
  return row && infoIn(row)
}

function infoIn(row: RegisterRow): SessionInfo | undefined {
  return (valueIn(row) as unknown as SessionInfo | null | undefined) ?? undefined
}
