import type { Memory } from '../../core/memory.ts'
import type { Scope } from '../../ports/op.ts'
import type { ChatLocks } from '../settings.ts'
import type { HomeSession } from './home.ts'
import type { ReplyParts } from './local-reply.ts'

export interface LocalSessionParts {
  readonly memory: Memory
  readonly scope: Required<Pick<Scope, 'userId' | 'sessionId'>>
  readonly locks: ChatLocks
  /** Names the lock under which the session is answered. */
  readonly lockName: string
  readonly reply: () => Promise<ReplyParts>
}

/** A session that is kept and answered in this browser. */
export function localSession(parts: LocalSessionParts): HomeSession {
  const { memory, scope, locks, lockName } = parts
  const session = memory.session(scope)
  const title = async (text: string): Promise<void> => {
    const sessions = memory.sessions(scope)
    const info = await sessions.get(scope.sessionId)
    if (info?.title === '') await sessions.title(scope.sessionId, text)
  }
  return {
    history: (options) => session.history(options),
    branches: () => session.branches(),
    facts: () => session.facts(),
    attach: ({ mediaType, bytes }) => session.attach({ mediaType, bytes }),
    async append(message, { replaces, title: text }) {
      await session.append(message, replaces === undefined ? {} : { replaces })
      if (text !== undefined) await title(text)
    },
    rewind: (id) => session.rewind(id),
    async undo(rewind) {
      await session.undo(rewind)
    },
    switchTo: (id) => session.switchTo(id),
    async forget(factId) {
      await session.forget(factId, { kind: 'fact' })
    },
    reply: (options) =>
      locks.request(lockName, { signal: AbortSignal.any([options.signal, options.leave]) }, async () => {
        // Where another tab answered while this one waited, the run finds that out, and calls no model.
        const [opener] = await session.history({ rounds: 1 })
        const { reply } = await import('./local-reply.ts')
        await reply(session, opener?.id, await parts.reply(), options)
      }),
    async join({ leave }) {
      const isFree = await locks.request(lockName, { ifAvailable: true }, async (lock) => lock !== null)
      // A reply is told of in the tab that makes it; what it records shows here too.
      if (!isFree) await locks.request(lockName, { signal: leave }, async () => {})
      return !isFree
    },
    watch: (listener) => session.subscribe(listener),
    async inspected() {
      const { asAnswered } = await import('./local-reply.ts')
      return { home: 'local', session: asAnswered(session, await parts.reply()) }
    },
    close: () => session.close(),
  }
}
