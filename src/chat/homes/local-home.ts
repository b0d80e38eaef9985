import type { ConversationState } from '../ports.ts'
import type { ChatLocks } from '../settings.ts'
import type { Home } from './home.ts'
import { loaded } from './load.ts'
import type { ReplyParts } from './local-reply.ts'
import { localSession } from './local-session.ts'
import { type StoredHomeParts, storedHome } from './stored-home.ts'

export interface LocalHomeParts extends StoredHomeParts {
  readonly close: () => Promise<void>
  readonly locks: ChatLocks
  /** Unix milliseconds. */
  readonly now: () => number
  /** With it the names of locks begin. */
  readonly name: string
  readonly reply: () => Promise<ReplyParts>
  readonly model: () => ConversationState['model']
  /** Told that the list may be another one: another tab may have written to it. */
  readonly onListed: () => void
}

/** Sessions of one user that are kept and answered in this browser. */
export function localHome(parts: LocalHomeParts): Home {
  const { store, memory, userId, locks, name, reply, model, now, close } = parts
  const { shared, ...stored } = storedHome(parts)
  const end = shared.watch?.(parts.onListed)
  return {
    ...stored,
    kind: 'local',
    takesUploads: true,
    model,
    session: (sessionId) =>
      localSession({
        store,
        memory,
        scope: { userId, sessionId },
        locks,
        lockName: `${name}/reply/${userId}/${sessionId}`,
        reply,
      }),
    async memory() {
      const { localPanel } = await loaded(() => import('./local-panel.ts'))
      return localPanel(await memory(), userId, now)
    },
    close() {
      end?.()
      return close()
    },
  }
}
