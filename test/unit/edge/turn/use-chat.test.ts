import { Hono } from 'hono'
import { UI_MESSAGE_STREAM_HEADERS } from '../../../../src/edge/turn/ui/encoder.ts'
import { isPlimsollError } from '../../../../src/ports/errors.ts'
import { describeUseChat } from '../../../e2e/use-chat.ts'
import { openScene, request } from '../support/chats.ts'

describeUseChat('an app in the same process', async (replies) => {
  const { chats, reload } = openScene(replies)
  const app = new Hono()
  const resumed = (run: string): Response => {
    const { stream } = chats.resume(run) ?? {}
    return stream
      ? new Response(stream, { headers: UI_MESSAGE_STREAM_HEADERS })
      : new Response(null, { status: 204 })
  }
  app.post('/chat', async ({ req }) => {
    const { run, stream } = await chats.start(request(await req.json()))
    return new Response(stream, { headers: { ...UI_MESSAGE_STREAM_HEADERS, 'Plimsoll-Run': run } })
  })
  app.get('/chat/:chat/stream', () => resumed('current'))
  app.get('/chat/:run', ({ req }) => resumed(req.param('run')))
  app.onError((error, context) => context.json(isPlimsollError(error) ? { code: error.code } : {}, 500))
  return {
    api: 'http://edge/chat',
    fetch: async (input, init) => app.request(String(input), init),
    stop: () => chats.stop('current'),
    reload,
  }
})
