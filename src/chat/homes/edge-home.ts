import type { Client } from '../../client/client.ts'
import { certificateOf, removed } from '../../core/governance/certificate.ts'
import { isPlimsollError } from '../../ports/errors.ts'
import { edgeSession } from './edge-session.ts'
import type { Home, ListedSession } from './home.ts'

/** Sessions of the caller that are kept and answered at an edge. */
export function edgeHome(client: Client, now: () => number): Home {
  return {
    kind: 'edge',
    takesUploads: false,
    // Which model an edge calls, it does not say.
    model: () => undefined,
    session: (sessionId) => edgeSession(client, sessionId),
    async list() {
      const found: ListedSession[] = []
      for (let after: string | undefined; ; ) {
        const page = await client.sessions.list(after === undefined ? {} : { after })
        found.push(...page)
        after = page.at(-1)?.sessionId
        if (after === undefined) return found
      }
    },
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
      await client.sessions.delete(sessionId)
      return certificateOf({ now }, 'erase', sessionId, false, { sessions: removed([sessionId]) })
    },
    async search(query) {
      const items = await client.me.recall(query, { sessions: 'all', first: 50 })
      const found = new Map<string, { readonly sessionId: string; readonly excerpt: string }>()
      for (const { sessionId, text } of items)
        if (sessionId !== undefined && !found.has(sessionId))
          found.set(sessionId, { sessionId, excerpt: text })
      return [...found.values()]
    },
    memory: async () => (await import('./edge-panel.ts')).edgePanel(client, now),
    storage: () => 'ok',
    onStorage: () => () => {},
    close: async () => {},
  }
}
