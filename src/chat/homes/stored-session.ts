import { LIVE } from '../../features/facts/live.ts'
import { readSession } from '../../features/read-sessions.ts'
import { readHistory } from '../../kernel/log/history.ts'
import { branchesOf, readMarks } from '../../operations/marks.ts'
import type { Scope } from '../../ports/op.ts'
import type { ScopeStore, Store } from '../../ports/store.ts'
import { checkId } from '../../text/json.ts'
import { kept } from '../kept.ts'
import type { HomeSession } from './home.ts'
import { loadAdded, loaded } from './load.ts'
import { loadChanges, loadMemory, loadRemoval } from './load-local.ts'
import type { LocalMemory, LocalMemorySession } from './local-memory.ts'

export interface StoredSessionParts {
  /** What is shown is read from here. */
  readonly store: Store
  /** Contract: the memory over the store, the same each time, for all that is more than reading. */
  readonly memory: () => Promise<LocalMemory>
  readonly scope: Required<Pick<Scope, 'userId' | 'sessionId'>>
}

/** A session in a store of this browser's, without what answers it. */
export interface StoredSession
  extends Omit<HomeSession, 'outgoing' | 'reply' | 'join' | 'inspected' | 'prepare'> {
  /** The log; opened when it is first asked for. */
  readonly log: () => ScopeStore
  readonly opened: () => Promise<LocalMemorySession>
}

/** Loads what changes a session, takes files too: there may be no network when it is wanted. */
export function loadAhead(): void {
  if (globalThis.navigator?.onLine !== false) Promise.all([loadChanges(), loadAdded()]).catch(() => {})
}

export function storedSession({ store, memory, scope }: StoredSessionParts): StoredSession {
  const { userId } = scope
  const sessionId = checkId('open', 'sessionId', scope.sessionId)
  const user = store.open({ userId })
  let read: ScopeStore | undefined
  const log = (): ScopeStore => {
    read ??= store.open(scope)
    return read
  }
  let made: LocalMemorySession | undefined
  const opened = kept(async () => {
    made = (await memory()).session(scope)
    return made
  })
  const title = async (text: string): Promise<void> => {
    const info = await readSession(user, sessionId)
    if (info?.title !== '') return
    const { titleSession } = await loaded(loadMemory)
    await titleSession(await memory(), { userId }, sessionId, text)
  }
  return {
    log,
    opened,
    history: (options) => readHistory(log(), options),
    branches: async () => branchesOf(await readMarks(log())),
    async facts() {
      // Where nothing was ever remembered, nobody needs the memory to know.
      const facts = await Promise.all([log(), user].map((one) => one.indexed(LIVE, { first: 1 })))
      return facts.some(({ length }) => length > 0) ? (await opened()).facts.list() : []
    },
    async attach(upload, id) {
      const { attachFile } = await loaded(loadChanges)
      return attachFile(await opened(), upload, id)
    },
    attachment: (id) => log().attachment(id),
    async append(message, { replaces, title: text }) {
      const session = await opened()
      if (replaces === undefined) await session.append(message)
      else await (await loaded(loadChanges)).editMessage(session, replaces, message)
      if (text !== undefined) await title(text)
      return true
    },
    async rewind(id) {
      const { rewind } = await loaded(loadChanges)
      return rewind(await opened(), id)
    },
    async undo(rewind) {
      const { undo } = await loaded(loadChanges)
      await undo(await opened(), rewind)
    },
    async switchTo(id) {
      const { switchTo } = await loaded(loadChanges)
      await switchTo(await opened(), id)
    },
    async forget(id, kind) {
      const { forget } = await loaded(loadRemoval)
      return forget(await opened(), id, { kind })
    },
    watch: (listener) => log().watch?.(listener) ?? (() => {}),
    async close() {
      await Promise.all([read?.close(), user.close(), made?.close()])
    },
  }
}
