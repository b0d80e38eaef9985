import type { OpenAPIHono } from '@hono/zod-openapi'
import { checkId, invalid } from '../../../kernel/text/json.ts'
import { isUpgrade, SOCKET_PROTOCOL } from '../../auth/socket-token.ts'
import { acceptedResponse } from '../../replica/refusal.ts'
import type { AppEnv } from '../app-env.ts'
import { describe } from '../describe.ts'
import { queryIn } from '../endpoint.ts'
import { onSession, sessionScope } from '../objects.ts'

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
    queryIn(req)
    const scope = sessionScope(principal, checkId('live', 'session', req.param('session')))
    if (!isUpgrade(req.raw)) throw invalid('live', 'Upgrade', 'must be websocket')
    return onSession(settings, scope, async (object) => {
      // Nothing of the caller's own headers goes along but what the protocol needs.
      const response = await object.fetch('https://session/live', {
        headers: {
          Upgrade: 'websocket',
          'Plimsoll-Scope': encodeURIComponent(JSON.stringify(scope)),
          ...(principal.expiresAt !== undefined && { 'Plimsoll-Expires': String(principal.expiresAt) }),
          ...(req.header('Sec-WebSocket-Protocol') && { 'Sec-WebSocket-Protocol': SOCKET_PROTOCOL }),
        },
      })
      return acceptedResponse(response)
    })
  })
}
