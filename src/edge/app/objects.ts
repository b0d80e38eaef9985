import type { Context } from 'hono'
import { webHost } from '../../platform/web.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Scope } from '../../ports/op.ts'
import { isGuest } from '../guest.ts'
import { type Answer, unpacked } from '../objects/answer.ts'
import { objectName } from '../objects/object-name.ts'
import type { SessionCallInput, SessionCallName } from '../objects/session-calls.ts'
import type { SessionObject } from '../objects/session-object.ts'
import type { CallMeta } from '../objects/session-rpc.ts'
import type { UserCallInput, UserCallName } from '../objects/user-calls.ts'
import type { UserObject } from '../objects/user-object.ts'
import type { Principal } from '../principal.ts'
import { RELAY_HEADER } from '../relay/frames.ts'
import { ServedRelay, type ServedRelayOptions } from '../relay/served-relay.ts'
import { callObject } from '../replica/call-object.ts'
import { accepted } from '../replica/refusal.ts'
import type { SessionScope } from '../rows/session-record.ts'
import type { AppEnv } from './app-env.ts'
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

/** A call whose answer the object streams, and that stream. */
export interface Relayed<Result> {
  readonly answer: Result
  readonly stream: ReadableStream<Uint8Array>
}

/**
 * Runs a call on a session's object beside a socket, over which the object streams, and asks for
 * what it would wait for. It goes on where the caller leaves, for as long as the platform lets it.
 *
 * @param run Contract: hands the relay's id to the object
 * @throws as {@link onSession}
 */
export function onSessionRelayed<Result>(
  context: Context<AppEnv>,
  scope: SessionScope,
  options: Pick<ServedRelayOptions, 'keepAlive'>,
  run: (object: DurableObjectStub<SessionObject>, relay: string) => Promise<Result>,
): Promise<Relayed<Result>> {
  return onSession(context.get('settings'), scope, async (object) => {
    const id = webHost.newId()
    const headers = { Upgrade: 'websocket', [RELAY_HEADER]: id }
    // Both at once, in this order.
    const upgrade = object.fetch('https://session/relay', { headers })
    const [opened, answered] = await Promise.allSettled([upgrade.then(serve), run(object, id)])
    if (opened.status === 'rejected') throw opened.reason
    const relay = opened.value
    try {
      if (answered.status === 'rejected') throw answered.reason
      const answer = accepted(answered.value)
      outlive(context, relay.ended)
      return { answer, stream: relay.stream }
    } catch (error) {
      relay.close()
      throw error
    }
  })

  function serve({ webSocket }: Response): ServedRelay {
    if (!webSocket) throw new PlimsollError('ERR_STORAGE', 'chat: the object opened no socket')
    return new ServedRelay(webSocket, {
      host: webHost,
      fetch: (input, init) => fetch(input, init),
      later: (run, ms) => void setTimeout(run, ms),
      ...options,
    })
  }
}

/** Where an app is called without a context, the object alone goes on when the caller leaves. */
function outlive(context: Context<AppEnv>, work: Promise<void>): void {
  try {
    context.executionCtx.waitUntil(work)
  } catch {}
}

export function onUser<Result>(
  { objects }: AppSettings,
  scope: Scope,
  run: (object: DurableObjectStub<UserObject>) => Promise<Result>,
): Promise<Result> {
  return callObject(() => objects.USERS.getByName(objectName(scope)), webHost, 'user', run)
}

/** What a session answers one of its calls with. */
export async function askSession<Name extends SessionCallName>(
  settings: AppSettings,
  scope: SessionScope,
  name: Name,
  input: SessionCallInput<Name>,
  meta: CallMeta = {},
): Promise<Answer> {
  const once = repeatable(name, meta)
  return unpacked(await onSession(settings, scope, (object) => object.call(scope, name, input, once)))
}

/** What a user's object answers one of its calls with. */
export async function askUser<Name extends UserCallName>(
  settings: AppSettings,
  scope: Scope,
  name: Name,
  input: UserCallInput<Name>,
  meta: CallMeta = {},
): Promise<Answer> {
  const once = repeatable(name, meta)
  return unpacked(await onUser(settings, scope, (object) => object.call(scope, name, input, once)))
}

/**
 * What goes with a call that may be sent again: an object may have done what it was asked for, and
 * its answer be lost. So it names its op. A fact is known by what it says.
 */
function repeatable(name: SessionCallName | UserCallName, meta: CallMeta): CallMeta {
  return meta.keyed || name === 'remember' ? meta : { ...meta, opId: webHost.newId() }
}
