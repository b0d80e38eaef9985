import { readSession, readSessions } from '../../features/read-sessions.ts'
import type { ScopeStore, Store } from '../../ports/store.ts'
import type { DexieStore, StoreStatus } from '../../stores/indexed-db.ts'
import type { ConversationState } from '../ports.ts'
import type { Home } from './home.ts'
import { firstOfEach, listed } from './listed.ts'
import { loaded } from './load.ts'
import { loadMemory, loadRemoval } from './load-local.ts'
import type { LocalMemory } from './local-memory.ts'

export interface StoredHomeParts {
  /** What is shown is read from here. */
  readonly store: Store
  /** Contract: the memory over the store, the same each time, for all that is more than reading. */
  readonly memory: () => Promise<LocalMemory>
  /** How the database does, where it can tell. */
  readonly database?: Pick<DexieStore, 'status' | 'onStatus' | 'acceptLoss'>
  readonly userId: string
}

/** Sessions of one user in a store of this browser's, without what answers them. */
export interface StoredHome
  extends Pick<
    Home,
    'isHere' | 'list' | 'find' | 'rename' | 'delete' | 'search' | 'storage' | 'onStorage' | 'acceptLoss'
  > {
  /** What the sessions share, and their list. */
  readonly shared: ScopeStore
}

export function storedHome({ store, memory, database, userId }: StoredHomeParts): StoredHome {
  const user = { userId }
  const shared = store.open(user)
  return {
    shared,
    isHere: true,
    list: () => listed(({ after }) => readSessions(shared, after)),
    find: (sessionId) => readSession(shared, sessionId),
    async rename(sessionId, title) {
      const { titleSession } = await loaded(loadMemory)
      await titleSession(await memory(), user, sessionId, title)
    },
    async delete(sessionId) {
      const { deleteSession } = await loaded(loadRemoval)
      return deleteSession(await memory(), user, sessionId)
    },
    search: async (query) =>
      firstOfEach(await (await memory()).user(user).recall.find(query, { sessions: 'all', first: 50 })),
    storage: () => (database ? STATES[database.status().state] : 'ok'),
    onStorage: (listener) => database?.onStatus(listener) ?? (() => {}),
    ...(database && { acceptLoss: () => database.acceptLoss() }),
  }
}

const STATES: Readonly<Record<StoreStatus['state'], ConversationState['storage']>> = {
  ready: 'ok',
  memory: 'memory',
  lost: 'lost',
  'read-only': 'blocked',
}
