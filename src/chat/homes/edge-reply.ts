import type { ChatRun } from '../../client/chat.ts'
import type { SessionClient } from '../../client/session.ts'
import { isPlimsollError } from '../../ports/errors.ts'
import type { MessageInput, SessionMessage } from '../../ports/message.ts'
import { textIn } from '../text.ts'
import { isAnswered } from './answered.ts'
import { EdgeEvents } from './edge-events.ts'
import type { ReplyOptions } from './home.ts'

/** A session that is answered at an edge. */
export interface AnsweredSession {
  readonly client: SessionClient
  /** Messages of the newest round. */
  newest(signal?: AbortSignal): Promise<readonly SessionMessage[]>
  /**
   * Keeps what came of a reply that was stopped or cut off: the edge records whole ones only.
   *
   * @throws ERR_DUPLICATE_ID: another tab has kept it, which may have seen another piece of it
   */
  keep(message: MessageInput & { readonly id: string }, round: string): Promise<unknown>
}

/**
 * Has the newest message answered.
 *
 * @param newest Contract: as that of the session, once the edge has all that it gives. A message
 * that is asked for before that is written there as it is posted: with its text alone.
 */
export async function replyAtEdge(
  session: AnsweredSession,
  options: ReplyOptions,
  newest = session.newest,
): Promise<void> {
  const { signal, leave } = options
  for (;;) {
    const messages = await newest(leave)
    leave.throwIfAborted()
    const asked = messages.findLast(({ role }) => role === 'user')
    if (!asked || isAnswered(messages) || signal.aborted) return
    const input = { id: asked.id, parts: [{ type: 'text', text: textIn(asked) || '…' }] }
    try {
      await follow(session, session.client.chat(input, { signal: leave }), options, messages[0]?.id)
      return
    } catch (error) {
      // Another run goes on: of another tab, or of what was said before.
      if (!isPlimsollError(error, 'ERR_CONFLICT') || !(await joinAtEdge(session, options))) throw error
    }
  }
}

/** Follows a reply that goes on there. @returns whether there was one */
export async function joinAtEdge(session: AnsweredSession, options: ReplyOptions): Promise<boolean> {
  try {
    await follow(session, session.client.resumeChat('current', { signal: options.leave }), options)
    return true
  } catch (error) {
    if (isPlimsollError(error, 'ERR_NOT_FOUND')) return false
    throw error
  }
}

/** @param asked the round of the message, where it was asked for here */
async function follow(
  session: AnsweredSession,
  run: ChatRun,
  { signal, leave, tell }: ReplyOptions,
  asked?: string,
): Promise<void> {
  const events = new EdgeEvents()
  const stop = (): void => {
    // Who leaves does not stop it.
    if (!leave.aborted) session.client.stopChat(run.run).catch(() => {})
  }
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  let partial = ''
  let round = asked
  const keepPartial = async (stopped: true | 'error'): Promise<void> => {
    if (!round || partial.trim() === '') return
    const messages = await session.newest()
    if (round === messages[0]?.id && isAnswered(messages)) return
    // Each tab that follows it keeps it, since any of them may be gone by now.
    const id = `stopped/${run.run}`
    try {
      await session.keep({ id, role: 'assistant', content: partial, metadata: { stopped } }, round)
    } catch (error) {
      if (!isPlimsollError(error, 'ERR_DUPLICATE_ID')) throw error
    }
    await tell({ type: 'recorded' })
  }
  try {
    for await (const chunk of run) {
      // Stopped before it was there, it could not be found.
      if (chunk.type === 'start' && signal.aborted) stop()
      // What is said from now on, it does not answer.
      round ??= (await session.newest(leave))[0]?.id ?? ''
      if (chunk.type === 'abort' || chunk.type === 'error') partial = events.text
      for (const event of events.next(chunk)) await tell(event)
    }
    const { isAborted } = await run.result().catch(async (error) => {
      await keepPartial('error')
      throw error
    })
    if (isAborted) await keepPartial(true)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
