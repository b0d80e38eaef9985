import { editMessage } from '../../operations/rewind.ts'
import type { SessionBase } from '../../ports/memory.ts'
import type { MessageInput } from '../../ports/message.ts'
import type { AppendOptions, AppendResult } from '../../ports/session.ts'
import { invalid, isPlainObject } from '../../text/json.ts'
import { isMediaUrl } from '../media-url.ts'
import type { TextParts } from '../rows/text-parts.ts'
import { fromWire } from '../wire.ts'
import type { GivenMessage, UploadedMessage } from './session-calls.ts'

export interface GivenOptions extends AppendOptions {
  /** Id of a message that a user's message is said in place of. */
  readonly replaces?: string
}

/**
 * Appends messages, as {@link writeGiven} says. Where none of them has an id, the first gets that
 * of the op: a store needs one index for both. @throws as `session.append` and `editMessage`
 */
export function appendGiven(
  session: SessionBase,
  parts: TextParts,
  given: readonly GivenMessage[],
  { replaces, ...options }: GivenOptions,
): Promise<AppendResult> {
  const { opId } = options
  return writeGiven(parts, given, (messages) => {
    if (replaces !== undefined) return editMessage(session, replaces, messages, options)
    const [first, ...others] = messages
    if (opId === undefined || !first || messages.some(({ id }) => id !== undefined))
      return session.append(messages, options)
    return session.append([{ ...first, id: opId }, ...others], { ...options, opId: `entry:${opId}` })
  })
}

/**
 * Writes messages of which some may have been uploaded in parts: these are put together first, and
 * removed once they are in the log.
 *
 * @throws as `write`, and ERR_INVALID_ARGUMENT: a part is missing, or together they are no message
 */
export async function writeGiven<Result>(
  parts: TextParts,
  given: readonly GivenMessage[],
  write: (messages: readonly MessageInput[]) => Promise<Result>,
): Promise<Result> {
  const uploaded = given.filter(isUploaded)
  const messages = given.map((message, index) =>
    isUploaded(message) ? assembled(parts, message, `messages[${index}]`) : message,
  )
  for (const [index, message] of messages.entries()) checkMedia(message, `messages[${index}]`)
  const result = await write(messages)
  for (const { id } of uploaded) parts.release(id)
  return result
}

function isUploaded(message: GivenMessage): message is UploadedMessage {
  return 'parts' in message
}

function assembled(parts: TextParts, { id, parts: count }: UploadedMessage, argument: string): MessageInput {
  const message = parsed(parts.take(id, count))
  if (!isPlainObject(message) || (message.id !== undefined && message.id !== id))
    throw invalid('append', argument, `must be a message with id ${id} when its parts are joined`)
  // What it holds the core checks.
  return { ...(message as unknown as MessageInput), id }
}

/** What was uploaded in parts no route has looked at. */
function checkMedia({ content }: MessageInput, argument: string): void {
  if (!Array.isArray(content)) return
  const at = content.findIndex((part) => part?.type === 'media' && !isMedia(part.url))
  if (at >= 0) throw invalid('append', `${argument}.content[${at}].url`, 'is of a kind that is not taken')
}

function isMedia(url: unknown): boolean {
  return url === undefined || (typeof url === 'string' && isMediaUrl(url))
}

function parsed(text: string): unknown {
  try {
    return fromWire(JSON.parse(text))
  } catch {
    return undefined
  }
}
