import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from '@hono/zod-openapi'
import type { StartBudget } from '../../../ports/settings.ts'
import { toWire } from '../../wire.ts'
import { answers } from '../answer-schemas.ts'
import type { AppEnv } from '../app-env.ts'
import { endpoint } from '../endpoint.ts'
import { askSession, onSession, sessionScope } from '../objects.ts'
import { schemas } from '../schemas.ts'

/**
 * What a model call is given, and what goes with it: compaction, rewinds and versions, the
 * checkpoint, the start.
 */
export function contextRoutes(app: OpenAPIHono<AppEnv>): void {
  endpoint(
    app,
    {
      id: 'buildContext',
      method: 'post',
      path: '/v1/sessions/{session}/context',
      summary: 'What the next model call is given; messages in it are appended first',
      body: schemas.contextCall,
      answer: answers.context,
    },
    ({ context, principal, param, body, meta }) =>
      askSession(context.get('settings'), sessionScope(principal, param('session')), 'context', body, meta),
  )
  endpoint(
    app,
    {
      id: 'getContextAt',
      method: 'get',
      path: '/v1/sessions/{session}/context/{message}',
      summary:
        'What the call was given that was made when this message was the newest, with its tail where that can be proven; writes nothing',
      answer: answers.contextAt,
    },
    ({ context, principal, param }) =>
      askSession(context.get('settings'), sessionScope(principal, param('session')), 'contextAt', {
        message: param('message'),
      }),
  )
  endpoint(
    app,
    {
      id: 'compact',
      method: 'post',
      path: '/v1/sessions/{session}/compact',
      summary: 'Writes the summary that will be needed next; with new_epoch, cuts the window back now',
      body: schemas.compact,
      answer: answers.compacted,
    },
    ({ context, principal, param, body, meta }) => {
      const scope = sessionScope(principal, param('session'))
      return onSession(context.get('settings'), scope, (object) => object.compact(scope, body, meta))
    },
  )
  endpoint(
    app,
    {
      id: 'rewind',
      method: 'post',
      path: '/v1/sessions/{session}/rewind',
      summary: 'Hides a message and all that shows after it, or takes that back',
      body: schemas.rewind,
      answer: z.object({ rewind: z.string() }),
    },
    ({ context, principal, param, body, meta }) =>
      askSession(context.get('settings'), sessionScope(principal, param('session')), 'rewind', body, meta),
  )
  endpoint(
    app,
    {
      id: 'listBranches',
      method: 'get',
      path: '/v1/sessions/{session}/branches',
      summary: 'Places at which a message was edited or a reply made again, with their versions',
      answer: schemas.branches,
    },
    ({ context, principal, param }) =>
      askSession(context.get('settings'), sessionScope(principal, param('session')), 'branches', undefined),
  )
  endpoint(
    app,
    {
      id: 'switchBranch',
      method: 'post',
      path: '/v1/sessions/{session}/branches',
      summary: 'Shows a version in the place of the one that shows; answers as GET',
      body: schemas.switchTo,
      answer: schemas.branches,
    },
    ({ context, principal, param, body, meta }) =>
      askSession(context.get('settings'), sessionScope(principal, param('session')), 'switchTo', body, meta),
  )
  endpoint(
    app,
    {
      id: 'getCheckpoint',
      method: 'get',
      path: '/v1/sessions/{session}/checkpoint',
      isVersioned: true,
      summary: 'State of the task; its version is the ETag',
      answer: schemas.checkpoint,
    },
    ({ context, principal, param }) =>
      askSession(context.get('settings'), sessionScope(principal, param('session')), 'checkpoint', undefined),
  )
  endpoint(
    app,
    {
      id: 'setCheckpoint',
      method: 'put',
      path: '/v1/sessions/{session}/checkpoint',
      isVersioned: true,
      summary: 'Keeps a state of at most 32 KiB, over the version in If-Match if there is one; null: none',
      body: schemas.setCheckpoint,
      answer: schemas.checkpointVersion,
    },
    ({ context, principal, param, body, condition, meta }) =>
      askSession(
        context.get('settings'),
        sessionScope(principal, param('session')),
        'setCheckpoint',
        { ...body, condition },
        meta,
      ),
  )
  endpoint(
    app,
    {
      id: 'deleteCheckpoint',
      method: 'delete',
      path: '/v1/sessions/{session}/checkpoint',
      isVersioned: true,
      summary: 'Keeps no state from now on; the messages stay',
    },
    ({ context, principal, param, condition, meta }) =>
      askSession(
        context.get('settings'),
        sessionScope(principal, param('session')),
        'deleteCheckpoint',
        { condition },
        meta,
      ),
  )
  endpoint(
    app,
    {
      id: 'getStart',
      method: 'get',
      path: '/v1/sessions/{session}/start',
      isVersioned: true,
      summary: 'What a model should know when the session starts; 304 where the ETag still holds',
      query: schemas.start,
      answer: answers.start,
    },
    ({ context, principal, param, query: { query, project, sessions, ...budget } }) =>
      askSession(context.get('settings'), sessionScope(principal, param('session')), 'start', {
        ...(query !== undefined && { query }),
        ...(project !== undefined && { project }),
        ...(sessions !== undefined && { sessions }),
        budgetTokens: toWire(budget) as Partial<StartBudget>,
      }),
  )
  endpoint(
    app,
    {
      id: 'explain',
      method: 'get',
      path: '/v1/sessions/{session}/explain',
      summary: 'Where every character and token of the current request comes from; writes nothing',
      query: schemas.explain,
      answer: answers.explanation,
    },
    ({ context, principal, param, query }) =>
      askSession(context.get('settings'), sessionScope(principal, param('session')), 'explain', query),
  )
}
