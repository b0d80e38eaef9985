import { PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Scope } from '../ports/op.ts'
import type { RegisterRow, ScopeStore, Store } from '../ports/store.ts'
import { decide } from './decide.ts'
import { checkId, checkText, invalid } from './json.ts'
import { changeRegister } from './registers/register.ts'
import { sealOp, valueIn } from './seal.ts'

/** What the keys of sessions begin with, in the user's scope. */
export const SESSION = 'session/'
const LONGEST_TITLE = 200

export interface SessionInfo {
  readonly sessionId: string
  /** Empty until it is set. */
  readonly title: string
  /** Unix milliseconds of the first message, by the clock of its writer. */
  readonly createdAt: number
}

export interface ListOptions {
  /** Sessions after this one, by id in code unit order. */
  readonly after?: string
}

/** The conversations of one user. */
export class Sessions {
  readonly #store: Store
  readonly #user: Scope
  readonly #registers: ScopeStore
  readonly #host: Host

  constructor(store: Store, user: Scope, host: Host) {
    this.#store = store
    this.#user = user
    this.#registers = store.open(user)
    this.#host = host
  }

  /** At most 512 sessions, by id; more of them `after` the last one. A session is listed from the first that is written to it on. */
  async list({ after }: ListOptions = {}): Promise<readonly SessionInfo[]> {
    if (after !== undefined) checkId('list', 'after', after)
    for (let last = after === undefined ? undefined : SESSION + after; ; ) {
      const rows = await this.#registers.registers(SESSION, last)
      const found = rows.flatMap((row) => infoIn(row) ?? [])
      last = rows.at(-1)?.key
      // A page may hold nothing but sessions that were deleted.
      if (found.length > 0 || last === undefined) return found
    }
  }

  /** Undefined where there is none, or it was deleted. @throws ERR_INVALID_ARGUMENT */
  async get(sessionId: string): Promise<SessionInfo | undefined> {
    const row = await this.#registers.register(SESSION + checkId('get', 'sessionId', sessionId))
    return row && infoIn(row)
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

  /** Removes a session and all of its log. Idempotent: deleting what is not there is no error. */
  async delete(sessionId: string): Promise<void> {
    checkId('delete', 'sessionId', sessionId)
    const session = this.#store.open({ ...this.#user, sessionId })
    await session.commit([sealOp({ kind: 'erase', opId: this.#host.newId() })], decide)
    await session.close()
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

function infoIn(row: RegisterRow): SessionInfo | undefined {
  return (valueIn(row) as unknown as SessionInfo | null | undefined) ?? undefined
}
