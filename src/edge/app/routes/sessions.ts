import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from '@hono/zod-openapi'
import { webHost } from '../../../platform/web.ts'
import { type Answer, answer } from '../../objects/answer.ts'
import type { AppEnv } from '../app-env.ts'
import { checkType, readText } from '../body.ts'
import { endpoint, responseOf } from '../endpoint.ts'
import { askSession, askUser, onSession, onUser, sessionScope, userScope } from '../objects.ts'
import { schemas } from '../schemas.ts'

/** Sessions themselves, and their messages. */
export function sessionRoutes(app: OpenAPIHono<AppEnv>): void {
  endpoint(
    app,
    {
      id: 'listSessions',
      method: 'get',
      path: '/v1/sessions',
      summary: 'The caller’s sessions, by id; at most 512 after the one that is named',
      query: schemas.after,
      answer: z.object({ sessions: z.array(schemas.session) }),
    },
    ({ context, principal, query }) =>
      askUser(context.get('settings'), userScope(principal), 'sessions', query),
  )
  endpoint(
    app,
    {
      id: 'createSession',
      method: 'post',
      path: '/v1/sessions',
      also: [200],
      headers: ['Location'],
      summary: 'Creates a session (201); one that is there already stays as it is (200)',
      body: schemas.createSession,
      answer: schemas.session,
      status: 201,
    },
    async ({ context, principal, meta, body: { sessionId, ...options } }) => {
      const { req, var: vars } = context
      const { keyed } = meta
      let answered: Answer
      if (sessionId === undefined && keyed) {
        const user = userScope(principal)
        answered = await onUser(vars.settings, user, (object) => object.createSession(user, options, keyed))
      } else {
        const scope = sessionScope(principal, sessionId ?? webHost.newId())
        answered = await onSession(vars.settings, scope, (object) => object.create(scope, options, meta))
      }
      const response = responseOf(answered, 201)
      const { session_id: id } = JSON.parse(answered.json) as { readonly session_id: string }
      if (response.status === 201) response.headers.set('Location', `${req.path}/${encodeURIComponent(id)}`)
      return response
    },
  )
  endpoint(
    app,
    {
      id: 'getSession',
      method: 'get',
      path: '/v1/sessions/{session}',
      summary: 'One session',
      answer: schemas.session,
    },
    ({ context, principal, param }) => {
      const scope = sessionScope(principal, param('session'))
      return onSession(context.get('settings'), scope, (object) => object.info(scope))
    },
  )
  endpoint(
    app,
    {
      id: 'updateSession',
      method: 'patch',
      path: '/v1/sessions/{session}',
      summary: 'Sets the title, at most 200 characters',
      body: schemas.changeSession,
      answer: schemas.session,
    },
    ({ context, principal, param, body, meta }) => {
      const scope = sessionScope(principal, param('session'))
      return onSession(context.get('settings'), scope, (object) => object.title(scope, body, meta))
    },
  )
  endpoint(
    app,
    {
      id: 'deleteSession',
      method: 'delete',
      path: '/v1/sessions/{session}',
      summary: 'Removes a session and all that is in it',
      answer: schemas.certificate,
    },
    async ({ context, principal, param, meta }) => {
      const scope = sessionScope(principal, param('session'))
      return answer(
        await onSession(context.get('settings'), scope, (object) => object.erase(scope, undefined, meta)),
      )
    },
  )
  endpoint(
    app,
    {
      id: 'appendMessages',
      method: 'post',
      path: '/v1/sessions/{session}/messages',
      summary: 'Appends messages, all or none; durable when it answers. Idempotency-Key is the op’s id',
      body: schemas.append,
      answer: schemas.appended,
    },
    ({ context, principal, param, body, meta }) =>
      askSession(context.get('settings'), sessionScope(principal, param('session')), 'append', body, meta),
  )
  endpoint(
    app,
    {
      id: 'commit',
      method: 'post',
      path: '/v1/sessions/{session}/commit',
      isVersioned: true,
      summary:
        'Writes messages, checkpoint and facts, all or nothing, the checkpoint over the version in If-Match if there is one',
      body: schemas.commit,
      answer: schemas.committed,
    },
    ({ context, principal, param, body, condition, meta }) =>
      askSession(
        context.get('settings'),
        sessionScope(principal, param('session')),
        'commit',
        { ...body, condition },
        meta,
      ),
  )
  endpoint(
    app,
    {
      id: 'listMessages',
      method: 'get',
      path: '/v1/sessions/{session}/messages',
      summary:
        'Messages as they show, whole and uncut, newest last: the last 50 unless it says otherwise, and about 1 MiB',
      query: schemas.history,
      answer: z.object({ messages: z.array(schemas.message) }),
    },
    ({ context, principal, param, query }) =>
      askSession(context.get('settings'), sessionScope(principal, param('session')), 'messages', query),
  )
  endpoint(
    app,
    {
      id: 'clearLog',
      method: 'delete',
      path: '/v1/sessions/{session}/messages',
      summary:
        'Empties all messages, and what was derived from them, for ever; checkpoint, title and other facts stay',
      answer: schemas.certificate,
    },
    ({ context, principal, param, meta }) =>
      askSession(
        context.get('settings'),
        sessionScope(principal, param('session')),
        'clearLog',
        undefined,
        meta,
      ),
  )
  endpoint(
    app,
    {
      id: 'forgetMessage',
      method: 'delete',
      path: '/v1/sessions/{session}/messages/{message}',
      summary: 'Empties a message, and what was derived from it, for ever; repeating it changes nothing',
      answer: schemas.certificate,
    },
    ({ context, principal, param, meta }) =>
      askSession(
        context.get('settings'),
        sessionScope(principal, param('session')),
        'forgetMessage',
        { message: param('message') },
        meta,
      ),
  )
  endpoint(
    app,
    {
      id: 'putPart',
      method: 'put',
      path: '/v1/sessions/{session}/parts/{entry}/{n}',
      isKeyed: false,
      summary: 'A slice of the JSON of a message that is longer than a body may be: number n, from 0',
      media: { body: 'text/plain' },
    },
    async ({ context, principal, param }) => {
      const scope = sessionScope(principal, param('session'))
      const n = schemas.count.parse(/^\d{1,2}$/.test(param('n')) ? param('n') : '99')
      const entry = param('entry')
      checkType(context.req.raw, 'text/plain')
      const { value, bytes } = await readText(context.req.raw)
      return onSession(context.get('settings'), scope, (object) =>
        object.putPart(scope, { entry, n, text: value }, { bytes }),
      )
    },
  )
}
