import { readHistory } from '../../kernel/log/history.ts'
import type { ChatLocks } from '../settings.ts'
import type { HomeSession } from './home.ts'
import type { ReplyParts } from './local-reply.ts'
import { loadAhead, type StoredSessionParts, storedSession } from './stored-session.ts'

export interface LocalSessionParts extends StoredSessionParts {
  readonly locks: ChatLocks
  /** Names the lock under which the session is answered. */
  readonly lockName: string
  readonly reply: () => Promise<ReplyParts>
}

/** A session that is kept and answered in this browser. */
export function localSession(parts: LocalSessionParts): HomeSession {
  const { locks, lockName } = parts
  const { log, opened, ...stored } = storedSession(parts)
  return {
    ...stored,
    async prepare() {
      await Promise.all([opened(), parts.reply(), import('./local-reply.ts')])
      // Behind what the first answer waits for.
      loadAhead()
    },
    reply: (options) =>
      locks.request(lockName, { signal: AbortSignal.any([options.signal, options.leave]) }, async () => {
        // Where another tab answered while this one waited, the run finds that out, and calls no
        // model.
        const [opener] = await readHistory(log(), { rounds: 1 })
        const { reply } = await import('./local-reply.ts')
        await reply(await opened(), opener?.id, await parts.reply(), options)
        // Where that was not done, or failed.
        loadAhead()
      }),
    async join({ leave }) {
      const isFree = await locks.request(lockName, { ifAvailable: true }, async (lock) => lock !== null)
      // A reply shows as it grows in the tab that makes it; what it records shows here too.
      if (!isFree) await locks.request(lockName, { signal: leave }, async () => {})
      return !isFree
    },
    async inspected() {
      const { toolSpecsOf } = await import('./local-reply.ts')
      const session = await opened()
      return { home: 'local', session, tools: await toolSpecsOf(session, await parts.reply()) }
    },
  }
}
