import type { OpenAPIHono } from '@hono/zod-openapi'
import { checkId } from '../../../text/json.ts'
import { answers } from '../answer-schemas.ts'
import type { AppEnv } from '../app-env.ts'
import { readBytes } from '../body.ts'
import { describe } from '../describe.ts'
import { onSession, sessionScope } from '../objects.ts'

/** The session of a client that names none. */
const DEFAULT_SESSION = 'default'

/**
 * Model Context Protocol, streamable HTTP: the memory tools, and the session's start as a resource.
 * `/mcp` has a session of its own, which is made if it is not there; `/v1/sessions/trip/mcp` is for
 * one that is.
 */
export function mcpRoutes(app: OpenAPIHono<AppEnv>): void {
  for (const path of ['/mcp', '/v1/sessions/:session/mcp']) {
    describe(app, {
      id: path === '/mcp' ? 'mcp' : 'sessionMcp',
      method: 'post',
      path: path.replace(':session', '{session}'),
      summary: 'Model Context Protocol, streamable HTTP: one request, or a batch',
      body: answers.rpc,
      answer: answers.rpc,
      also: [202],
      bodiless: 202,
      refusal: answers.rpc,
      isKeyed: false,
    })
    app.all(path, async ({ req, var: { settings, principal } }) => {
      const named = req.param('session')
      const scope = sessionScope(
        principal,
        named === undefined ? DEFAULT_SESSION : checkId('mcp', 'session', named),
      )
      const { method, headers } = req.raw
      const body = method === 'POST' ? await readBytes(req.raw) : undefined
      // Nothing of the caller's own headers goes along but what the protocol needs.
      const kept = ['Accept', 'Content-Type', 'Mcp-Protocol-Version'].flatMap((name) => {
        const value = headers.get(name)
        return value === null ? [] : [[name, value] as [string, string]]
      })
      return onSession(settings, scope, (object) =>
        object.mcp(scope, {
          method,
          headers: kept,
          ...(body && { body }),
          ...(named === undefined && { create: true as const }),
        }),
      )
    })
  }
}
