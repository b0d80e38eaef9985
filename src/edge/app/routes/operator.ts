import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { PlimsollError } from '../../../ports/errors.ts'
import type { Scope } from '../../../ports/op.ts'
import { answer } from '../../objects/answer.ts'
import { objectName } from '../../objects/object-name.ts'
import type { AppEnv } from '../app-env.ts'
import { type Call, endpoint } from '../endpoint.ts'
import { askUser, onUser } from '../objects.ts'
import { schemas } from '../schemas.ts'
import type { OperatorLine } from '../settings.ts'
import { exportStream } from '../transfer.ts'

const LINES = 'application/jsonl'
const JSON_TYPE = { 'Content-Type': 'application/json' }
const USER = '/v1/operator/users/{user}'

const query = z.strictObject({ tenant: z.string().min(1).optional() })
const holdings = z
  .object({
    is_empty: z.boolean(),
    sessions: z.object({ count: z.number(), first: z.array(z.string()) }),
    facts: z.number(),
    documents: z.number(),
    skills: z.number(),
  })
  .openapi('Holdings')

const erased = schemas.certificate
  .extend({ left: z.object({ sessions: z.number() }).optional() })
  .openapi('ErasedByOperator')

/** Lets an operator in, and nobody else. Without an operator these routes are not there. */
export const operatorsOnly: MiddlewareHandler<AppEnv> = async (context, next) => {
  const { operator } = context.get('settings')
  if (!operator) throw new PlimsollError('ERR_NOT_FOUND', 'no such route')
  await operator(context.req.raw)
  await next()
}

/** For people who cannot ask for it themselves any more: what is held of them, out, and away. */
export function operatorRoutes(app: OpenAPIHono<AppEnv>): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'operator', {
    type: 'http',
    scheme: 'bearer',
    description: 'The secret of the deployment’s operator.',
  })
  endpoint(
    app,
    {
      id: 'findUser',
      method: 'get',
      path: USER,
      summary: 'How much is held of a user, and in which sessions; no content',
      query,
      answer: holdings,
      by: 'operator',
    },
    (call) => askUser(call.context.get('settings'), told('find', call), 'holdings', undefined),
  )
  endpoint(
    app,
    {
      id: 'exportUser',
      method: 'get',
      path: `${USER}/export`,
      summary:
        'All that is stored of a user, as JSON lines; without its last line, of type `end`, it is not whole',
      query,
      media: { answer: LINES },
      by: 'operator',
    },
    async (call) => {
      const parts = ['log', 'facts', 'profile', 'checkpoint'] as const
      const stream = await exportStream(call.context.get('settings'), told('export', call), parts)
      return new Response(stream, {
        headers: { 'Content-Type': `${LINES}; charset=utf-8`, 'Cache-Control': 'no-store' },
      })
    },
  )
  endpoint(
    app,
    {
      id: 'eraseUser',
      method: 'delete',
      path: USER,
      summary:
        'Removes all of a user: every session, and what they share. 202: `left` is still there, and follows by itself, or by the same call',
      query,
      answer: erased,
      also: [202],
      isKeyed: false,
      by: 'operator',
    },
    async (call) => {
      const { settings } = call.context.var
      const scope = told('erase', call)
      const { isDone, certificate } = await onUser(settings, scope, (object) =>
        settings.ciphertext ? object.eraseCipher(scope) : object.erase(scope),
      )
      if (isDone) return answer(certificate)
      const { json } = await askUser(settings, scope, 'holdings', undefined)
      const { sessions } = JSON.parse(json) as { readonly sessions: { readonly count: number } }
      const body = answer({ ...certificate, left: { sessions: sessions.count } })
      return new Response(body.json, { status: 202, headers: JSON_TYPE })
    },
  )
}

/** Whom a call is about. The log has it by the id of the user's object, which names nobody. */
function told(
  action: OperatorLine['action'],
  { context, query: { tenant }, param }: Call<{ readonly tenant?: string }, unknown>,
): Scope {
  const scope = { ...(tenant !== undefined && { tenant }), userId: param('user') }
  const object = context.get('settings').objects.USERS.idFromName(objectName(scope)).toString()
  context.set('operator', { action, object })
  return scope
}
