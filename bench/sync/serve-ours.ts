import { join } from 'node:path'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { syncServer } from '../../src/sync/index.ts'
import { messagesIn, rowsOf, TOKEN, USER } from './orders.ts'
import type { Served } from './served.ts'

/** The reference server over the store of Node, for one user. */
export function serveOurs(folder: string): Served {
  const store = sqliteStore({ path: join(folder, 'home.db') })
  const answer = syncServer({
    store,
    authenticate: async ({ headers }) => (headers.get('Authorization') === `Bearer ${TOKEN}` ? USER : undefined),
  })
  return {
    answer: (_, request) => answer(request),
    messages: async (sessionId) => messagesIn(await rowsOf(store, { ...USER, sessionId })),
    close: () => store.close(),
  }
}
