import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { checkId } from '../../../kernel/text/json.ts'
import { webHost } from '../../../platform/web.ts'
import { EVENT_STREAM_HEADERS } from '../../turn/completions/encoder.ts'
import { chatErrorOf } from '../../turn/completions/error.ts'
import type { AppEnv } from '../app-env.ts'
import { readJson } from '../body.ts'
import { onSession, sessionScope } from '../objects.ts'

/** The session of a client that names none. */
const DEFAULT_SESSION = 'default'

/**
 * OpenAI's Chat Completions, for clients that know of a base URL alone: `/v1/openai`, whose session
 * is made if it is not there, or `/v1/sessions/trip/openai` for one that is.
 */
export function openaiRoutes(app: OpenAPIHono<AppEnv>): void {
  for (const path of ['/v1/openai/chat/completions', '/v1/sessions/:session/openai/chat/completions'])
    app.post(path, async (context) => {
      try {
        return await complete(context, context.req.param('session'))
      } catch (error) {
        const { status, headers, body } = chatErrorOf(error)
        context.error = error as Error
        return Response.json(body, { status, headers })
      }
    })
}

async function complete(context: Context<AppEnv>, sessionId: string | undefined): Promise<Response> {
  const { req, var: vars } = context
  const scope = sessionScope(
    vars.principal,
    sessionId === undefined ? DEFAULT_SESSION : checkId('chat.completions', 'session', sessionId),
  )
  const { value, bytes } = await readJson(req.raw)
  const key = req.header('Idempotency-Key')
  const isRetry = Number(req.header('X-Stainless-Retry-Count')) > 0
  // An object whose answer is lost is asked again, and then must not answer twice; a client that
  // repeats a request has no name for it.
  const fresh = isRetry ? undefined : webHost.newId()
  const opId = key === undefined ? fresh : checkId('chat.completions', 'Idempotency-Key', key)
  const answered = await onSession(vars.settings, scope, (object) =>
    object.complete(scope, {
      body: value,
      bytes,
      ...(sessionId === undefined && { create: true as const }),
      ...(opId !== undefined && { opId }),
      ...(isRetry && { isRetry }),
    }),
  )
  const { json, stream } = answered
  if (stream) return new Response(stream, { headers: EVENT_STREAM_HEADERS })
  return new Response(json ?? null, { headers: { 'Content-Type': 'application/json' } })
}
