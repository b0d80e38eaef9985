import type { ChatRun } from '../../client/chat.ts'
import type { Client } from '../../client/client.ts'
import type { SessionClient } from '../../client/session.ts'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import { textIn } from '../text.ts'
import { isAnswered } from './answered.ts'
import { EdgeEvents } from './edge-events.ts'
import type { HomeSession, ReplyOptions } from './home.ts'

/** A session that is kept and answered at an edge. */
export function edgeSession(client: Client, sessionId: string): HomeSession {
  const session = client.session(sessionId)
  return {
    history: (options) => orEmpty(session.messages(options)),
    branches: () => orEmpty(session.branches()),
    facts: () => orEmpty(session.facts.list()),
    attach() {
      throw new PlimsollError('ERR_INVALID_ARGUMENT', 'chat: an edge takes no files', { argument: 'uploads' })
    },
    async append(message, { replaces, title }) {
      // Idempotent: one that is there stays as it is.
      if (title !== undefined) await client.sessions.create({ sessionId, title })
      await session.append(message, {
        ...(message.id !== undefined && { opId: `say/${message.id}` }),
        ...(replaces !== undefined && { replaces }),
      })
    },
    rewind: (id) => session.rewind(id),
    async undo(rewind) {
      await session.undo(rewind)
    },
    async switchTo(id) {
      await session.switchTo(id)
    },
    forget: async (factId) => {
      await session.facts.forget(factId)
    },
    reply: (options) => reply(session, options),
    join: (options) => join(session, options),
    watch: (listener, ended) => watch(session, listener, ended),
    inspected: async () => ({ home: 'edge', session }),
    prepare: async () => {},
    close: async () => {},
  }
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

async function reply(session: SessionClient, options: ReplyOptions): Promise<void> {
  const { signal, leave } = options
  for (;;) {
    leave.throwIfAborted()
    const messages = await session.messages({ rounds: 1, signal: leave })
    const asked = messages.findLast(({ role }) => role === 'user')
    if (!asked || isAnswered(messages) || signal.aborted) return
    const input = { id: asked.id, parts: [{ type: 'text', text: textIn(asked) || '…' }] }
    try {
      await follow(session, session.chat(input, { signal: leave }), options)
      return
    } catch (error) {
      // Another run goes on: of another tab, or of what was said before.
      if (!isPlimsollError(error, 'ERR_CONFLICT') || !(await join(session, options))) throw error
    }
  }
}

async function join(session: SessionClient, options: ReplyOptions): Promise<boolean> {
  try {
    await follow(session, session.resumeChat('current', { signal: options.leave }), options)
    return true
  } catch (error) {
    if (isPlimsollError(error, 'ERR_NOT_FOUND')) return false
    throw error
  }
}

async function follow(
  session: SessionClient,
  run: ChatRun,
  { signal, leave, tell }: ReplyOptions,
): Promise<void> {
  const events = new EdgeEvents()
  const stop = (): void => {
    // Who leaves does not stop it.
    if (!leave.aborted) session.stopChat(run.run).catch(() => {})
  }
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  let partial = ''
  try {
    for await (const chunk of run) {
      if (chunk.type === 'abort') partial = events.text
      for (const event of events.next(chunk)) await tell(event)
    }
    const { isAborted } = await run.result()
    if (isAborted && partial.trim() !== '') await keepPartial(session, partial, tell)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Keeps what came of a reply that was stopped: the edge records whole ones only. */
async function keepPartial(session: SessionClient, text: string, tell: ReplyOptions['tell']): Promise<void> {
  const messages = await session.messages({ rounds: 1 })
  const round = messages[0]
  if (isAnswered(messages) || !round) return
  await session.append({ role: 'assistant', content: text, metadata: { stopped: true } }, { round: round.id })
  await tell({ type: 'recorded' })
}
