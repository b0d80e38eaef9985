import type { UIMessage } from 'ai'
import { appendUIMessages } from '../../../bridges/ai-sdk/append-ui.ts'
import { fromUIMessages, logId } from '../../../bridges/ai-sdk/from-ui.ts'
import { toUIMessages } from '../../../bridges/ai-sdk/to-ui.ts'
import { readEntry } from '../../../kernel/log/entries.ts'
import { kernelOf } from '../../../operations/kernel-of.ts'
import { rewind } from '../../../operations/rewind.ts'
import { isPlimsollError, PlimsollError } from '../../../ports/errors.ts'
import type { SessionBase } from '../../../ports/memory.ts'
import type { MessageInput } from '../../../ports/message.ts'
import type { UIRequest } from './request.ts'
import { ShownMessages, saysTheSame, underFreshId } from './shown-messages.ts'

/**
 * Messages that one request may add: a chat adds one or two, an import into an empty session more.
 */
const MOST_NEW = 100

/** What is left to do once a request was applied. */
export type Applied =
  /** Say this, if it is given, and answer. */
  | {
      readonly type: 'run'
      /** Id of the UI message that the run writes, or writes on. */
      readonly messageId: string
      readonly input?: MessageInput
      /** The assistant's message that the run goes on with, and ids of the replies in it. */
      readonly before?: UIMessage
      readonly replies?: readonly string[]
    }
  /** Nothing: this was the answer, and others followed it. */
  | { readonly type: 'answered'; readonly answer: UIMessage }

/**
 * Changes a session as a chat asks:
 *
 * - Messages of the user that are not known are new; the newest of them is left to the run to
 *   write. What stands before the newest known one is taken for known. Into an empty log all of
 *   them are written.
 * - Of an assistant's message nothing is taken but results of calls that wait.
 * - `regenerate-message` hides the reply that is named, or the newest one, and what follows it.
 * - An edit hides the message and what follows it; the new words are written under a fresh id,
 *   which shows as the chat's own. An edit that changes nothing hides what follows.
 *
 * Applying it again, also after it was cut short, leaves the session as applying it once.
 *
 * @throws ERR_NOT_FOUND (the reply to regenerate), ERR_CONFLICT (the message is an old one, and has
 * no answer), as `session.append()`
 */
export async function applyUIRequest(
  session: SessionBase,
  request: UIRequest,
  newId: () => string,
): Promise<Applied> {
  const { trigger, messages, messageId } = request
  const last = messages.at(-1)
  if (trigger === 'regenerate-message') await hideReply(session, messageId, last)
  // To ask for another reply to a message by its own id is an edit that changes nothing.
  const isEdit = last?.role === 'user' && last.id === messageId
  const input = isEdit ? await edit(session, last, newId) : await appendNew(session, messages)
  if (input) return { type: 'run', messageId: newId(), input }
  if (last?.role === 'user') {
    const answer = await answerTo(session, last)
    if (answer) return { type: 'answered', answer }
  }
  const round = await session.history({ rounds: 1 })
  const before = toUIMessages(round).at(-1)
  if (before?.role !== 'assistant') return { type: 'run', messageId: newId() }
  const replies = round.flatMap(({ role, id }) => (role === 'assistant' ? id : []))
  return { type: 'run', messageId: before.id, before, replies }
}

/**
 * Hides a reply: the one that is named, else that to the newest message of the chat, else the
 * newest one.
 */
async function hideReply(
  session: SessionBase,
  messageId: string | undefined,
  last: UIMessage | undefined,
): Promise<void> {
  const shown = await ShownMessages.read(session)
  // Without words of the user in the request, something must be left to answer.
  const leavesSome = last?.role !== 'user'
  const named = messageId === undefined ? -1 : shown.placeOf(messageId)
  if (named >= 0) {
    const isOfUser = shown.messages[named]?.role === 'user'
    await hideFrom(session, shown, isOfUser ? named + 1 : named, leavesSome)
    return
  }
  if (messageId !== undefined && (await hideIfShown(session, messageId, leavesSome))) return
  const asked = last?.role === 'user' ? shown.placeOf(last.id) : -1
  if (asked >= 0) await hideFrom(session, shown, asked + 1)
  else if (last?.role !== 'user' && messageId === undefined)
    await hideFrom(session, shown, shown.newestOfUser + 1, leavesSome)
  else if (last?.role !== 'user')
    throw new PlimsollError('ERR_NOT_FOUND', `chat: ${messageId} does not show in this session`, {
      id: messageId ?? '',
    })
}

/**
 * Checks a chat of a session that is yet to be made: nothing is made for one that would be refused.
 * It says one thing. One that shows more was held in a session that somebody has removed since, and
 * is not to bring it back.
 *
 * @throws ERR_NOT_FOUND: it is no first message; ERR_LIMIT
 */
export function checkFirst({ trigger, messages, messageId }: UIRequest): void {
  const isFirst = messages.at(-1) === messages.find(({ role }) => role === 'user')
  if (trigger !== 'submit-message' || messageId !== undefined || !isFirst)
    throw new PlimsollError('ERR_NOT_FOUND', 'chat: there is no such session, and this is no first message')
  checkNew(messages)
}

/** @returns what the run is to say; nothing, where the edit changes nothing */
async function edit(
  session: SessionBase,
  sent: UIMessage,
  newId: () => string,
): Promise<MessageInput | undefined> {
  const shown = await ShownMessages.read(session)
  const place = shown.placeOf(sent.id)
  const message = shown.messages[place]
  if (message && saysTheSame(message, sent)) {
    await hideFrom(session, shown, place + 1)
    return undefined
  }
  if (message) await rewind(session, message.id)
  // It never came, for example since the network was down.
  else if (!(await isWritten(session, sent))) return fromUIMessages([sent])[0]
  // It stands further back, or an edit that was cut short had hidden it.
  else await hideIfShown(session, sent.id)
  return underFreshId(sent, newId())
}

/** @throws ERR_LIMIT */
function checkNew({ length }: readonly UIMessage[]): void {
  if (length > MOST_NEW)
    throw new PlimsollError('ERR_LIMIT', `chat: ${length} new messages, more than ${MOST_NEW}`, {
      limit: MOST_NEW,
    })
}

/** Writes what is new, but for the newest message of the user. */
async function appendNew(
  session: SessionBase,
  messages: readonly UIMessage[],
): Promise<MessageInput | undefined> {
  const [only, second] = messages
  // What shows by an id was written under it, or in place of what was.
  if (only?.role === 'user' && !second && !(await isWritten(session, only))) return fromUIMessages([only])[0]
  const shown = await ShownMessages.readFor(session, messages)
  const known = messages.findLastIndex(({ role, id }) => role === 'user' && shown.placeOf(id) >= 0)
  const rest = messages.slice(known + 1)
  checkNew(rest)
  const isEmpty = shown.messages.length === 0
  // Only of the newest reply can calls wait.
  const newestReply = rest.findLast(({ role }) => role === 'assistant')
  for (const [index, message] of rest.entries()) {
    const isNewest = index === rest.length - 1
    // A reply that never began, which a chat may show all the same.
    if (message.parts.length === 0) continue
    if (message.role === 'user' && isNewest) return fromUIMessages([message])[0]
    if (message.role === 'user' || isEmpty) await session.append(fromUIMessages([message]))
    else if (message === newestReply) await appendUIMessages(session, [message])
  }
  return undefined
}

/** Whether the log has an entry of a message's id, shown or not. No more than that one is read. */
async function isWritten(session: SessionBase, { id }: UIMessage): Promise<boolean> {
  return (await readEntry(kernelOf('chat', session).store, logId(id))) !== undefined
}

/** The reply to a message that others of the user followed. */
async function answerTo(session: SessionBase, { id }: UIMessage): Promise<UIMessage | undefined> {
  const shown = await ShownMessages.read(session)
  const place = shown.placeOf(id)
  if (place === shown.newestOfUser) return undefined
  const next = toUIMessages(shown.messages.slice(place + 1))[0]
  if (next?.role === 'assistant') return next
  throw new PlimsollError('ERR_CONFLICT', 'chat: other messages follow this one, and it has no answer', {
    id,
  })
}

/** @throws ERR_INVALID_ARGUMENT: nothing would be left, and must be; nothing is hidden */
async function hideFrom(
  session: SessionBase,
  { messages }: ShownMessages,
  place: number,
  leavesSome = false,
): Promise<void> {
  const first = messages[place]
  if (!first) return
  if (leavesSome) await checkLeft(session, first.id)
  await rewind(session, first.id)
}

/**
 * Hides a message that may stand further back than what was looked through. @returns whether it
 * showed
 */
async function hideIfShown(session: SessionBase, id: string, leavesSome = false): Promise<boolean> {
  try {
    if (leavesSome) await checkLeft(session, logId(id))
    await rewind(session, logId(id))
    return true
  } catch (error) {
    if (isPlimsollError(error, 'ERR_NOT_FOUND')) return false
    throw error
  }
}

/**
 * @throws ERR_INVALID_ARGUMENT: no message shows before that one; ERR_NOT_FOUND: it does not show
 */
async function checkLeft(session: SessionBase, id: string): Promise<void> {
  if ((await session.history({ before: id, messages: 1 })).length > 0) return
  throw new PlimsollError('ERR_INVALID_ARGUMENT', 'chat: no message would be left to answer', {
    argument: 'messages',
  })
}
