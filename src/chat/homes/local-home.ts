import { readSession, readSessions } from '../../features/read-sessions.ts'

import type { Store } from '../../ports/store.ts'
import type { StoreStatus } from '../../stores/indexed-db.ts'
import type { ConversationState } from '../ports.ts'
import type { ChatLocks } from '../settings.ts'
import type { Home } from './home.ts'
import { firstOfEach, listed } from './listed.ts'
import type { LocalMemory } from './local-memory.ts'
import type { ReplyParts } from './local-reply.ts'
import { act, localSession } from './local-session.ts'

export interface LocalHomeParts {
  /** What is shown is read from here. */
  readonly store: Store
  /** Contract: the memory over the store, the same each time, for all that is more than reading. */
  readonly memory: () => Promise<LocalMemory>
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
  const { store, memory, userId, locks, name, status } = parts
  const user = { userId }
  const registers = store.open(user)
  return {
    kind: 'local',
    takesUploads: true,
    model: parts.model,
    session: (sessionId) =>
      localSession({
        store,
        memory,
        scope: { userId, sessionId },
        locks,
        lockName: `${name}/reply/${userId}/${sessionId}`,
        reply: parts.reply,
      }),
    list: () => listed(({ after }) => readSessions(registers, after)),
    find: (sessionId) => readSession(registers, sessionId),
    rename: (sessionId, title) =>
      act(async (all) => all.titleSession(await memory(), user, sessionId, title)),
    delete: (sessionId) => act(async (all) => all.deleteSession(await memory(), user, sessionId)),
    search: async (query) =>
      firstOfEach(await (await memory()).user(user).recall.find(query, { sessions: 'all', first: 50 })),
    async memory() {
      const { localPanel } = await import('./local-panel.ts')
      return localPanel(await memory(), userId, parts.now)
    },
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
