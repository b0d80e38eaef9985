import type { Client } from '../../client/client.ts'
import type { SessionClient } from '../../client/session.ts'
import { isPlimsollError } from '../../ports/errors.ts'
import type { MessageInput } from '../../ports/message.ts'
import { textIn } from '../text.ts'
import type { EdgeAccess, EdgeAccessParts } from './edge-access.ts'
import { type AnsweredSession, joinAtEdge, replyAtEdge } from './edge-reply.ts'
import type { AppendOptions, HomeSession } from './home.ts'
import type { Outbox } from './outbox.ts'

export interface EdgeSessionParts extends EdgeAccessParts {
  readonly access: EdgeAccess
  readonly client: Client
  /** Keeps what is said until the edge has it. */
  readonly outbox: Outbox
  /** Unix milliseconds. */
  readonly now: () => number
  readonly isOnline: () => boolean
}

/** A session that is kept and answered at an edge. */
export function edgeSession(parts: EdgeSessionParts, sessionId: string): HomeSession {
  const { client, outbox, now, isOnline } = parts
  const session = client.session(sessionId)
  const answered: AnsweredSession = {
    client: session,
    newest: (signal) => session.messages({ rounds: 1, ...(signal && { signal }) }),
    keep: (message, round) => session.append(message, { round }),
  }
  return {
    outgoing: {
      list: () => outbox.of(sessionId),
      subscribe: (listener) => outbox.subscribe(listener),
      retry: (id) => outbox.retry(id),
      drop: (id) => outbox.drop(id),
    },
    history: (options) => orEmpty(session.messages(options)),
    branches: () => orEmpty(session.branches()),
    facts: () => orEmpty(session.facts.list()),
    attachment: async (id) => (await import('./edge-attachment.ts')).attachmentAt(parts, sessionId, id),
    async append(message, options) {
      const { id } = message
      // An edit stands in the place of what the edge has.
      if (id !== undefined && options.replaces === undefined) {
        const { title, by } = options
        const named = title === undefined ? {} : { title }
        try {
          await outbox.add({ id, sessionId, text: textIn(message), createdAt: now(), ...named }, by)
          return false
        } catch (error) {
          // What cannot be kept is sent at once, or not at all.
          if (!isOnline() || isPlimsollError(error, 'ERR_UNAUTHENTICATED')) throw error
        }
      }
      await sayAtEdge(client, sessionId, message, options)
      return true
    },
    rewind: (id) => session.rewind(id),
    async undo(rewind) {
      await session.undo(rewind)
    },
    async switchTo(id) {
      await session.switchTo(id)
    },
    forget: (id, kind) => (kind === 'fact' ? session.facts.forget(id) : session.forget(id)),
    reply: (options) => replyAtEdge(answered, options),
    join: (options) => joinAtEdge(answered, options),
    watch: (listener, ended) => watch(session, listener, ended),
    inspected: async () => ({ home: 'edge', session }),
    prepare: async () => {},
    close: async () => {},
  }
}

/** Writes a message there; sent again under the same id it is written once. */
export async function sayAtEdge(
  client: Client,
  sessionId: string,
  message: MessageInput,
  { replaces, title }: AppendOptions,
): Promise<void> {
  // Idempotent: one that is there stays as it is.
  if (title !== undefined) await client.sessions.create({ sessionId, title })
  await client.session(sessionId).append(message, {
    ...(message.id !== undefined && { opId: `say/${message.id}` }),
    ...(replaces !== undefined && { replaces }),
  })
}

/** What is asked of a session that is not made yet. */
async function orEmpty<Item>(asked: Promise<readonly Item[]>): Promise<readonly Item[]> {
  try {
    return await asked
  } catch (error) {
    if (isPlimsollError(error, 'ERR_NOT_FOUND')) return []
    throw error
  }
}

function watch(session: SessionClient, listener: () => void, ended: () => void): () => void {
  try {
    return session.live(({ type }) => {
      if (type === 'open' || type === 'change') listener()
      else if (type === 'refused') ended()
    })
  } catch {
    // Without sockets, what others write shows with the next thing that is said here.
    return () => {}
  }
}
