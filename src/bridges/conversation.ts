import type { SessionBase } from '../ports/memory.ts'
import type { SessionMessage } from '../ports/message.ts'
import type { SnapshotSource } from '../ports/snapshot.ts'

/** Messages that are read at once. */
const PAGE = 50

/** A conversation as people read it, no matter how much of it a model sees. */
export interface Conversation {
  /** Whether it was read yet. */
  readonly loaded: boolean
  /** The newest messages, whole, and the older ones that were asked for; oldest first. */
  readonly messages: readonly SessionMessage[]
  /** Whether there are older ones. */
  readonly hasOlder: boolean
  /** Why the newest reading failed; what was read before stays. */
  readonly error: unknown
}

export interface ConversationSource extends SnapshotSource<Conversation> {
  /** Shows 50 older messages. Resolves when they show, at once where there are none. */
  showOlder(): Promise<void>
}

const NOTHING: Conversation = { loaded: false, messages: [], hasOlder: false, error: undefined }

/**
 * The messages of a session, read again after each change: what shows stays, and grows at its end.
 * Nothing is read before somebody listens.
 */
export function conversationOf<F extends object>(session: SessionBase<F>): ConversationSource {
  const listeners = new Set<() => void>()
  let shown = NOTHING
  let end: (() => void) | undefined
  let reading: Promise<void> | undefined
  let isStale = false
  let older = 0
  const show = (next: Conversation): void => {
    shown = next
    for (const listener of [...listeners]) listener()
  }
  const readOnce = async (): Promise<void> => {
    const asked = older
    older = 0
    // What may have come at the end, and one more, to know whether there are older ones.
    const most = asked + shown.messages.length + PAGE + 1
    const read = await session.history({ messages: most })
    const first = read.findIndex(({ id }) => id === shown.messages[0]?.id)
    // What was shown first may be hidden by now: then the newest page stands alone.
    const from = Math.max(0, first < 0 ? read.length - PAGE : first - asked)
    const hasOlder = from > 0 || read.length === most
    show({ loaded: true, messages: read.slice(from), hasOlder, error: undefined })
  }
  const read = (): Promise<void> => {
    isStale = true
    reading ??= (async () => {
      while (isStale) {
        isStale = false
        await readOnce().catch((error: unknown) => show({ ...shown, error }))
      }
    })().finally(() => {
      reading = undefined
    })
    return reading
  }
  return {
    subscribe(listener) {
      listeners.add(listener)
      if (!end) {
        end = session.subscribe(() => void read())
        void read()
      }
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        end?.()
        end = undefined
      }
    },
    getSnapshot: () => shown,
    async showOlder() {
      if (!shown.hasOlder) return
      older = PAGE
      await read()
    },
  }
}
