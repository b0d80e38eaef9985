import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { Message, MessageInput, Part, Role, Trust } from '../../ports/message.ts'
import { checkJson } from '../text/check-json.ts'
import { checkCount, checkId, checkText, invalid, isPlainObject } from '../text/json.ts'
import { utf8Length } from '../text/utf8-length.ts'
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

/** Which parts each role may hold. */
const ALLOWED: { readonly [role in Role]: readonly Part['type'][] } = {
  system: ['text'],
  user: ['text', 'media', 'opaque'],
  assistant: ['text', 'reasoning', 'tool-call', 'media', 'opaque'],
  tool: ['tool-result'],
}

type Check = (operation: string, argument: string, value: unknown) => unknown
type Fields = { readonly [field: string]: Check }

/** The fields of each part, beside those that it may have. */
const REQUIRED: { readonly [type in Part['type']]: Fields } = {
  text: { text: checkText },
  reasoning: { text: checkText },
  'tool-call': { id: checkCallId, name: checkId, input: checkJson },
  'tool-result': { callId: checkCallId, output: checkJson },
  media: { mediaType: checkText },
  opaque: { provider: checkText, value: checkJson },
}
const OPTIONAL: { readonly [type in Part['type']]?: Fields } = {
  reasoning: { signature: checkText },
  media: { ref: checkText, url: checkText, tokens: checkCount },
  opaque: { tokens: checkCount },
}

/**
 * Checks an app's message and fills in its defaults. Only known fields are copied, and the copy shares nothing with the input.
 *
 * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE
 */
export function checkMessage(operation: string, argument: string, input: MessageInput, host: Host): Message {
  if (!isPlainObject(input)) throw invalid(operation, argument, 'must be an object')
  const { id, role, content, createdAt, trust, name, metadata } = input as MessageInput
  const at = (field: string): string => `${argument}.${field}`
  if (!Object.hasOwn(ALLOWED, role))
    throw invalid(operation, at('role'), 'must be system, user, assistant or tool')
  const message: Message = {
    id: id === undefined ? host.newId() : checkMessageId(operation, at('id'), id),
    role,
    content: checkContent(operation, at('content'), role, content),
    createdAt: createdAt === undefined ? host.now() : checkTime(operation, at('createdAt'), createdAt),
    trust: trust === undefined ? role : checkTrust(operation, at('trust'), role, trust),
    ...(name !== undefined && { name: checkId(operation, at('name'), name) }),
    ...(metadata !== undefined && { metadata: checkMetadata(operation, at('metadata'), metadata) }),
  }
  return openMessage(message.id, checkSize(operation, argument, sealMessage(message), MAX_ENTRY_BYTES))
}

function checkMessageId(operation: string, argument: string, value: unknown): string {
  const id = checkId(operation, argument, value)
  const taken = [EPOCH_ID, SUMMARY_ID].find((prefix) => id.startsWith(prefix))
  if (taken !== undefined) throw invalid(operation, argument, `must not begin with ${taken}`)
  return id
}

function checkContent(operation: string, argument: string, role: Role, content: unknown): Message['content'] {
  if (typeof content === 'string' && role !== 'tool') return checkText(operation, argument, content)
  const shape = role === 'tool' ? 'must be a list of tool results' : 'must be a string or a list of parts'
  if (!Array.isArray(content)) throw invalid(operation, argument, shape)
  if (role === 'tool' && content.length === 0) throw invalid(operation, argument, 'must hold a tool result')
  return content.map((part, index) => checkPart(operation, `${argument}[${index}]`, role, part))
}

function checkPart(operation: string, argument: string, role: Role, part: unknown): Part {
  if (!isPlainObject(part)) throw invalid(operation, argument, 'must be an object')
  const { type } = part as { type: Part['type'] }
  if (!ALLOWED[role].includes(type))
    throw invalid(operation, argument, `of type ${String(type)} cannot be in a message of role ${role}`)
  const given = Object.entries(OPTIONAL[type] ?? {}).filter(([key]) => part[key] !== undefined)
  const fields = [...Object.entries(REQUIRED[type]), ...given].map(
    ([key, check]) => [key, check(operation, `${argument}.${key}`, part[key])] as const,
  )
  const isError = type === 'tool-result' && part.isError === true
  return { type, ...Object.fromEntries(fields), ...(isError && { isError }) } as Part
}

/** The id of a call as the model gave it: any well-formed text, even an empty one. */
function checkCallId(operation: string, argument: string, value: unknown): string {
  const id = checkText(operation, argument, value)
  if (utf8Length(id) > 1_024) throw invalid(operation, argument, 'must be at most 1024 bytes')
  return id
}

function checkTrust(operation: string, argument: string, role: Role, trust: Trust): Trust {
  checkLabel(operation, argument, trust)
  if (lowerTrust(trust, role) === trust) return trust
  throw invalid(operation, argument, `cannot be above ${role} for a message of that role`)
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
  value: unknown,
): NonNullable<Message['metadata']> {
  if (!isPlainObject(value)) throw invalid(operation, argument, 'must be an object')
  const json = checkJson(operation, argument, value) as NonNullable<Message['metadata']>
  checkSize(operation, argument, JSON.stringify(json), MAX_METADATA_BYTES)
  return json
}

/** JSON of at most so many bytes, or `ERR_ENTRY_TOO_LARGE`. */
export function checkSize(operation: string, argument: string, json: string, limit: number): string {
  const size = utf8Length(json)
  if (size <= limit) return json
  const reason = `${argument} has ${size} bytes, more than ${limit}`
  throw new PlimsollError('ERR_ENTRY_TOO_LARGE', `${operation}: ${reason}`, { size, limit, argument })
}
