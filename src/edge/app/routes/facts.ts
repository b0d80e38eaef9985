import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from '@hono/zod-openapi'
import type { AppEnv } from '../app-env.ts'
import { endpoint } from '../endpoint.ts'
import { askSession, askUser, sessionScope, userScope } from '../objects.ts'
import { schemas } from '../schemas.ts'

const facts = z.object({ facts: z.array(schemas.fact) })

/** Facts of a session and of its user. */
export function factRoutes(app: OpenAPIHono<AppEnv>): void {
  endpoint(
    app,
    {
      id: 'listSessionFacts',
      method: 'get',
      path: '/v1/sessions/{session}/facts',
      summary: 'Facts of the session and of its user, in the order in which they show; at most 512',
      query: schemas.factQuery,
      answer: facts,
    },
    ({ context, principal, param, query }) =>
      askSession(context.get('settings'), sessionScope(principal, param('session')), 'facts', query),
  )
  endpoint(
    app,
    {
      id: 'rememberInSession',
      method: 'post',
      path: '/v1/sessions/{session}/facts',
      summary: 'Remembers a fact on the caller’s word; preferences and constraints are kept with the user',
      body: schemas.factInput,
      answer: schemas.remembered,
    },
    ({ context, principal, param, body, meta }) =>
      askSession(context.get('settings'), sessionScope(principal, param('session')), 'remember', body, meta),
  )
  endpoint(
    app,
    {
      id: 'updateFact',
      method: 'patch',
      path: '/v1/sessions/{session}/facts/{fact}',
      summary: 'Pins, promotes, resolves, reviews or supersedes a fact',
      body: schemas.factChange,
      answer: z.object({ fact: schemas.fact }),
    },
    ({ context, principal, param, body, meta }) =>
      askSession(
        context.get('settings'),
        sessionScope(principal, param('session')),
        'changeFact',
        { ...body, fact: param('fact') },
        meta,
      ),
  )
  endpoint(
    app,
    {
      id: 'forgetFact',
      method: 'delete',
      path: '/v1/sessions/{session}/facts/{fact}',
      summary: 'Empties a fact, and what was derived from it, for ever; repeating it changes nothing',
      answer: schemas.certificate,
    },
    ({ context, principal, param, meta }) =>
      askSession(
        context.get('settings'),
        sessionScope(principal, param('session')),
        'forget',
        { fact: param('fact') },
        meta,
      ),
  )
  endpoint(
    app,
    {
      id: 'listFacts',
      method: 'get',
      path: '/v1/me/facts',
      summary: 'Facts that all of the caller’s sessions share',
      query: schemas.factQuery,
      answer: facts,
    },
    ({ context, principal, query }) => askUser(context.get('settings'), userScope(principal), 'facts', query),
  )
  endpoint(
    app,
    {
      id: 'remember',
      method: 'post',
      path: '/v1/me/facts',
      summary: 'Remembers a fact for all of the caller’s sessions',
      body: schemas.factInput,
      answer: schemas.remembered,
    },
    ({ context, principal, body, meta }) =>
      askUser(context.get('settings'), userScope(principal), 'remember', body, meta),
  )
}
