import type { OpenAPIHono } from '@hono/zod-openapi'
import { checkId } from '../../../core/json.ts'
import type { AppEnv } from '../app-env.ts'
import { readBytes } from '../body.ts'
import { onSession, sessionScope } from '../objects.ts'

/** The session of a client that names none. */
const DEFAULT_SESSION = 'default'

/**
 * Model Context Protocol, streamable HTTP: the memory tools, and the session's start as a resource. The session is named by the path,
 * `/mcp/trip`, and made if it is not there.
 */
export function mcpRoutes(app: OpenAPIHono<AppEnv>): void {
  for (const path of ['/mcp', '/mcp/:session'])
    app.all(path, async ({ req, var: { settings, principal } }) => {
      const scope = sessionScope(
        principal,
        checkId('mcp', 'session', req.param('session') ?? DEFAULT_SESSION),
      )
      const { method, headers } = req.raw
      const body = method === 'POST' ? await readBytes(req.raw) : undefined
      // Nothing of the caller's own headers goes along but what the protocol needs.
      const kept = ['Accept', 'Content-Type', 'Mcp-Protocol-Version'].flatMap((name) => {
        const value = headers.get(name)
        return value === null ? [] : [[name, value] as [string, string]]
      })
      return onSession(settings, scope, (object) =>
        object.mcp(scope, { method, headers: kept, ...(body && { body }) }),
      )
    })
}
