/**
 * The edge process: wiring only. One Durable Object a session. There is no authentication yet: run it on loopback only.
 */
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { type ErrorCode, isPlimsollError, PlimsollError } from '../src/ports/errors.ts'
import type { Env } from './env.ts'
import type { ContextRequest } from './session-object.ts'

const MAX_BODY_BYTES = 1024 * 1024

const STATUS: { readonly [Code in ErrorCode]?: ContentfulStatusCode } = {
  ERR_BUDGET_TOO_SMALL: 422,
  ERR_CONFLICT: 409,
  ERR_DUPLICATE_ID: 409,
  ERR_ENTRY_TOO_LARGE: 413,
  ERR_INVALID_ARGUMENT: 400,
  ERR_NOT_FOUND: 404,
  ERR_STORAGE_FULL: 507,
  ERR_TOOL_PENDING: 409,
}

const app = new Hono<{ Bindings: Env }>()

app.get('/health', (context) => context.json({ status: 'ok' }))

app.use(
  '/v1/*',
  bodyLimit({
    maxSize: MAX_BODY_BYTES,
    onError: (context) =>
      context.json({ code: 'ERR_ENTRY_TOO_LARGE', message: 'the body is above 1 MiB' }, 413),
  }),
)

app.post('/v1/sessions/:session/messages', async ({ req, env, body }) => {
  const session = req.param('session')
  const opId = req.header('Idempotency-Key')
  const appended = await env.SESSIONS.getByName(session).append(
    session,
    parse(await req.text()),
    opId === undefined ? {} : { opId },
  )
  return body(appended, 200, { 'Content-Type': 'application/json' })
})

app.post('/v1/sessions/:session/context', async ({ req, env, body }) => {
  const session = req.param('session')
  const opId = req.header('Idempotency-Key')
  const text = await req.text()
  const request = (text === '' ? {} : parse(text)) as ContextRequest
  const context = await env.SESSIONS.getByName(session).context(session, {
    ...request,
    ...(opId !== undefined && { opId }),
  })
  return body(context, 200, { 'Content-Type': 'application/json' })
})

app.onError((error, context) => {
  if (isPlimsollError(error)) {
    const { code, message } = error
    return context.json({ code, message }, STATUS[code] ?? 500)
  }
  throw error
})

/** Here and not where errors are answered: JSON that was stored and cannot be read is not the caller's fault. */
function parse(text: string) {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new PlimsollError('ERR_INVALID_ARGUMENT', 'the body is not JSON', { cause })
  }
}

export { SessionObject } from './session-object.ts'
export default app
