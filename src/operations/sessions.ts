import type { Certificate } from '../ports/certificate.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Scope } from '../ports/op.ts'
import type { ScopeStore } from '../ports/store.ts'
import { type AuditInput, auditOp, writeAudit } from './audit.ts'
import { certificateOf, countsOf } from './forget/certificate.ts'
import type { EraseParts } from './forget/erase.ts'
import { checkId, checkText, invalid } from '../kernel/text/json.ts'
import type { LoadOnDemand } from './on-demand.ts'
import { changeRegister } from '../kernel/log/register.ts'
import { SESSION } from '../kernel/log/session-list.ts'
import { findSession, type ListOptions, listSessions } from './session-list.ts'
import { type SessionInfo } from '../ports/session.ts'

const LONGEST_TITLE = 200

/** The conversations of one user. */
export class Sessions {
  readonly #erasing: EraseParts
  readonly #user: Scope
  readonly #registers: ScopeStore
  readonly #host: Host
  readonly #onDemand: LoadOnDemand

  constructor(parts: EraseParts, user: Scope, onDemand: LoadOnDemand) {
    this.#erasing = parts
    this.#onDemand = onDemand
    this.#user = user
    this.#registers = parts.store.open(user)
    this.#host = parts.host
  }

  /** At most 512 sessions, by id; more of them `after` the last one. A session is listed from the first that is written to it on. */
  async list({ after }: ListOptions = {}): Promise<readonly SessionInfo[]> {
    if (after !== undefined) checkId('list', 'after', after)
    return listSessions(this.#registers, after)
  }

  /** Undefined where there is none, or it was deleted. @throws ERR_INVALID_ARGUMENT, ERR_DECRYPT */
  async get(sessionId: string): Promise<SessionInfo | undefined> {
    return findSession(this.#registers, checkId('get', 'sessionId', sessionId))
  }

  /** Sets a session's title, at most 200 characters. Idempotent. @throws ERR_NOT_FOUND, ERR_INVALID_ARGUMENT */
  async title(sessionId: string, title: string): Promise<void> {
    checkId('title', 'sessionId', sessionId)
    checkTitle('title', 'title', title)
    await this.#change(sessionId, (info) => {
      if (!info) throw new PlimsollError('ERR_NOT_FOUND', `title: no session ${sessionId}`, { id: sessionId })
      return { ...info, title }
    })
  }

  /**
   * Removes a session with all that is in it: log, facts, checkpoint, attachments. What it shared with the user's other sessions is the
   * user's, and stays. A row that says that it was erased is left. Idempotent: deleting what is not there is no error, and what an end of
   * the process left is finished. Calls of the session that are under way, here or in another tab, may write to it anew: end them first. It
   * is recorded in the user's `audit`.
   *
   * @returns how much was removed; no text
   */
  async delete(sessionId: string): Promise<Certificate> {
    checkId('delete', 'sessionId', sessionId)
    const { eraseSession, foundIn } = await this.#onDemand()
    const held = await eraseSession(this.#erasing, { ...this.#user, sessionId })
    const found = foundIn(sessionId, held)
    const record: AuditInput = { action: 'erase', target: sessionId, counts: countsOf(found) }
    let wasListed = false
    await changeRegister<SessionInfo>(this.#registers, this.#host, {
      operation: 'sessions',
      key: SESSION + sessionId,
      change: (info) => {
        wasListed ||= info !== undefined
        return null
      },
      beside: async () => [await auditOp(this.#registers, this.#host, record)],
    })
    if (!wasListed && !held.isEmpty) await writeAudit(this.#registers, this.#host, record)
    return certificateOf(this.#host, 'erase', sessionId, !wasListed && held.isEmpty, found)
  }

  /** Takes a session off the list that is not there. Idempotent. */
  async unlist(sessionId: string): Promise<void> {
    await this.#change(sessionId, () => null)
  }

  /** Lists a session, unless it is listed. @param given what was said of it elsewhere */
  async add(sessionId: string, given: Partial<Omit<SessionInfo, 'sessionId'>> = {}): Promise<void> {
    const { title = '', createdAt = this.#host.now() } = given
    await this.#change(sessionId, (info) => info ?? { sessionId, title, createdAt })
  }

  /** Compare-and-set on a session's register. `null` takes it off the list. */
  async #change(
    sessionId: string,
    change: (info: SessionInfo | undefined) => SessionInfo | null,
  ): Promise<void> {
    await changeRegister(this.#registers, this.#host, {
      operation: 'sessions',
      key: SESSION + sessionId,
      change,
    })
  }
}

/** A title of at most 200 characters. @throws ERR_INVALID_ARGUMENT */
export function checkTitle(operation: string, argument: string, value: unknown): string {
  const title = checkText(operation, argument, value)
  if (title.length > LONGEST_TITLE)
    throw invalid(operation, argument, `must be at most ${LONGEST_TITLE} characters`)
  return title
}
