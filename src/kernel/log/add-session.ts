import { defined } from '../../ports/defined.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import { SESSION, type SessionInfo } from '../../ports/session.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { checkReadable, valueIn } from './bodies.ts'
import { changedByOthers, once, TRIES } from './once.ts'
import { sealOp } from './seal.ts'

/** What is said of a session where it is listed. */
export type ListedAs = {
  readonly [name in 'title' | 'createdAt' | 'project']?: SessionInfo[name] | undefined
}

/**
 * Lists a session, unless it is listed.
 *
 * @param given what was said of it elsewhere
 * @throws ERR_CONFLICT, ERR_DECRYPT, ERR_NOT_FOUND: it was deleted for ever
 */
export async function addSession(
  registers: ScopeStore,
  host: Host,
  sessionId: string,
  { title = '', createdAt = host.now(), project }: ListedAs = {},
): Promise<void> {
  const key = SESSION + sessionId
  const opId = host.newId()
  for (let attempt = 1; ; attempt++) {
    const row = checkReadable(await registers.register(key))
    // A session that was taken off the list has a row without a value.
    if (row && (valueIn(row) ?? null) !== null) return
    const value = defined({ sessionId, title, createdAt, project })
    const put = sealOp({ kind: 'put', opId, key, base: row?.version ?? null, value })
    const [result] = await registers.commit([put], once)
    if (!result || result.status === 'accepted') return
    if (result.status === 'rejected')
      throw new PlimsollError('ERR_NOT_FOUND', `sessions: ${key} was deleted`, { id: key })
    if (attempt === TRIES) throw changedByOthers('sessions', key, { id: key, version: result.version })
  }
}
