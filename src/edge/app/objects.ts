import { webHost } from '../../platform/web.ts'
import type { Scope } from '../../ports/op.ts'
import { isGuest } from '../guest.ts'
import type { Answer } from '../objects/answer.ts'
import { objectName } from '../objects/object-name.ts'
import type { SessionCallInput, SessionCallName } from '../objects/session-calls.ts'
import type { SessionObject } from '../objects/session-object.ts'
import type { CallMeta } from '../objects/session-rpc.ts'
import type { UserCallInput, UserCallName } from '../objects/user-calls.ts'
import type { UserObject } from '../objects/user-object.ts'
import type { Principal } from '../principal.ts'
import { callObject } from '../replica/call-object.ts'
import type { SessionScope } from '../rows/session-record.ts'
import type { AppSettings } from './settings.ts'

/** Scope of the caller's own: there is no way to name another user's. */
export function userScope({ tenant, userId }: Principal): Scope {
  return { ...(tenant !== undefined && { tenant }), userId }
}

export function sessionScope(principal: Principal, sessionId: string): SessionScope {
  return { ...userScope(principal), sessionId }
}

/**
 * The same, for calls that an operator makes too: an operator reaches what a guest left who was
 * claimed, and the guest does not. @throws ERR_UNAUTHENTICATED
 */
export async function livingScope(settings: AppSettings, principal: Principal): Promise<Scope> {
  const scope = userScope(principal)
  if (isGuest(scope)) await onUser(settings, scope, (object) => object.checkLiving(scope))
  return scope
}

/**
 * Runs a call on a session's object, again where that may help. @throws ERR_OVERLOADED, and what
 * the call throws
 */
export function onSession<Result>(
  { objects }: AppSettings,
  scope: SessionScope,
  run: (object: DurableObjectStub<SessionObject>) => Promise<Result>,
): Promise<Result> {
  return callObject(() => objects.SESSIONS.getByName(objectName(scope)), webHost, 'session', run)
}

export function onUser<Result>(
  { objects }: AppSettings,
  scope: Scope,
  run: (object: DurableObjectStub<UserObject>) => Promise<Result>,
): Promise<Result> {
  return callObject(() => objects.USERS.getByName(objectName(scope)), webHost, 'user', run)
}

/** What a session answers one of its calls with. */
export function askSession<Name extends SessionCallName>(
  settings: AppSettings,
  scope: SessionScope,
  name: Name,
  input: SessionCallInput<Name>,
  meta: CallMeta = {},
): Promise<Answer> {
  const once = repeatable(name, meta)
  return onSession(settings, scope, (object) => object.call(scope, name, input, once))
}

/** What a user's object answers one of its calls with. */
export function askUser<Name extends UserCallName>(
  settings: AppSettings,
  scope: Scope,
  name: Name,
  input: UserCallInput<Name>,
  meta: CallMeta = {},
): Promise<Answer> {
  const once = repeatable(name, meta)
  return onUser(settings, scope, (object) => object.call(scope, name, input, once))
}

/**
 * What goes with a call that may be sent again: an object may have done what it was asked for, and
 * its answer be lost. So it names its op. A fact is known by what it says.
 */
function repeatable(name: SessionCallName | UserCallName, meta: CallMeta): CallMeta {
  return meta.keyed || name === 'remember' ? meta : { ...meta, opId: webHost.newId() }
}
