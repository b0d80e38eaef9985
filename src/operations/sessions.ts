import { readSession, readSessions } from '../features/read-sessions.ts'
import { changeRegister } from '../features/register.ts'

import type { KernelMemory } from '../kernel/feature.ts'
import { addSession, type ListedAs } from '../kernel/log/add-session.ts'
import { checkUser } from '../kernel/memory.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Memory, UserScope } from '../ports/memory.ts'
import type { SessionInfo } from '../ports/session.ts'
import { SESSION } from '../ports/session.ts'
import type { ScopeStore } from '../ports/store.ts'
import { checkId, checkOptions, checkText, invalid } from '../text/json.ts'
import { memoryOf } from './kernel-of.ts'

const LONGEST_TITLE = 200

export interface ListOptions {
  /** Sessions after this one, by id in code unit order. */
  readonly after?: string
}

/**
 * At most 512 of a user's sessions, by id; more of them `after` the last one. A session is listed
 * from the first that is written to it on.
 *
 * @throws ERR_INVALID_ARGUMENT, ERR_DECRYPT
 */
export async function listSessions(
  memory: Memory,
  user: UserScope,
  options: ListOptions = {},
): Promise<readonly SessionInfo[]> {
  const { registers } = home('listSessions', memory, user)
  checkOptions('listSessions', 'options', options, ['after'])
  const { after } = options
  if (after !== undefined) checkId('listSessions', 'after', after)
  return readSessions(registers, after)
}

/** Undefined where there is none, or it was deleted. @throws ERR_INVALID_ARGUMENT, ERR_DECRYPT */
export async function findSession(
  memory: Memory,
  user: UserScope,
  sessionId: string,
): Promise<SessionInfo | undefined> {
  const { registers } = home('findSession', memory, user)
  return readSession(registers, checkId('findSession', 'sessionId', sessionId))
}

/**
 * Sets a session's title, at most 200 characters. Idempotent. @throws ERR_NOT_FOUND,
 * ERR_INVALID_ARGUMENT
 */
export async function titleSession(
  memory: Memory,
  user: UserScope,
  sessionId: string,
  title: string,
): Promise<void> {
  const { kernel, registers } = home('titleSession', memory, user)
  checkId('titleSession', 'sessionId', sessionId)
  checkTitle('titleSession', 'title', title)
  await changeRegister<SessionInfo>(registers, kernel.host, {
    operation: 'titleSession',
    key: SESSION + sessionId,
    change: (info) => {
      if (info) return { ...info, title }
      throw new PlimsollError('ERR_NOT_FOUND', `titleSession: no session ${sessionId}`, { id: sessionId })
    },
  })
}

/**
 * Lists a session, unless it is listed. Idempotent. A session lists itself with what is written to
 * it: this is for what moves rows by itself.
 *
 * @param given what was said of it elsewhere
 */
export async function listSession(
  memory: Memory,
  { sessionId, ...user }: UserScope & { readonly sessionId: string },
  given: ListedAs = {},
): Promise<void> {
  const { kernel, registers } = home('listSession', memory, user)
  await addSession(registers, kernel.host, checkId('listSession', 'sessionId', sessionId), given)
}

/** Takes a session off the list that is not there. Idempotent. */
export async function unlistSession(
  memory: Memory,
  { sessionId, ...user }: UserScope & { readonly sessionId: string },
): Promise<void> {
  const { kernel, registers } = home('unlistSession', memory, user)
  await changeRegister<SessionInfo>(registers, kernel.host, {
    operation: 'unlistSession',
    key: SESSION + checkId('unlistSession', 'sessionId', sessionId),
    change: () => null,
  })
}

/** A title of at most 200 characters. @throws ERR_INVALID_ARGUMENT */
export function checkTitle(operation: string, argument: string, value: unknown): string {
  const title = checkText(operation, argument, value)
  if (title.length > LONGEST_TITLE)
    throw invalid(operation, argument, `must be at most ${LONGEST_TITLE} characters`)
  return title
}

/** A user's registers, and what is needed to change them. @throws ERR_INVALID_ARGUMENT */
export function home(
  operation: string,
  memory: Memory,
  user: UserScope,
): {
  readonly kernel: KernelMemory
  readonly scope: ReturnType<typeof checkUser>
  readonly registers: ScopeStore
} {
  const kernel = memoryOf(operation, memory)
  const scope = checkUser(operation, user)
  return { kernel, scope, registers: kernel.store.open(scope) }
}
