import { checkLabel, checkMessage, checkSize, checkTime } from '../../kernel/log/check-message.ts'
import { EPOCH_ID, lowerTrust, MAX_ENTRY_BYTES, SUMMARY_ID } from '../../kernel/log/message.ts'
import { checkJson } from '../../kernel/text/check-json.ts'
import { checkCount, checkId, checkText, invalid, isPlainObject } from '../../kernel/text/json.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { Message, MessageInput, Trust } from '../../ports/message.ts'
import type { Mark } from '../../ports/op.ts'
import { TRANSFER_PARTS } from '../../ports/transfer.ts'
import { checkTitle } from '../sessions.ts'
import {
  type Check,
  checkName,
  type Fields,
  ids,
  isTrue,
  object,
  optional,
  orNull,
  positive,
  texts,
} from './checks.ts'
import {
  FORMAT,
  type HeaderLine,
  type MarkLine,
  type MessageLine,
  type RecordLine,
  type RegisterLine,
  type SessionLine,
  type TransferLine,
  VERSION,
} from './format.ts'
import type { ReadLine } from './read-lines.ts'

/** What every line is checked by, before anything of it is written. */
export interface LineChecks {
  /** For messages of errors: `import`, and which line. */
  readonly operation: string
  readonly host: Host
}

/**
 * A line of a known type with what it must have; bodies, marks and values are checked by what they belong to.
 *
 * @throws ERR_INVALID_ARGUMENT, ERR_UPGRADE_REQUIRED (a newer version of the format)
 */
export function checkLine(operation: string, { value }: ReadLine): TransferLine {
  switch (value.type) {
    case 'export':
      return headerIn(operation, value)
    case 'user':
      return { type: 'user' }
    case 'session':
      return sessionIn(operation, value)
    case 'message':
      return {
        ...opOf(operation, value, 'message'),
        round: id(operation, value, 'round'),
        ...given(value, 'message'),
      }
    case 'epoch':
    case 'summary':
    case 'rewind':
      return {
        ...opOf(operation, value, value.type),
        base: value.base === null ? null : id(operation, value, 'base'),
        ...(value.lane !== undefined && { lane: id(operation, value, 'lane') }),
        ...sourcesIn(operation, value),
        ...given(value, 'mark'),
      }
    case 'put':
    case 'delete':
    case 'erase':
      return opOf(operation, value, value.type) as RecordLine
    case 'register':
      return registerIn(operation, value)
    case 'attachment':
      return {
        type: 'attachment',
        id: id(operation, value, 'id'),
        mediaType: checkText(operation, 'mediaType', value.mediaType),
        base64: checkText(operation, 'base64', value.base64),
      }
    case 'end':
      return { type: 'end', lines: checkCount(operation, 'lines', value.lines) }
    default:
      throw invalid(operation, 'type', 'is none of an export')
  }
}

/** The message of a line, at most as trusted as that. Undefined: it was forgotten. @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE */
export function messageOf({ operation, host }: LineChecks, line: MessageLine): Message | undefined {
  if (line.message === undefined) return undefined
  if (!isPlainObject(line.message)) throw invalid(operation, 'message', 'must be an object')
  const message = line.message as unknown as MessageInput
  for (const name of ['createdAt', 'trust'] as const)
    if (message[name] === undefined) throw invalid(operation, `message.${name}`, 'must be there')
  return checkMessage(operation, 'message', { ...message, id: line.id }, host)
}

/** The mark of a line. Undefined: it was forgotten. @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE */
export function markOf({ operation }: LineChecks, line: MarkLine): Mark | undefined {
  if (line.mark === undefined) return undefined
  const mark: unknown = checkJson(operation, 'mark', line.mark)
  if (!isPlainObject(mark)) throw invalid(operation, 'mark', 'must be an object')
  for (const name of ['type', 'id', 'lane'] as const)
    if (mark[name] !== line[name]) throw invalid(operation, `mark.${name}`, 'is not that of its line')
  const prefix = line.type === 'epoch' ? EPOCH_ID : line.type === 'summary' ? SUMMARY_ID : ''
  if (!line.id.startsWith(prefix)) throw invalid(operation, 'id', `must begin with ${prefix}`)
  const fields = 'hides' in mark ? HIDING : FIELDS[line.type]
  for (const [name, check] of Object.entries(fields)) check(operation, `mark.${name}`, mark[name])
  checkSize(operation, 'mark', JSON.stringify(mark), MAX_ENTRY_BYTES)
  return mark as unknown as Mark
}

/** A message or a summary that is no more trusted than that. */
export function lowered<Value extends { readonly trust: Trust }>(value: Value, most: Trust): Value {
  const trust = lowerTrust(value.trust, most)
  return trust === value.trust ? value : { ...value, trust }
}

/** A message under that name would be taken for a summary. */
const summaryId: Check = (operation, argument, value) => {
  if (!checkId(operation, argument, value).startsWith(SUMMARY_ID))
    throw invalid(operation, argument, `must begin with ${SUMMARY_ID}`)
}

const HIDING: Fields = { hides: ids, after: optional(orNull(checkId)) }
const FIELDS: { readonly [type in MarkLine['type']]: Fields } = {
  rewind: { undo: checkId },
  epoch: {
    cause: checkId,
    windowFrom: orNull(checkId),
    seen: orNull(checkId),
    readFrom: optional(checkId),
    cuts: object({
      oldBefore: optional(checkId),
      capOpener: optional(isTrue),
      foldOpener: optional(isTrue),
      squeeze: optional(object({ from: checkId, tokens: checkCount })),
    }),
    calibration: optional(positive),
    summary: optional(summaryId),
    withheld: optional(summaryId),
    remembers: optional(isTrue),
    head: checkId,
    prefixHash: checkId,
    v: checkCount,
  },
  summary: {
    from: optional(checkId),
    skipped: optional(checkCount),
    upto: checkId,
    seen: checkId,
    count: checkCount,
    of: checkCount,
    apart: optional(object({ from: checkId, count: checkCount })),
    text: checkText,
    carry: checkText,
    pinned: checkText,
    lost: object({ count: checkCount, first: texts }),
    trust: checkLabel,
    by: checkText,
    spent: checkCount,
    at: checkTime,
  },
}

type Value = ReadLine['value']

function headerIn(operation: string, value: Value): HeaderLine {
  const { format, v, of, parts } = value
  if (format !== FORMAT) throw invalid(operation, 'format', `must be ${FORMAT}`)
  if (!Number.isSafeInteger(v) || (v as number) < 1)
    throw invalid(operation, 'v', 'must be a whole number, 1 or more')
  if ((v as number) > VERSION)
    throw new PlimsollError(
      'ERR_UPGRADE_REQUIRED',
      `${operation}: a newer version of this library wrote the file`,
    )
  if (of !== 'user' && of !== 'session') throw invalid(operation, 'of', 'must be user or session')
  const names: readonly unknown[] = Array.isArray(parts) ? parts : []
  const known = TRANSFER_PARTS.filter((part) => names.includes(part))
  if (known.length === 0 || known.length < names.length)
    throw invalid(operation, 'parts', `must be a list of ${TRANSFER_PARTS.join(', ')}`)
  return { type: 'export', format: FORMAT, v: VERSION, of, parts: known }
}

function sessionIn(operation: string, value: Value): SessionLine {
  const { title, createdAt } = value
  return {
    type: 'session',
    sessionId: checkId(operation, 'sessionId', value.sessionId),
    ...(title !== undefined && { title: checkTitle(operation, 'title', title) }),
    ...(createdAt !== undefined && { createdAt: checkTime(operation, 'createdAt', createdAt) }),
  }
}

function registerIn(operation: string, value: Value): RegisterLine {
  const { part } = value
  const known = TRANSFER_PARTS.find((one) => one === part)
  if (!known) throw invalid(operation, 'part', `must be one of ${TRANSFER_PARTS.join(', ')}`)
  return {
    type: 'register',
    part: known,
    key: id(operation, value, 'key'),
    version: id(operation, value, 'version'),
    ...sourcesIn(operation, value),
    ...given(value, 'value'),
  }
}

/** What each line of the log has. */
function opOf<Type extends string>(
  operation: string,
  value: Value,
  type: Type,
): { readonly type: Type; readonly seq: number; readonly opId: string; readonly id: string } {
  const seq = checkCount(operation, 'seq', value.seq)
  if (seq === 0) throw invalid(operation, 'seq', 'must be 1 or more')
  return { type, seq, opId: id(operation, value, 'opId'), id: id(operation, value, 'id') }
}

function id(operation: string, value: Value, name: string): string {
  return checkName(operation, name, value[name])
}

function sourcesIn(operation: string, { sources }: Value): { readonly sources?: readonly string[] } {
  if (sources === undefined) return {}
  ids(operation, 'sources', sources)
  return { sources: sources as readonly string[] }
}

/** A field as it is, where it is there. */
function given<Name extends string>(value: Value, name: Name): { readonly [one in Name]?: never } {
  return value[name] === undefined ? {} : ({ [name]: value[name] } as never)
}
