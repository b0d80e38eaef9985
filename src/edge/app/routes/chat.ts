import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from '@hono/zod-openapi'
import { webHost } from '../../../platform/web.ts'
import { KEEP_ALIVE } from '../../turn/tape-stream.ts'
import { UI_MESSAGE_STREAM_HEADERS } from '../../turn/ui/encoder.ts'
import { answers } from '../answer-schemas.ts'
import type { AppEnv } from '../app-env.ts'
import { endpoint } from '../endpoint.ts'
import { onSession, onSessionRelayed, sessionScope } from '../objects.ts'

const STREAM = { answer: 'text/event-stream' }

/** A conversation with the edge's own model, as the AI SDK's `useChat` has it. */
export function chatRoutes(app: OpenAPIHono<AppEnv>): void {
  endpoint(
    app,
    {
      id: 'chat',
      method: 'post',
      path: '/v1/sessions/{session}/chat',
      headers: ['Plimsoll-Run'],
      summary: 'Says something, and streams the reply; the run goes on if the client leaves',
      body: answers.chat,
      isVerbatim: true,
      media: STREAM,
    },
    async ({ context, principal, param, body, meta }) => {
      const scope = sessionScope(principal, param('session'))
      const call = { ...meta, messageId: webHost.newId() }
      const { answer, stream } = await onSessionRelayed(
        context,
        scope,
        { keepAlive: KEEP_ALIVE },
        (object, relay) => object.chat(scope, body, { ...call, relay }),
      )
      return new Response(stream, { headers: { ...UI_MESSAGE_STREAM_HEADERS, 'Plimsoll-Run': answer.run } })
    },
  )
  // The second spelling is that of the AI SDK's own transport, which names the chat and not the
  // run.
  for (const path of ['/v1/sessions/{session}/chat/{run}', '/v1/sessions/{session}/chat/{run}/stream'])
    endpoint(
      app,
      {
        id: path.endsWith('stream') ? 'joinChat' : 'resumeChat',
        method: 'get',
        path,
        also: [204],
        headers: ['Plimsoll-Run'],
        summary: path.endsWith('stream')
          ? 'The run that goes on now; 204: none does'
          : 'A run from its beginning on (`current`: the one that goes on now); 204: there is nothing to resume',
        media: STREAM,
      },
      async ({ context, principal, param }) => {
        const scope = sessionScope(principal, param('session'))
        const run = path.endsWith('stream') ? 'current' : param('run')
        const resumed = await onSession(context.get('settings'), scope, (object) =>
          object.resumeChat(scope, run),
        )
        return resumed
          ? new Response(resumed.stream, {
              headers: { ...UI_MESSAGE_STREAM_HEADERS, 'Plimsoll-Run': resumed.run },
            })
          : new Response(null, { status: 204 })
      },
    )
  endpoint(
    app,
    {
      id: 'stopChat',
      method: 'delete',
      path: '/v1/sessions/{session}/chat/{run}',
      summary: 'Stops a run (`current`: the one that goes on now); what was recorded before stays',
      answer: z.object({ stopped: z.boolean() }),
    },
    ({ context, principal, param, meta }) => {
      const scope = sessionScope(principal, param('session'))
      const run = param('run')
      return onSession(context.get('settings'), scope, (object) => object.stopChat(scope, run, meta))
    },
  )
}
