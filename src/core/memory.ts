import type { Counter } from '../ports/counter.ts'
import type { Host } from '../ports/host.ts'
import type { Scope } from '../ports/op.ts'
import type { Store } from '../ports/store.ts'
import { nextWorkAt, runDueWork } from './attachments.ts'
import type { OnCut } from './context.ts'
import { checkId, checkText, invalid } from './json.ts'
import { createPolicy, type PolicyOptions } from './policy.ts'
import { Session } from './session.ts'
import { Sessions } from './sessions.ts'

/** The session of a scope that names none. */
const DEFAULT_SESSION = 'default'

export interface MemoryOptions extends PolicyOptions {
  /** Where everything is kept, for example `mapStore()`. */
  readonly store: Store
  /** Instructions; the first thing in every context. A change starts an epoch. Default: none. */
  readonly system?: string
  /** Told what leaves the window at each epoch change, for compaction of one's own. */
  readonly onCut?: OnCut
  /**
   * Checks laws 1, 2, 4 and 5 on every context, for development and tests: `context()` rejects with `ERR_LAW_BROKEN` where one is
   * broken. Costs a pass over the blocks. Default `false`.
   */
  readonly development?: boolean
  readonly counter: Counter
  readonly host: Host
}

export interface Memory {
  /** One conversation of a user. Cheap: nothing is read before its first call. Without `sessionId` it is `default`. */
  session(scope: Scope): Session
  /** The conversations of a user: list, title, delete. */
  sessions(user: Omit<Scope, 'sessionId'>): Sessions
  /**
   * When {@link runDueWork} next has something to do, Unix milliseconds; undefined: nothing is waiting. Sooner after a call that
   * leaves work behind, which is `session.attach`.
   */
  nextWorkAt(): Promise<number | undefined>
  /**
   * Does what is due, over all scopes of the store, a bounded part of it at a time: removes attachments that no message has
   * named within a day. Nothing calls it by itself: call it from an alarm, or when the app starts. Idempotent.
   *
   * @returns {@link nextWorkAt} after that
   */
  runDueWork(): Promise<number | undefined>
}

/** The memory over injected storage, counter, clock and ids. @throws ERR_INVALID_ARGUMENT */
export function createCore({
  store,
  system = '',
  counter,
  host,
  onCut,
  development,
  ...options
}: MemoryOptions): Memory {
  const running = new Map<string, Promise<unknown>>()
  checkText('createMemory', 'system', system)
  if (onCut !== undefined && typeof onCut !== 'function')
    throw invalid('createMemory', 'onCut', 'must be a function')
  const policy = createPolicy(options, counter)
  const sessions = ({ tenant, userId }: Omit<Scope, 'sessionId'>): Sessions =>
    new Sessions(store, checkScope('sessions', { ...(tenant !== undefined && { tenant }), userId }), host)
  return {
    sessions,
    nextWorkAt: () => nextWorkAt(store),
    runDueWork: () => runDueWork(store, host),
    session: (scope) => {
      const { sessionId = DEFAULT_SESSION, ...user } = checkScope('session', scope)
      const list = sessions(user)
      const scopeStore = store.open({ ...user, sessionId })
      const register = (): Promise<void> => list.add(sessionId)
      return new Session({
        store: scopeStore,
        scope: { ...user, sessionId },
        policy,
        limited: (limits) => createPolicy({ ...options, ...limits }, counter, 'context'),
        system,
        host,
        onCut,
        compaction: options.compaction,
        development,
        running,
        register,
      })
    },
  }
}

function checkScope(operation: string, scope: Scope): Scope {
  if (typeof scope !== 'object' || scope === null) throw invalid(operation, 'scope', 'must be an object')
  const { tenant, userId, sessionId } = scope
  return {
    ...(tenant !== undefined && { tenant: checkId(operation, 'tenant', tenant) }),
    userId: checkId(operation, 'userId', userId),
    ...(sessionId !== undefined && { sessionId: checkId(operation, 'sessionId', sessionId) }),
  }
}
