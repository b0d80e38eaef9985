import { certificateOf } from '../../operations/forget/certificate.ts'
import { isPlimsollError } from '../../ports/errors.ts'
import { type EdgeSessionParts, edgeSession } from './edge-session.ts'
import type { Home } from './home.ts'
import { firstOfEach, listed } from './listed.ts'
import { loaded } from './load.ts'

/** Sessions of the caller that are kept and answered at an edge. */
export function edgeHome(parts: EdgeSessionParts): Home {
  const { client, outbox, now } = parts
  return {
    kind: 'edge',
    isHere: false,
    takesUploads: false,
    // Which model an edge calls, it does not say.
    model: () => undefined,
    session: (sessionId) => edgeSession(parts, sessionId),
    list: () => listed((options) => client.sessions.list(options)),
    async find(sessionId) {
      try {
        return await client.sessions.get(sessionId)
      } catch (error) {
        if (isPlimsollError(error, 'ERR_NOT_FOUND')) return undefined
        throw error
      }
    },
    async rename(sessionId, title) {
      await client.sessions.update(sessionId, { title })
    },
    async delete(sessionId) {
      // Sent later, it would make the session again.
      await outbox.rewrite((entry) => (entry.sessionId === sessionId ? undefined : entry))
      return (await client.sessions.delete(sessionId)) ?? certificateOf({ now }, 'erase', sessionId, true, {})
    },
    search: async (query) => firstOfEach(await client.me.recall(query, { sessions: 'all', first: 50 })),
    async memory() {
      const panel = (await loaded(() => import('./edge-panel.ts'))).edgePanel(client)
      return {
        ...panel,
        async eraseAll() {
          await outbox.rewrite(() => undefined)
          return panel.eraseAll()
        },
      }
    },
    storage: () => (outbox.isAway ? 'away' : 'ok'),
    onStorage: (listener) => outbox.subscribe(listener),
    close: async () => {},
  }
}
