import { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { webHost } from '../../platform/web.ts'
import { PlimsollError } from '../../ports/errors.ts'
import { crossOrigin } from '../auth/cors.ts'
import { securityHeaders } from '../auth/security-headers.ts'
import { type Shield, shield } from '../auth/shield.ts'
import { checkSettings } from '../check-settings.ts'
import { traceOf } from '../trace.ts'
import type { AppEnv } from './app-env.ts'
import { logMost } from './log-most.ts'
import { asPlimsollError, problemResponse } from './problem.ts'
import { chatRoutes } from './routes/chat.ts'
import { cipherErased, cipherOnly } from './routes/cipher.ts'
import { contextRoutes } from './routes/context.ts'
import { factRoutes } from './routes/facts.ts'
import { liveRoutes } from './routes/live.ts'
import { mcpRoutes } from './routes/mcp.ts'
import { guestRoutes, meRoutes } from './routes/me.ts'
import { openaiRoutes } from './routes/openai.ts'
import { operatorRoutes, operatorsOnly } from './routes/operator.ts'
import { publicRoutes } from './routes/public.ts'
import { readyRoutes } from './routes/ready.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { syncRoutes } from './routes/sync.ts'
import { transferRoutes } from './routes/transfer.ts'
import type { AppSettings } from './settings.ts'

/**
 * The edge's HTTP API as a Hono app, to be served by itself or mounted in one of your own.
 *
 * Every refusal is RFC 9457 problem details with a stable code and a request id; of what a client
 * sent there is at most an id in it, and nothing in the log.
 *
 * @param configure Contract: what the app needs, by the environment of a Worker; asked once for
 * each environment. What it throws is answered, request by request.
 * @example In a Worker:
 * ```ts
 * import { createApp } from 'plimsoll/hono'
 *
 * app.route('/memory', createApp((env: Env) => ({ objects: env, authenticate: whoIs })))
 * ```
 */
export function createApp<Env extends object>(configure: (env: Env) => AppSettings): OpenAPIHono<AppEnv> {
  const guards = new WeakMap<object, Guards>()
  const guardsOf = (env: object): Guards => {
    const found = guards.get(env) ?? guardsFor(configure(env as Env))
    guards.set(env, found)
    return found
  }
  const app = new OpenAPIHono<AppEnv>()
  app.use(logged)
  app.use(securityHeaders())
  app.use((context, next) => {
    const { settings, crossOrigin } = guardsOf(context.env)
    context.set('settings', settings)
    return crossOrigin(context, next)
  })
  // Callers without a name yet are counted by address.
  const shielded: MiddlewareHandler<AppEnv> = async (context, next) => {
    await guardsOf(context.env).shield?.(context.req.raw)
    await next()
  }
  const authenticated: MiddlewareHandler<AppEnv> = async (context, next) => {
    const { settings, shield } = guardsOf(context.env)
    const { raw } = context.req
    const principal = await settings.authenticate(raw)
    await shield?.(raw, principal)
    if (!principal) throw new PlimsollError('ERR_UNAUTHENTICATED', 'the request: no token')
    context.set('principal', principal)
    return settings.ciphertext ? cipherOnly(context, next) : next()
  }
  app.onError((error, context) => problemResponse(error, context.get('requestId')))
  app.notFound((context) =>
    problemResponse(new PlimsollError('ERR_NOT_FOUND', 'no such route'), context.get('requestId')),
  )
  publicRoutes(app)
  app.use('/health/ready', shielded)
  readyRoutes(app)
  app.use('/v1/guests', shielded)
  guestRoutes(app)
  app.use('/v1/operator/*', shielded, operatorsOnly, cipherErased)
  operatorRoutes(app)
  app.use('/v1/*', authenticated)
  app.use('/mcp', authenticated)
  for (const routes of [
    sessionRoutes,
    contextRoutes,
    factRoutes,
    chatRoutes,
    liveRoutes,
    syncRoutes,
    meRoutes,
    transferRoutes,
    openaiRoutes,
    mcpRoutes,
  ])
    routes(app)
  refuseMethods(app)
  return app
}

/**
 * Answers what a route is there for, but not by this method (RFC 9110, section 15.5.6). Routes, and
 * no handler of what is not found: that of an app in which this one is mounted would be asked.
 */
function refuseMethods(app: OpenAPIHono<AppEnv>): void {
  const methods = new Map<string, Set<string>>()
  for (const { path, method } of app.routes) {
    if (method === 'ALL') continue
    const taken = methods.get(path) ?? new Set()
    methods.set(path, taken.add(method))
    if (method === 'GET') taken.add('HEAD')
  }
  for (const [path, taken] of methods)
    app.all(path, (context) => {
      context.error = new PlimsollError('ERR_METHOD_NOT_ALLOWED', 'the request: not by this method')
      const refusal = problemResponse(context.error, context.get('requestId'))
      refusal.headers.set('Allow', [...taken].join(', '))
      return refusal
    })
}

/** Names each request, and tells the log of it. */
const logged: MiddlewareHandler<AppEnv> = async (context, next) => {
  const begun = Date.now()
  const requestId = webHost.newId()
  context.set('requestId', requestId)
  await next()
  const { error, res, req } = context
  const [account, operator] = [context.get('account'), context.get('operator')]
  const run = res.headers.get('Plimsoll-Run')
  // The answer to an upgrade cannot be changed.
  if (res.status !== 101) res.headers.set('X-Request-Id', requestId)
  const settings: AppSettings | undefined = context.get('settings')
  const { log = logMost } = settings ?? {}
  log({
    requestId,
    method: req.method,
    route: req.routePath,
    status: res.status,
    milliseconds: Date.now() - begun,
    ...(error && { code: asPlimsollError(error).code }),
    ...(error && res.status >= 500 && { error: traceOf(error) }),
    ...account,
    ...(run !== null && { run }),
    ...(operator && { operator }),
  })
}

/** What stands in front of the routes, made once for an environment. */
interface Guards {
  readonly settings: AppSettings
  readonly crossOrigin: MiddlewareHandler
  readonly shield?: Shield
}

const SETTINGS = [
  ...[
    'objects',
    'authenticate',
    'guests',
    'operator',
    'origins',
    'shield',
    'docsScript',
    'ciphertext',
    'log',
    'health',
  ],
]

function guardsFor(settings: AppSettings): Guards {
  checkSettings('createApp', settings, SETTINGS)
  const { origins = [], shield: limiter } = settings
  return { settings, crossOrigin: crossOrigin({ origins }), ...(limiter && { shield: shield(limiter) }) }
}
