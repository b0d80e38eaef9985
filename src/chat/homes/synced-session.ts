import type { Client } from '../../client/client.ts'
import { readHistory } from '../../kernel/log/history.ts'
import type { Certificate } from '../../ports/certificate.ts'
import { isPlimsollError, isUnreachable, PlimsollError } from '../../ports/errors.ts'
import type { MessageInput, SessionMessage } from '../../ports/message.ts'
import type { Refusals } from '../../sync/refusals.ts'
import type { SyncState } from '../../sync/status.ts'
import type { SyncedStore } from '../../sync/sync.ts'
import type { HomeCertificate } from '../ports.ts'
import type { ChatLocks } from '../settings.ts'
import { textIn, titleOf } from '../text.ts'
import { isAnswered } from './answered.ts'
import type { Drafts } from './drafts.ts'
import { type AnsweredSession, joinAtEdge, replyAtEdge } from './edge-reply.ts'
import type { HomeSession, ReplyOptions } from './home.ts'
import { RefusedMessages } from './refused-messages.ts'
import { loadAhead, type StoredSessionParts, storedSession } from './stored-session.ts'
import { waitFor } from './wait-for.ts'

export interface SyncedSessionParts extends StoredSessionParts {
  readonly store: SyncedStore
  readonly refusals: Refusals
  readonly client: Client
  readonly newId: () => string
  /** The sessions for which no answer was asked yet since something was said. */
  readonly unasked: Pick<Drafts, 'read' | 'write'>
  /** Sessions for which this tab is about to ask for an answer. */
  readonly asking: Set<string>
  readonly locks: ChatLocks
  /** Names the lock under which one tab asks for an answer. */
  readonly lockName: string
  /** Contract: asks the edge for what is new; resolves once that is here, or cannot be now. */
  readonly pull: (signal: AbortSignal) => Promise<void>
  /** Contract: resolves once nothing is on its way, or cannot be now. */
  readonly rest: (signal: AbortSignal) => Promise<void>
  /** Contract: a certificate that says so where the edge has not heard of it yet. */
  readonly told: (certificate: Certificate) => Promise<HomeCertificate>
  /** Contract: fetches a file of the session that is not here yet, from the edge. */
  readonly attachment: HomeSession['attachment']
  /** Contract: told that the session which shows was deleted elsewhere. */
  readonly onGone: () => void
}

/** States in which nothing is sent until somebody does something about it. */
const STUCK: { readonly [State in SyncState]?: PlimsollError['code'] } = {
  'signed-out': 'ERR_UNAUTHENTICATED',
  'upgrade-required': 'ERR_UPGRADE_REQUIRED',
  'storage-full': 'ERR_STORAGE_FULL',
  stalled: 'ERR_TIMEOUT',
}

/** A session in this browser that follows the one of an edge, which answers. */
export function syncedSession(parts: SyncedSessionParts): HomeSession {
  const { store, refusals, client, memory, newId, scope, unasked, asking, locks, lockName, pull, rest } =
    parts
  const { sessionId } = scope
  const { log, opened, ...stored } = storedSession(parts)
  const session = client.session(sessionId)
  const closed = new AbortController()
  // No two are the same: a tab lets go of the one it saw before it read what is to be answered.
  const wait = (): void => unasked.write(sessionId, newId())
  const say: HomeSession['append'] = async (message, options) => {
    // Who says something asks for its answer next.
    asking.add(sessionId)
    // Ahead of it: whatever becomes of this page, an answer is asked for.
    wait()
    const isThere = await stored.append(message, options)
    // Another tab may have looked for what was said while this was not there yet.
    wait()
    return isThere
  }
  const outgoing = new RefusedMessages({
    refusals,
    scope,
    async say(content) {
      const message = { id: newId(), role: 'user', content } as MessageInput
      // It may be the first one now.
      await say(message, { title: titleOf(textIn(message)) })
    },
    takeBack: async (id) => void (await stored.forget(id, 'message')),
  })
  const answered: AnsweredSession = {
    client: session,
    newest: () => readHistory(log(), { rounds: 1 }),
    async keep(message, round) {
      try {
        // There it records what was sent for it.
        await session.append(message, { round })
      } catch (error) {
        if (isPlimsollError(error, 'ERR_DUPLICATE_ID')) throw error
        await (await opened()).append(message, { round })
      }
    },
  }
  const asked = async () => (await answered.newest()).findLast(({ role }) => role === 'user')
  const isSent = async (): Promise<boolean> => {
    const { seq, confirmed = seq } = await log().head()
    if (confirmed >= seq) return true
    const { state, cause } = store.status
    const stuck = STUCK[state]
    if (stuck) throw cause ?? new PlimsollError(stuck, `chat: nothing can be sent: ${state}`)
    // For another reply nobody waits that long: the one that there was shows again.
    if (state === 'offline' && (await asked())?.delivery !== 'local')
      throw new PlimsollError('ERR_OFFLINE', 'chat: the edge cannot be reached')
    return false
  }
  const following = (options: ReplyOptions): ReplyOptions => ({
    ...options,
    async tell(event) {
      // What the edge recorded is to be here before it is read.
      if (event.type === 'recorded') await pull(options.leave)
      await options.tell(event)
    },
  })
  const isEmptied = async (): Promise<boolean> => (await log().head()).seq === 0
  let shown: readonly SessionMessage[] = []
  const follow = async (messages: readonly SessionMessage[]): Promise<void> => {
    const before = shown
    shown = messages
    if (messages.length > 0 || before.length === 0 || !(await isEmptied())) return
    // What waits is gone with an erase alone.
    const unsent = before.filter(({ role, delivery }) => role === 'user' && delivery === 'local')
    await outgoing.giveBack(unsent)
    // It may only be read again from its beginning.
    await rest(closed.signal)
    if (before.every((message) => outgoing.isRefused(message))) return
    if (!closed.signal.aborted && store.status.state === 'current' && (await isEmptied())) parts.onGone()
  }
  return {
    ...stored,
    outgoing,
    async history(options) {
      await outgoing.open()
      const messages = await stored.history(options)
      if (options.before === undefined) follow(messages).catch(() => {})
      return messages
    },
    attachment: async (id) => (await stored.attachment(id)) ?? parts.attachment(id),
    append: say,
    forget: async (id, kind) => parts.told(await stored.forget(id, kind)),
    async prepare() {
      await memory()
      loadAhead()
    },
    async reply(options) {
      const { signal, leave } = options
      const listened = [(look: () => void) => stored.watch(look, () => {}), store.subscribe]
      const sent = async (): Promise<readonly SessionMessage[]> => {
        let messages: readonly SessionMessage[] = []
        let seen = ''
        const isRead = async (): Promise<boolean> => {
          // Before it is asked whether all is sent: what is said in between is not among them.
          const mark = unasked.read(sessionId)
          const read = await answered.newest()
          const isThere = await isSent()
          if (isThere) [messages, seen] = [read, mark]
          return isThere
        }
        await waitFor(isRead, listened, AbortSignal.any([signal, leave]))
        if (signal.aborted || leave.aborted) return messages
        if (unasked.read(sessionId) === seen) unasked.write(sessionId, '')
        if (!isAnswered(messages)) await options.tell({ type: 'step' })
        return messages
      }
      asking.add(sessionId)
      try {
        // Where another tab asks, the reply is followed as that of another device.
        await locks.request(lockName, { ifAvailable: true }, async (lock) => {
          if (lock) await replyAtEdge(answered, following(options), sent)
        })
      } catch (error) {
        // What failed there is left to the person: it would fail again and again.
        if (leave.aborted || isUnreachable(error) || isPlimsollError(error, 'ERR_UNAUTHENTICATED')) wait()
        // What was said meanwhile, in any tab, may be answered.
        else void pull(leave)
        throw error
      } finally {
        asking.delete(sessionId)
      }
      // What was said meanwhile, in any tab, is asked for once this is done.
      await pull(leave)
    },
    async join(options) {
      if (store.status.state === 'offline' || (await asked())?.delivery === 'local') return false
      const isJoined = await joinAtEdge(answered, following(options))
      if (isJoined) await pull(options.leave)
      return isJoined
    },
    watch(listener) {
      let isEnded = false
      let live: (() => void) | undefined
      const join = async (): Promise<void> => {
        // Before the first message is there, the edge knows of no such session.
        const { confirmed = 0 } = await log().head()
        if (confirmed === 0 || live || isEnded) return
        live = session.live(({ type }) => {
          if (type !== 'close') void pull(closed.signal)
        })
      }
      const look = (): void => void join().catch(() => {})
      const end = stored.watch(
        () => {
          listener()
          look()
        },
        () => {},
      )
      look()
      return () => {
        isEnded = true
        end()
        live?.()
      }
    },
    async inspected() {
      // It is shown as the edge has it, which may be about to hear of it.
      await rest(closed.signal)
      const { confirmed = 0 } = await log().head()
      if (confirmed === 0) throw new PlimsollError('ERR_OFFLINE', 'chat: the edge does not have it yet')
      return { home: 'edge', session }
    },
    async close() {
      asking.delete(sessionId)
      closed.abort()
      outgoing.close()
      await stored.close()
    },
  }
}
