import type { UIMessage } from 'ai'
import type { Json } from '../../../ports/message.ts'
import { checkJson } from '../../../text/check-json.ts'
import { hashJson, hashText } from '../../../text/hash.ts'
import { checkId, checkText, invalid, isPlainObject } from '../../../text/json.ts'
import { isMediaUrl } from '../../media-url.ts'
import type { RequestKey } from '../protocol.ts'

/** What a chat of the AI SDK asks of a session. */
export interface UIRequest {
  readonly trigger: 'submit-message' | 'regenerate-message'
  /** All messages that the chat shows, or the last ones, oldest first. */
  readonly messages: readonly UIMessage[]
  /**
   * The message that is regenerated; that of the user which is edited; that of the assistant whose
   * calls were answered.
   */
  readonly messageId?: string
  /** Names the request: what is sent twice under one key is done once. */
  readonly idempotencyKey?: string
  /** Whether its message came without an id, and got one that nobody has used before. */
  readonly isFresh?: boolean
}

export interface UIRequestOptions {
  /** The request's `Idempotency-Key`. Default: none; then ids say which requests are the same. */
  readonly idempotencyKey?: string
  /** Ids of messages that come without one. */
  readonly newId: () => string
  /** Whether its session is yet to be made: what that would refuse is refused. Default false. */
  readonly isFirst?: boolean
}

/**
 * Reads the body of a request: what the AI SDK's `DefaultChatTransport` posts (`messages`,
 * `trigger`, `messageId`; its `id` is the chat's, which the address says), the same with one
 * `message`, or `{ message: 'text' }`.
 *
 * A message of role `system` is refused: it would be read with the edge's own instructions, and
 * anybody may post one.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function readUIRequest(body: unknown, { idempotencyKey, newId }: UIRequestOptions): UIRequest {
  if (!isPlainObject(body)) throw invalid('chat', 'the body', 'must be an object')
  const { trigger = 'submit-message', messageId, messages, message } = body
  if (trigger !== 'submit-message' && trigger !== 'regenerate-message')
    throw invalid('chat', 'trigger', 'must be submit-message or regenerate-message')
  if (messages !== undefined && message !== undefined)
    throw invalid('chat', 'message', 'and messages cannot both be given')
  const key = idempotencyKey === undefined ? undefined : checkId('chat', 'Idempotency-Key', idempotencyKey)
  const freshId = (): string => (key === undefined ? newId() : `chat/${hashText(key)}`)
  const given = message !== undefined ? [messageOf(message, freshId)] : messages
  if (given !== undefined && !Array.isArray(given)) throw invalid('chat', 'messages', 'must be a list')
  const checked = (given ?? []).map((one: unknown, index) => checkMessage(`messages[${index}]`, one))
  if (trigger === 'submit-message' && checked.length === 0)
    throw invalid('chat', 'messages', 'must hold a message')
  const isFresh =
    key === undefined && (typeof message === 'string' || (isPlainObject(message) && message.id === undefined))
  return {
    trigger,
    messages: checked,
    ...(messageId !== undefined &&
      messageId !== null && { messageId: checkText('chat', 'messageId', messageId) }),
    ...(key !== undefined && { idempotencyKey: key }),
    ...(isFresh && { isFresh }),
  }
}

function messageOf(message: unknown, freshId: () => string): unknown {
  if (typeof message === 'string') {
    if (message === '') throw invalid('chat', 'message', 'must not be empty')
    return { id: freshId(), role: 'user', parts: [{ type: 'text', text: message }] }
  }
  return isPlainObject(message) && message.id === undefined ? { ...message, id: freshId() } : message
}

function checkMessage(argument: string, message: unknown): UIMessage {
  if (!isPlainObject(message)) throw invalid('chat', argument, 'must be an object')
  const { id, role, parts, metadata } = message
  // URLs take these for steps of a path.
  if (/^\.{0,2}$/.test(checkText('chat', `${argument}.id`, id)))
    throw invalid('chat', `${argument}.id`, 'must not be empty, and no step of a path')
  if (role !== 'user' && role !== 'assistant')
    throw invalid('chat', `${argument}.role`, 'must be user or assistant')
  if (!Array.isArray(parts)) throw invalid('chat', `${argument}.parts`, 'must be a list')
  parts.forEach((part: unknown, index) => {
    const path = `${argument}.parts[${index}]`
    if (!isPlainObject(part)) throw invalid('chat', path, 'must be an object')
    checkText('chat', `${path}.type`, part.type)
    if (part.type === 'text') checkText('chat', `${path}.text`, part.text)
    if (part.type === 'file' && !isMediaUrl(checkText('chat', `${path}.url`, part.url)))
      throw invalid('chat', `${path}.url`, 'is of a kind that is not taken')
  })
  // All of them before any is written.
  checkJson('chat', `${argument}.parts`, parts)
  if (metadata !== undefined) checkJson('chat', `${argument}.metadata`, metadata)
  if (role === 'user' && parts.length === 0) throw invalid('chat', `${argument}.parts`, 'must not be empty')
  return {
    id: id as string,
    role,
    parts: parts as UIMessage['parts'],
    ...(metadata !== undefined && metadata !== null && { metadata }),
  }
}

/** Which requests are the same, an `Idempotency-Key` says, else their ids and what they hold. */
export function keyOf({ trigger, messages, messageId, idempotencyKey, isFresh }: UIRequest): RequestKey {
  const last = messages.at(-1)
  const fingerprint = hashJson([
    trigger,
    messageId ?? null,
    last ? [last.id, last.role, jsonOf(last.parts)] : null,
  ])
  if (idempotencyKey !== undefined)
    return { key: `key/${hashText(idempotencyKey)}`, fingerprint, among: 'all', isNamed: true }
  const isAnother = trigger === 'regenerate-message' && messageId === undefined
  // A fresh id comes again where the answer to a call was lost, and at no other time.
  const isOfNewest = messageId !== undefined || isFresh
  const among = isAnother ? 'running' : isOfNewest ? 'newest' : 'all'
  return { key: `request/${fingerprint}`, fingerprint, among }
}

/** Parts are what a body's JSON held, so that nothing is lost here. */
function jsonOf(parts: UIMessage['parts']): Json {
  return checkJson('chat', 'messages', JSON.parse(JSON.stringify(parts)))
}
