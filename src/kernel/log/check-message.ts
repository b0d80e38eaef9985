import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { Json, Message, MessageInput, Part, Role, Trust } from '../../ports/message.ts'
import { checkJson } from '../text/check-json.ts'
import { checkCount, checkId, checkText, invalid, isPlainObject } from '../text/json.ts'
import {
  EPOCH_ID,
  lowerTrust,
  MAX_ENTRY_BYTES,
  MAX_METADATA_BYTES,
  openMessage,
  SUMMARY_ID,
  sealMessage,
  TRUST,
} from './message.ts'
import { utf8Length } from '../text/utf8-length.ts'

/** Which parts each role may hold. */
const ALLOWED: { readonly [role in Role]: ReadonlySet<Part['type']> } = {
  system: new Set(['text']),
  user: new Set(['text', 'media', 'opaque']),
  assistant: new Set(['text', 'reasoning', 'tool-call', 'media', 'opaque']),
  tool: new Set(['tool-result']),
}

/**
 * Checks an app's message and fills in its defaults. Only known fields are copied, and the copy shares nothing with the
 * input.
 *
 * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE
 */
export function checkMessage(operation: string, argument: string, input: MessageInput, host: Host): Message {
  if (!isPlainObject(input)) throw invalid(operation, argument, 'must be an object')
  const { role } = input
  if (!Object.hasOwn(ALLOWED, role))
    throw invalid(operation, `${argument}.role`, 'must be system, user, assistant or tool')
  const message: Message = {
    id: input.id === undefined ? host.newId() : checkMessageId(operation, `${argument}.id`, input.id),
    role,
    content: checkContent(operation, `${argument}.content`, role, input.content),
    createdAt:
      input.createdAt === undefined
        ? host.now()
        : checkTime(operation, `${argument}.createdAt`, input.createdAt),
    trust: input.trust === undefined ? role : checkTrust(operation, `${argument}.trust`, role, input.trust),
    ...(input.name !== undefined && { name: checkId(operation, `${argument}.name`, input.name) }),
    ...(input.metadata !== undefined && {
      metadata: checkMetadata(operation, `${argument}.metadata`, input.metadata),
    }),
  }
  const body = sealMessage(message)
  const size = utf8Length(body)
  if (size > MAX_ENTRY_BYTES)
    throw new PlimsollError(
      'ERR_ENTRY_TOO_LARGE',
      `${operation}: ${argument} has ${size} bytes, more than ${MAX_ENTRY_BYTES}`,
      { size, limit: MAX_ENTRY_BYTES, argument },
    )
  return openMessage(message.id, body)
}

function checkMessageId(operation: string, argument: string, value: unknown): string {
  const id = checkId(operation, argument, value)
  const taken = [EPOCH_ID, SUMMARY_ID].find((prefix) => id.startsWith(prefix))
  if (taken !== undefined) throw invalid(operation, argument, `must not begin with ${taken}`)
  return id
}

function checkContent(
  operation: string,
  argument: string,
  role: Role,
  content: unknown,
): string | readonly Part[] {
  if (typeof content === 'string' && role !== 'tool') return checkText(operation, argument, content)
  if (!Array.isArray(content))
    throw invalid(
      operation,
      argument,
      role === 'tool' ? 'must be a list of tool results' : 'must be a string or a list of parts',
    )
  if (role === 'tool' && content.length === 0) throw invalid(operation, argument, 'must hold a tool result')
  return content.map((part, index) => checkPart(operation, `${argument}[${index}]`, role, part))
}

function checkPart(operation: string, argument: string, role: Role, part: unknown): Part {
  if (!isPlainObject(part)) throw invalid(operation, argument, 'must be an object')
  const { type } = part as { type: Part['type'] }
  if (!ALLOWED[role].has(type))
    throw invalid(operation, argument, `of type ${String(type)} cannot be in a message of role ${role}`)
  const text = (key: string): string => checkText(operation, `${argument}.${key}`, part[key])
  const tokens = (): { readonly tokens?: number } =>
    part.tokens === undefined ? {} : { tokens: checkCount(operation, `${argument}.tokens`, part.tokens) }
  const json = (key: string): Json => checkJson(operation, `${argument}.${key}`, part[key])
  switch (type) {
    case 'text':
      return { type, text: text('text') }
    case 'reasoning':
      return {
        type,
        text: text('text'),
        ...(part.signature !== undefined && { signature: text('signature') }),
      }
    case 'tool-call':
      return {
        type,
        id: callId(operation, `${argument}.id`, part.id),
        name: checkId(operation, `${argument}.name`, part.name),
        input: json('input'),
      }
    case 'tool-result':
      return {
        type,
        callId: callId(operation, `${argument}.callId`, part.callId),
        output: json('output'),
        ...(part.isError === true && { isError: true }),
      }
    case 'media':
      return {
        type,
        mediaType: text('mediaType'),
        ...(part.ref !== undefined && { ref: text('ref') }),
        ...(part.url !== undefined && { url: text('url') }),
        ...tokens(),
      }
    case 'opaque':
      return { type, provider: text('provider'), value: json('value'), ...tokens() }
  }
}

/** The id of a call as the model gave it: any well-formed text, even an empty one. */
function callId(operation: string, argument: string, value: unknown): string {
  const id = checkText(operation, argument, value)
  if (utf8Length(id) > 1_024) throw invalid(operation, argument, 'must be at most 1024 bytes')
  return id
}

function checkTrust(operation: string, argument: string, role: Role, trust: Trust): Trust {
  checkLabel(operation, argument, trust)
  if (lowerTrust(trust, role) !== trust)
    throw invalid(operation, argument, `cannot be above ${role} for a message of that role`)
  return trust
}

/** One of the labels, or `ERR_INVALID_ARGUMENT`. */
export function checkLabel(operation: string, argument: string, trust: unknown): Trust {
  if (!TRUST.includes(trust as Trust))
    throw invalid(operation, argument, `must be one of ${TRUST.join(', ')}`)
  return trust as Trust
}

/** Whole Unix milliseconds, or `ERR_INVALID_ARGUMENT`. */
export function checkTime(operation: string, argument: string, time: unknown): number {
  if (!Number.isSafeInteger(time)) throw invalid(operation, argument, 'must be whole Unix milliseconds')
  return time as number
}

function checkMetadata(
  operation: string,
  argument: string,
  metadata: unknown,
): { readonly [key: string]: Json } {
  if (!isPlainObject(metadata)) throw invalid(operation, argument, 'must be an object')
  const json = checkJson(operation, argument, metadata) as { readonly [key: string]: Json }
  const size = utf8Length(JSON.stringify(json))
  if (size > MAX_METADATA_BYTES)
    throw new PlimsollError(
      'ERR_ENTRY_TOO_LARGE',
      `${operation}: ${argument} has ${size} bytes, more than ${MAX_METADATA_BYTES}`,
      {
        size,
        limit: MAX_METADATA_BYTES,
        argument,
      },
    )
  return json
}
