import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from '@hono/zod-openapi'
import { webHost } from '../../../platform/web.ts'
import { answer } from '../../objects/answer.ts'
import type { AppEnv } from '../app-env.ts'
import { readText } from '../body.ts'
import { endpoint } from '../endpoint.ts'
import { askSession, askUser, onSession, sessionScope, userScope } from '../objects.ts'
import { schemas } from '../schemas.ts'

/** Sessions themselves, and their messages. */
export function sessionRoutes(app: OpenAPIHono<AppEnv>): void {
  endpoint(
    app,
    {
      method: 'get',
      path: '/v1/sessions',
      summary: 'The caller’s sessions, by id; at most 512 after the one that is named',
      query: schemas.after,
      answer: z.object({ sessions: z.array(schemas.session) }),
    },
    ({ context, principal, query }) => askUser(context.var.settings, userScope(principal), 'sessions', query),
  )
  endpoint(
    app,
    {
      method: 'post',
      path: '/v1/sessions',
      summary: 'Creates a session; one that is there already stays as it is',
      body: schemas.createSession,
      answer: schemas.session,
      status: 201,
    },
    ({ context, principal, opId = webHost.newId(), body: { sessionId = opId, ...options } }) => {
      const scope = sessionScope(principal, sessionId)
      return onSession(context.var.settings, scope, (object) => object.create(scope, options))
    },
  )
  endpoint(
    app,
    {
      method: 'get',
      path: '/v1/sessions/{session}',
      summary: 'One session',
      answer: schemas.session,
    },
    ({ context, principal, param }) => {
      const scope = sessionScope(principal, param('session'))
      return onSession(context.var.settings, scope, (object) => object.info(scope))
    },
  )
  endpoint(
    app,
    {
      method: 'patch',
      path: '/v1/sessions/{session}',
      summary: 'Sets the title, at most 200 characters',
      body: schemas.changeSession,
      answer: schemas.session,
    },
    ({ context, principal, param, body }) => {
      const scope = sessionScope(principal, param('session'))
      return onSession(context.var.settings, scope, (object) => object.title(scope, body))
    },
  )
  endpoint(
    app,
    {
      method: 'delete',
      path: '/v1/sessions/{session}',
      summary: 'Removes a session and all that is in it',
      answer: schemas.certificate,
    },
    async ({ context, principal, param }) => {
      const scope = sessionScope(principal, param('session'))
      return answer(await onSession(context.var.settings, scope, (object) => object.erase(scope)))
    },
  )
  endpoint(
    app,
    {
      method: 'post',
      path: '/v1/sessions/{session}/messages',
      summary: 'Appends messages, all or none; durable when it answers. Idempotency-Key is the op’s id',
      body: schemas.append,
      answer: schemas.appended,
    },
    ({ context, principal, param, body, opId, bytes }) =>
      askSession(context.var.settings, sessionScope(principal, param('session')), 'append', body, {
        ...(opId !== undefined && { opId }),
        bytes,
      }),
  )
  endpoint(
    app,
    {
      method: 'get',
      path: '/v1/sessions/{session}/messages',
      summary:
        'Messages as they show, whole and uncut, newest last: the last 50 unless it says otherwise, and about 1 MiB',
      query: schemas.history,
      answer: z.object({ messages: z.array(schemas.message) }),
    },
    ({ context, principal, param, query }) =>
      askSession(context.var.settings, sessionScope(principal, param('session')), 'messages', query),
  )
  endpoint(
    app,
    {
      method: 'delete',
      path: '/v1/sessions/{session}/messages/{message}',
      summary: 'Empties a message, and what was derived from it, for ever; repeating it changes nothing',
      answer: schemas.certificate,
    },
    ({ context, principal, param }) =>
      askSession(context.var.settings, sessionScope(principal, param('session')), 'forgetMessage', {
        message: param('message'),
      }),
  )
  endpoint(
    app,
    {
      method: 'put',
      path: '/v1/sessions/{session}/parts/{entry}/{n}',
      summary: 'A slice of the JSON of a message that is longer than a body may be: number n, from 0',
      media: { body: 'text/plain' },
    },
    async ({ context, principal, param }) => {
      const scope = sessionScope(principal, param('session'))
      const n = schemas.count.parse(/^\d{1,2}$/.test(param('n')) ? param('n') : '99')
      const [entry, { value, bytes }] = [param('entry'), await readText(context.req.raw)]
      return onSession(context.var.settings, scope, (object) =>
        object.putPart(scope, { entry, n, text: value }, { bytes }),
      )
    },
  )
}
