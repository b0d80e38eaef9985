import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, HonoRequest } from 'hono'
import type { Scope } from '../../../ports/op.ts'
import { checkId, invalid } from '../../../text/json.ts'
import { isUpgrade, SOCKET_PROTOCOL } from '../../auth/socket-token.ts'
import type { Principal } from '../../principal.ts'
import { acceptedResponse } from '../../replica/refusal.ts'
import type { AppEnv } from '../app-env.ts'
import { describe } from '../describe.ts'
import { queryIn } from '../endpoint.ts'
import { onSession, onUser, sessionScope, userScope } from '../objects.ts'

/**
 * Hints over a WebSocket: that something has changed, never what. What is missed on the way, the
 * next read shows.
 */
export function liveRoutes(app: OpenAPIHono<AppEnv>): void {
  describe(app, {
    id: 'live',
    method: 'get',
    path: '/v1/sessions/{session}/live',
    summary: 'A WebSocket of hints that something changed; the token is its subprotocol',
    also: [101],
  })
  app.get('/v1/sessions/:session/live', async ({ req, var: { settings, principal } }) => {
    const scope = sessionScope(principal, checkId('live', 'session', req.param('session')))
    const init = upgradeOf(req, scope, principal)
    return onSession(settings, scope, async (object) =>
      acceptedResponse(await object.fetch('https://session/live', init)),
    )
  })
  describe(app, {
    id: 'liveMe',
    method: 'get',
    path: '/v1/me/live',
    summary: 'The same for what the caller’s sessions share, and for their list',
    also: [101],
  })
  app.get('/v1/me/live', async ({ req, var: { settings, principal } }) => {
    return acceptedSocket({ req, var: { settings, principal } }, userScope(principal))
  })
}

/** A socket of the user's object. @throws ERR_INVALID_ARGUMENT: no upgrade is asked for */
export function acceptedSocket(
  {
    req,
    var: { settings, principal },
  }: Pick<Context<AppEnv>, 'req'> & {
    readonly var: Pick<AppEnv['Variables'], 'settings' | 'principal'>
  },
  user: Scope,
): Promise<Response> {
  const init = upgradeOf(req, user, principal)
  return onUser(settings, user, async (object) =>
    acceptedResponse(await object.fetch('https://user/live', init)),
  )
}

/**
 * What an object is asked for a socket with: nothing of the caller's own headers but what the
 * protocol needs. @throws ERR_INVALID_ARGUMENT: it is no upgrade
 */
function upgradeOf(req: HonoRequest, scope: Scope, { expiresAt }: Principal): RequestInit {
  queryIn(req)
  if (!isUpgrade(req.raw)) throw invalid('live', 'Upgrade', 'must be websocket')
  return {
    headers: {
      Upgrade: 'websocket',
      'Plimsoll-Scope': encodeURIComponent(JSON.stringify(scope)),
      ...(expiresAt !== undefined && { 'Plimsoll-Expires': String(expiresAt) }),
      ...(req.header('Sec-WebSocket-Protocol') && { 'Sec-WebSocket-Protocol': SOCKET_PROTOCOL }),
    },
  }
}
