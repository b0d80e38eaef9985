import type { Memory } from '../../core/memory.ts'
import type { StoreStatus } from '../../stores/dexie.ts'
import type { ConversationState } from '../ports.ts'
import type { ChatLocks } from '../settings.ts'
import type { FoundSession, Home, ListedSession } from './home.ts'
import type { ReplyParts } from './local-reply.ts'
import { localSession } from './local-session.ts'

export interface LocalHomeParts {
  readonly memory: Memory
  /** How the store does, where it can tell. */
  readonly status?: {
    current(): StoreStatus
    subscribe(listener: () => void): () => void
  }
  readonly close: () => Promise<void>
  readonly userId: string
  readonly locks: ChatLocks
  /** Unix milliseconds. */
  readonly now: () => number
  /** With it the names of locks begin. */
  readonly name: string
  readonly reply: () => Promise<ReplyParts>
  readonly model: () => ConversationState['model']
}

/** Sessions of one user that are kept and answered in this browser. */
export function localHome(parts: LocalHomeParts): Home {
  const { memory, userId, locks, name, status } = parts
  const user = { userId }
  const sessions = memory.sessions(user)
  return {
    kind: 'local',
    takesUploads: true,
    model: parts.model,
    session: (sessionId) =>
      localSession({
        memory,
        scope: { userId, sessionId },
        locks,
        lockName: `${name}/reply/${userId}/${sessionId}`,
        reply: parts.reply,
      }),
    async list() {
      const found: ListedSession[] = []
      for (let after: string | undefined; ; ) {
        const page = await sessions.list(after === undefined ? {} : { after })
        found.push(...page)
        after = page.at(-1)?.sessionId
        if (after === undefined) return found
      }
    },
    find: (sessionId) => sessions.get(sessionId),
    rename: (sessionId, title) => sessions.title(sessionId, title),
    delete: (sessionId) => sessions.delete(sessionId),
    async search(query) {
      const items = await memory.user(user).recall(query, { sessions: 'all', first: 50 })
      return firstOfEach(
        items.flatMap(({ sessionId, text }) => (sessionId ? { sessionId, excerpt: text } : [])),
      )
    },
    memory: async () => (await import('./local-panel.ts')).localPanel(memory, userId, parts.now),
    storage: () => (status ? STATES[status.current().state] : 'ok'),
    onStorage: (listener) => status?.subscribe(listener) ?? (() => {}),
    close: parts.close,
  }
}

const STATES: Readonly<Record<StoreStatus['state'], ConversationState['storage']>> = {
  ready: 'ok',
  memory: 'memory',
  lost: 'lost',
  'read-only': 'blocked',
}

/** The best of each session. */
export function firstOfEach(items: readonly FoundSession[]): readonly FoundSession[] {
  const found = new Map<string, FoundSession>()
  for (const item of items) if (!found.has(item.sessionId)) found.set(item.sessionId, item)
  return [...found.values()]
}
