import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, Handler } from 'hono'
import { webHost } from '../../../platform/web.ts'
import { PlimsollError } from '../../../ports/errors.ts'
import { checkId } from '../../../text/json.ts'
import { MODEL_NAME } from '../../turn/completions/chat.ts'
import { EVENT_STREAM_HEADERS } from '../../turn/completions/encoder.ts'
import { chatErrorOf } from '../../turn/completions/error.ts'
import { ChatCompletionRequest } from '../../turn/completions/request.ts'
import { answers } from '../answer-schemas.ts'
import type { AppEnv } from '../app-env.ts'
import { readJson } from '../body.ts'
import { describe } from '../describe.ts'
import { queryIn } from '../endpoint.ts'
import { keyedOf } from '../keyed.ts'
import { onSession, onSessionRelayed, sessionScope } from '../objects.ts'

/** The session of a client that names none. */
const DEFAULT_SESSION = 'default'

/**
 * OpenAI's Chat Completions, for clients that know of a base URL alone: `/v1/openai`, whose session
 * is made if it is not there, or `/v1/sessions/trip/openai` for one that is.
 */
export function openaiRoutes(app: OpenAPIHono<AppEnv>): void {
  for (const door of ['/v1/openai', '/v1/sessions/:session/openai']) {
    describeDoor(app, door.replace(':session', '{session}'))
    app.post(`${door}/chat/completions`, answered(complete))
    app.get(`${door}/models`, answered(models))
    app.get(`${door}/models/:model`, answered(models))
  }
}

function describeDoor(app: OpenAPIHono<AppEnv>, door: string): void {
  const isOfSession = door.includes('{')
  const id = (name: string): string =>
    isOfSession ? `session${name}` : name.replace(/^./, (letter) => letter.toLowerCase())
  const one = { method: 'get', refusal: answers.completionError } as const
  describe(app, {
    id: id('ChatCompletion'),
    method: 'post',
    path: `${door}/chat/completions`,
    summary: 'OpenAI’s Chat Completions over a session; with `stream`, server-sent events',
    body: ChatCompletionRequest,
    answer: answers.completion,
    media: { answer: 'text/event-stream' },
    refusal: answers.completionError,
  })
  describe(app, {
    ...one,
    id: id('Models'),
    path: `${door}/models`,
    summary: 'The one name that a model has here',
    answer: answers.models,
  })
  describe(app, {
    ...one,
    id: id('Model'),
    path: `${door}/models/{model}`,
    summary: 'The model of that name',
    answer: answers.model,
  })
}

/** Answers, and refuses as OpenAI does. */
function answered(
  handle: (context: Context<AppEnv>, session: string | undefined) => Promise<Response>,
): Handler<AppEnv> {
  return async (context) => {
    try {
      queryIn(context.req)
      return await handle(context, context.req.param('session'))
    } catch (error) {
      const { status, headers, body } = chatErrorOf(error)
      context.error = error as Error
      return Response.json(body, { status, headers })
    }
  }
}

/** What may be asked for as `model`. Which one answers is the edge's own affair. */
const MODEL = { id: MODEL_NAME, object: 'model', created: 0, owned_by: MODEL_NAME }

async function models({ req, var: vars }: Context<AppEnv>, session: string | undefined): Promise<Response> {
  if (session !== undefined) {
    const scope = sessionScope(vars.principal, checkId('models', 'session', session))
    await onSession(vars.settings, scope, (object) => object.info(scope))
  }
  const model = req.param('model')
  if (model === undefined) return Response.json({ object: 'list', data: [MODEL] })
  if (model === MODEL_NAME) return Response.json(MODEL)
  throw new PlimsollError('ERR_NOT_FOUND', 'models: no such model', { argument: 'model' })
}

async function complete(context: Context<AppEnv>, sessionId: string | undefined): Promise<Response> {
  const { req, var: vars } = context
  const scope = sessionScope(
    vars.principal,
    sessionId === undefined ? DEFAULT_SESSION : checkId('chat.completions', 'session', sessionId),
  )
  const { value, bytes, raw } = await readJson(req.raw)
  const keyed = await keyedOf(req, raw)
  const isRetry = Number(req.header('X-Stainless-Retry-Count')) > 0
  // An object whose answer is lost is asked again, and then must not answer twice; a client that
  // repeats a request has no name for it.
  const opId = webHost.newId()
  const { answer, stream } = await onSessionRelayed(context, scope, {}, (object, relay) =>
    object.complete(scope, {
      body: value,
      bytes,
      relay,
      ...(sessionId === undefined && { create: true as const }),
      ...(keyed ? { keyed } : !isRetry && { opId }),
      ...(isRetry && { isRetry }),
    }),
  )
  if (!answer.isWhole) return new Response(stream, { headers: EVENT_STREAM_HEADERS })
  const json = await new Response(stream).text()
  return new Response(json, { headers: { 'Content-Type': 'application/json' } })
}
