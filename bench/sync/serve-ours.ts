import { join } from 'node:path'
import { createMemory } from '../../src/create-memory.ts'
import { standard } from '../../src/features/standard.ts'
import { checkPushed } from '../../src/operations/check-pushed.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { homeStore, syncServer } from '../../src/sync/index.ts'
import { CHANGES, messagesIn, rowsOf, TOKEN, USER } from './orders.ts'
import type { Served } from './served.ts'

/**
 * The reference server, as its example has it: over the store of Node, each op checked, and changes
 * told by server-sent events.
 */
export function serveOurs(folder: string): Served {
  const store = sqliteStore({ path: join(folder, 'home.db') })
  const memory = createMemory({ store: homeStore(store), use: standard() })
  const streams = new Set<ReadableStreamDefaultController<string>>()
  const answer = syncServer({
    store,
    authenticate: async ({ headers }) =>
      headers.get('Authorization') === `Bearer ${TOKEN}` ? USER : undefined,
    check: (scope, ops) => checkPushed(memory, scope, ops),
    onChange: ({ sessionId }) => {
      for (const stream of streams) stream.enqueue(`data: ${JSON.stringify({ sessionId })}\n\n`)
    },
    onError: (error) => console.error(error),
  })

  const changes = (): Response => {
    let stream: ReadableStreamDefaultController<string>
    const body = new ReadableStream<string>({
      start(controller) {
        stream = controller
        streams.add(stream)
        stream.enqueue(': open\n\n')
      },
      cancel: () => void streams.delete(stream),
    })
    return new Response(body.pipeThrough(new TextEncoderStream()), {
      headers: { 'Content-Type': 'text/event-stream' },
    })
  }

  return {
    answer: (path, request) => (path === CHANGES ? Promise.resolve(changes()) : answer(request)),
    messages: async (sessionId) => messagesIn(await rowsOf(store, { ...USER, sessionId })),
    close: () => store.close(),
  }
}
