import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { Json, Message, MessageInput, Part, Role, Trust } from '../../ports/message.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import { checkJson, checkJsonObject } from '../../text/check-json.ts'
import { checkOneOf } from '../../text/check-value.ts'
import { checkShape, type Fields, optional } from '../../text/fields.ts'
import { checkCount, checkId, checkObject, checkText, invalid } from '../../text/json.ts'
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

const text = optional(checkText)
const count = optional(checkCount)
/** The fields of each part beside its type. */
const FIELDS: { readonly [type in Part['type']]: Fields } = {
  text: { text: checkText },
  reasoning: { text: checkText, signature: text },
  'tool-call': { id: checkCallId, name: checkId, input: checkJson },
  'tool-result': { callId: checkCallId, output: checkJson, isError: keepTrue },
  media: { mediaType: checkText, name: optional(checkId), ref: text, url: text, tokens: count },
  opaque: { provider: checkText, value: checkJson, tokens: count },
}

/**
 * Checks an app's message and fills in its defaults. A field that is not known is refused: what
 * another library's message says in it would be lost. The copy shares nothing with the input.
 *
 * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE
 */
export function checkMessage(
  operation: string,
  argument: string,
  input: MessageInput,
  host: Pick<Host, 'now' | 'newId'>,
): Message {
  const given = checkObject(operation, argument, input) as unknown as MessageInput
  const { role, trust = role } = given
  checkOneOf(operation, `${argument}.role`, role, Object.keys(ALLOWED))
  if (lowerTrust(checkLabel(operation, `${argument}.trust`, trust), role) !== trust)
    throw invalid(operation, `${argument}.trust`, `cannot be above ${role} for a message of that role`)
  const message = checkShape<Message>(operation, argument, given, {
    id: (...of) => (given.id === undefined ? host.newId() : checkMessageId(...of)),
    role: () => role,
    content: (operation, argument, content) => checkContent(operation, argument, role, content),
    createdAt: (...of) => (given.createdAt === undefined ? host.now() : checkTime(...of)),
    trust: () => trust,
    name: optional(checkId),
    metadata: optional(checkMetadata),
    // Of a message that was read.
    delivery: () => undefined,
  })
  return openMessage(message.id, checkSize(operation, argument, sealMessage(message), MAX_ENTRY_BYTES))
}

function checkMessageId(operation: string, argument: string, value: unknown): string {
  const id = checkId(operation, argument, value)
  const taken = [EPOCH_ID, SUMMARY_ID].find((prefix) => id.startsWith(prefix))
  if (taken !== undefined) throw invalid(operation, argument, `must not begin with ${taken}`)
  return id
}

function checkContent(operation: string, argument: string, role: Role, content: unknown): Message['content'] {
  const isTool = role === 'tool'
  if (typeof content === 'string' && !isTool) return checkText(operation, argument, content)
  if (!Array.isArray(content))
    throw invalid(
      operation,
      argument,
      `must be a ${isTool ? 'list of tool results' : 'string or a list of parts'}`,
    )
  if (isTool && content.length === 0) throw invalid(operation, argument, 'must hold a tool result')
  return content.map((given: unknown, index) => {
    const at = `${argument}[${index}]`
    const part = checkObject(operation, at, given)
    const type = part.type as Part['type']
    if (!ALLOWED[role].includes(type))
      throw invalid(operation, at, `of type ${String(type)} cannot be in a message of role ${role}`)
    return checkShape<Part>(operation, at, part, { type: () => type, ...FIELDS[type] })
  })
}

/** An output is an error where this is true, and nothing else is kept of it. */
function keepTrue(_operation: string, _argument: string, value: unknown): true | undefined {
  return value === true || undefined
}

/** The id of a call as the model gave it: any well-formed text, even an empty one. */
function checkCallId(operation: string, argument: string, value: unknown): string {
  const id = checkText(operation, argument, value)
  if (utf8Length(id) > 1_024) throw invalid(operation, argument, 'must be at most 1024 bytes')
  return id
}

/** One of the labels, or `ERR_INVALID_ARGUMENT`. */
export function checkLabel(operation: string, argument: string, trust: unknown): Trust {
  return checkOneOf(operation, argument, trust, TRUST)
}

/** Unix milliseconds that `Date` can hold (ECMA-262, Time Range), or `ERR_INVALID_ARGUMENT`. */
export function checkTime(operation: string, argument: string, time: unknown): number {
  if (!Number.isInteger(time) || Math.abs(time as number) > 8.64e15)
    throw invalid(operation, argument, 'must be whole Unix milliseconds that Date can hold')
  return time as number
}

function checkMetadata(operation: string, argument: string, value: unknown): Json {
  const json = checkJsonObject(operation, argument, value)
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
