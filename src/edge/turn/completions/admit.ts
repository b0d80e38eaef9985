import { partsOf } from '../../../kernel/log/message.ts'
import { attachmentsIn } from '../../../kernel/log/seal.ts'
import { attach, readAttachment } from '../../../operations/attachments.ts'
import { rewind } from '../../../operations/rewind.ts'
import { base64 } from '../../../ports/base64.ts'
import { isPlimsollError, PlimsollError } from '../../../ports/errors.ts'
import type { SessionBase } from '../../../ports/memory.ts'
import type { Message, MessageInput, Part } from '../../../ports/message.ts'
import { hashText } from '../../../text/hash.ts'
import { invalid } from '../../../text/json.ts'
import { type Alignment, align, alignEnd, isAnswered } from './align.ts'
import {
  type Item,
  isInline,
  pictureBytes,
  pictureKey,
  type SentItem,
  type StoredItem,
  storedItems,
} from './items.ts'

/**
 * Messages in which an edit is looked for, where more of the log than was sent has to be read at
 * all.
 */
const LOOK_BACK = 512

export interface AdmitOptions {
  /** Whether the client says that it repeats a request. */
  readonly isRetry?: boolean
  /** The client's own name for this request. */
  readonly idempotencyKey?: string
}

/** What is to be answered. */
export interface Admitted {
  /** The reply that the log holds already, to a request that is repeated. */
  readonly reply?: Message
  /** Id of the user message that opened the round. */
  readonly round?: string
}

/**
 * Writes what is new of a client's messages, after it hid what the client has edited: see
 * {@link align}. Reads no more of the log than was sent, but for an edit. Hiding and writing are
 * two commits: repeated after a failure between them, the second goes on.
 *
 * Contract: not called twice at once for one session.
 *
 * @throws ERR_INVALID_ARGUMENT (a result that answers no waiting call), ERR_TOOL_PENDING (results
 * of some calls, not of all), ERR_CONFLICT (the key names a message that was hidden since, or
 * answered long ago); nothing is written. What `session.append` throws.
 */
export async function admit(
  session: SessionBase,
  sent: readonly SentItem[],
  { isRetry = false, idempotencyKey }: AdmitOptions,
): Promise<Admitted> {
  const idOf = (place: number): string | undefined =>
    idempotencyKey === undefined ? undefined : `openai/${hashText(JSON.stringify([idempotencyKey, place]))}`
  const near = await read(session, sent, sent.length + 2)
  const newest = idOf(sent.length - 1)
  const known = replyTo(near.items, newest)
  if (known) return { reply: known }
  if (isRetry && idempotencyKey === undefined && isAnswered(sent, near.items, near.isWhole))
    return { reply: (near.items.at(-1) as StoredItem).message }
  let stored = near.items
  let alignment = alignEnd(sent, stored)
  if (!alignment) {
    const far = near.isWhole ? near : await readFar(session, sent)
    const reply = replyTo(far.items, newest)
    if (reply) return { reply }
    stored = far.items
    alignment = align(sent, stored, far.isWhole)
  }
  const { keep, added } = atMessages(alignment, sent, stored)
  const shown: readonly Item[] = [...stored.slice(0, keep), ...added.map((place) => sent[place] as SentItem)]
  checkResults(shown, keep)
  const hidden = stored[keep]
  if (hidden) await rewind(session, hidden.message.id)
  const round = stored.slice(0, keep).findLast(({ role }) => role === 'user')?.message.id
  if (added.length === 0) return { ...(round !== undefined && { round }) }
  const inputs: MessageInput[] = []
  for (const place of added) {
    const { input, index } = sent[place] as SentItem
    const id = idOf(place)
    inputs.push({ ...(await withPictures(session, input, index)), ...(id !== undefined && { id }) })
  }
  const { messages, repeated } = await session.append(inputs)
  if (repeated) {
    const reply = replyTo((await readFar(session, sent)).items, newest)
    if (reply) return { reply }
    throw new PlimsollError(
      'ERR_CONFLICT',
      'chat.completions: the idempotency key names a message that no longer shows, or was answered long ago',
    )
  }
  const opened = messages.findLast(({ role }) => role === 'user')?.id ?? round
  return { ...(opened !== undefined && { round: opened }) }
}

function readFar(session: SessionBase, sent: readonly SentItem[]): ReturnType<typeof read> {
  return read(session, sent, Math.max(LOOK_BACK, sent.length + 2))
}

async function read(
  session: SessionBase,
  sent: readonly SentItem[],
  count: number,
): Promise<{ readonly items: readonly StoredItem[]; readonly isWhole: boolean }> {
  const messages = await session.history({ messages: count })
  const isAsked = sent.some(({ input }) => partsOf(input).some(isInline))
  const pictures = isAsked ? await picturesIn(session, messages) : undefined
  return { items: storedItems(messages, pictures), isWhole: messages.length < count }
}

/** What the attached pictures of messages are compared by. Of one that is gone nothing is. */
async function picturesIn(
  session: SessionBase,
  messages: readonly Message[],
): Promise<ReadonlyMap<string, string>> {
  const pictures = new Map<string, string>()
  for (const ref of messages.flatMap(attachmentsIn))
    try {
      const { mediaType, bytes } = await readAttachment(session, ref)
      pictures.set(ref, pictureKey(mediaType, base64(bytes)))
    } catch (error) {
      if (!isPlimsollError(error, 'ERR_NOT_FOUND')) throw error
    }
  return pictures
}

/** The reply that directly follows a message. */
function replyTo(stored: readonly StoredItem[], id: string | undefined): Message | undefined {
  if (id === undefined) return undefined
  const next = stored[stored.findLastIndex(({ message }) => message.id === id) + 1]
  return next?.role === 'assistant' && stored.some(({ message }) => message.id === id)
    ? next.message
    : undefined
}

/**
 * Only whole messages can be hidden: of one that holds several results, those that stay are written
 * again.
 */
function atMessages(
  { keep, added }: Alignment,
  sent: readonly SentItem[],
  stored: readonly StoredItem[],
): Alignment {
  const first = stored[keep]
  if (!first || stored[keep - 1]?.message !== first.message) return { keep, added }
  return atMessages({ keep: keep - 1, added: [(added[0] ?? sent.length) - 1, ...added] }, sent, stored)
}

/**
 * What a session that is made for it would refuse. @throws ERR_INVALID_ARGUMENT, ERR_TOOL_PENDING,
 * as {@link admit}
 */
export function checkFirst(sent: readonly SentItem[]): void {
  checkResults(sent, 0)
}

/**
 * Each new result answers a call of the newest reply before it, and where they are the end of it
 * all, no call is left waiting.
 */
function checkResults(shown: readonly Item[], from: number): void {
  let calls: readonly string[] = []
  let waiting = new Set<string>()
  for (const [place, item] of shown.entries()) {
    if (item.role === 'assistant') {
      calls = item.calls
      waiting = new Set(calls)
    }
    if (item.role !== 'tool') continue
    const [call = ''] = item.calls
    if (!waiting.delete(call) && place >= from)
      throw invalid(
        'chat.completions',
        `messages[${(item as SentItem).index}].tool_call_id`,
        'answers no call that waits',
      )
  }
  if (shown.at(-1)?.role !== 'tool' || waiting.size === 0) return
  throw new PlimsollError(
    'ERR_TOOL_PENDING',
    `chat.completions: ${waiting.size} of ${calls.length} calls have no result; send all of them in one request`,
    { argument: 'messages' },
  )
}

/** A message whose `data:` pictures are attachments: bytes do not travel inside of a message. */
async function withPictures(session: SessionBase, input: MessageInput, index: number): Promise<MessageInput> {
  if (typeof input.content === 'string') return input
  const content: Part[] = []
  for (const part of input.content) {
    if (!isInline(part)) {
      content.push(part)
      continue
    }
    content.push(await attach(session, { mediaType: part.mediaType, bytes: pictureBytes(part, index) }))
  }
  return { ...input, content }
}
