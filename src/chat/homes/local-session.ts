import { LIVE } from '../../features/facts/live.ts'
import { readSession } from '../../features/read-sessions.ts'
import { readHistory } from '../../kernel/log/history.ts'
import { checkId } from '../../kernel/text/json.ts'
import { branchesOf, readMarks } from '../../operations/marks.ts'
import type { Scope } from '../../ports/op.ts'
import type { Store } from '../../ports/store.ts'
import { kept } from '../kept.ts'
import type { ChatLocks } from '../settings.ts'
import type { HomeSession } from './home.ts'
import type { LocalMemory, LocalMemorySession } from './local-memory.ts'
import type { ReplyParts } from './local-reply.ts'

type Operations = typeof import('./local-memory.ts')

/** Calls operations, which come with the memory. */
export const act = async <Done>(operation: (all: Operations) => Promise<Done>): Promise<Done> =>
  operation(await import('./local-memory.ts'))

export interface LocalSessionParts {
  readonly store: Store
  readonly memory: () => Promise<LocalMemory>
  readonly scope: Required<Pick<Scope, 'userId' | 'sessionId'>>
  readonly locks: ChatLocks
  /** Names the lock under which the session is answered. */
  readonly lockName: string
  readonly reply: () => Promise<ReplyParts>
}

/** A session that is kept and answered in this browser. */
export function localSession(parts: LocalSessionParts): HomeSession {
  const { store, memory, scope, locks, lockName } = parts
  const { userId } = scope
  const sessionId = checkId('open', 'sessionId', scope.sessionId)
  const log = store.open(scope)
  const user = store.open({ userId })
  let made: LocalMemorySession | undefined
  const opened = kept(async () => {
    made = (await memory()).session(scope)
    return made
  })
  const title = async (text: string): Promise<void> => {
    const info = await readSession(user, sessionId)
    if (info?.title === '')
      await act(async (all) => all.titleSession(await memory(), { userId }, sessionId, text))
  }
  return {
    history: (options) => readHistory(log, options),
    branches: async () => branchesOf(await readMarks(log)),
    async facts() {
      // Where nothing was ever remembered, nobody needs the memory to know.
      const facts = await Promise.all([log.indexed(LIVE, { first: 1 }), user.indexed(LIVE, { first: 1 })])
      return facts.some(({ length }) => length > 0) ? (await opened()).facts.list() : []
    },
    attach: ({ mediaType, bytes }) => act(async (all) => all.attach(await opened(), { mediaType, bytes })),
    async append(message, { replaces, title: text }) {
      const session = await opened()
      if (replaces === undefined) await session.append(message)
      else await act((all) => all.editMessage(session, replaces, message))
      if (text !== undefined) await title(text)
      return true
    },
    rewind: (id) => act(async (all) => all.rewind(await opened(), id)),
    async undo(rewind) {
      await act(async (all) => all.undo(await opened(), rewind))
    },
    switchTo: (id) => act(async (all) => all.switchTo(await opened(), id)),
    async forget(factId) {
      await act(async (all) => all.forget(await opened(), factId, { kind: 'fact' }))
    },
    async prepare() {
      await Promise.all([opened(), parts.reply(), import('./local-reply.ts')])
    },
    reply: (options) =>
      locks.request(lockName, { signal: AbortSignal.any([options.signal, options.leave]) }, async () => {
        // Where another tab answered while this one waited, the run finds that out, and calls no
        // model.
        const [opener] = await readHistory(log, { rounds: 1 })
        const { reply } = await import('./local-reply.ts')
        await reply(await opened(), opener?.id, await parts.reply(), options)
      }),
    async join({ leave }) {
      const isFree = await locks.request(lockName, { ifAvailable: true }, async (lock) => lock !== null)
      // A reply shows as it grows in the tab that makes it; what it records shows here too.
      if (!isFree) await locks.request(lockName, { signal: leave }, async () => {})
      return !isFree
    },
    watch: (listener) => log.watch?.(listener) ?? (() => {}),
    async inspected() {
      const { toolSpecsOf } = await import('./local-reply.ts')
      const session = await opened()
      return { home: 'local', session, tools: await toolSpecsOf(session, await parts.reply()) }
    },
    async close() {
      await Promise.all([log.close(), user.close(), made?.close()])
    },
  }
}
