import { checkLabel, checkMessage, checkSize, checkTime } from '../../kernel/log/check-message.ts'
import { EPOCH_ID, lowerTrust, MAX_ENTRY_BYTES, SUMMARY_ID } from '../../kernel/log/message.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { Message, MessageInput, Trust } from '../../ports/message.ts'
import type { Mark } from '../../ports/op.ts'
import { TRANSFER_PARTS } from '../../ports/transfer.ts'
import { checkJson } from '../../text/check-json.ts'
import { type Check, type Fields, optional } from '../../text/fields.ts'
import { checkCount, checkId, checkText, invalid, isPlainObject } from '../../text/json.ts'
import { checkTitle } from '../sessions.ts'
import { checkName, ids, isName, isTrue, names, object, oneOf, orNull, positive, texts } from './checks.ts'
import { checkParts } from './export-options.ts'
import { FORMAT, type MarkLine, type MessageLine, type TransferLine, VERSION } from './format.ts'
import type { ReadLine } from './read-lines.ts'

/** What every line is checked by, before anything of it is written. */
export interface LineChecks {
  /** For messages of errors: `import`, and which line. */
  readonly operation: string
  readonly host: Host
}

const version: Check = (operation, argument, value) => {
  if (!Number.isSafeInteger(value) || (value as number) < 1)
    throw invalid(operation, argument, 'must be a whole number, 1 or more')
  if (value === VERSION) return
  const wrote = (value as number) > VERSION ? 'a newer version of this library wrote' : 'version 0.1.0 wrote'
  throw new PlimsollError(
    'ERR_UPGRADE_REQUIRED',
    `${operation}: ${wrote} the file, in format ${value}; this one reads format ${VERSION}`,
  )
}
const seq: Check = (operation, argument, value) => {
  if (checkCount(operation, argument, value) === 0) throw invalid(operation, argument, 'must be 1 or more')
}
/** What this version knows has lines of its own. */
const isUnknownKind: Check = (operation, argument, value) => {
  const kind = checkName(operation, argument, value)
  if (Object.hasOwn(LINES, kind)) throw invalid(operation, argument, `${kind} is no kind of mark, or known`)
}
/** Checked by what it belongs to. */
const anything: Check = () => {}

const OP: Fields = { seq, opId: checkName, id: checkName }
const MARK: Fields = {
  ...OP,
  base: orNull(checkName),
  lane: optional(checkName),
  sources: optional(names),
  mark: anything,
}
/** What each kind of line has; other fields are left out. */
const LINES: { readonly [type in TransferLine['type']]: Fields } = {
  export: {
    format: oneOf(FORMAT),
    v: version,
    of: oneOf('user', 'session'),
    parts: (operation, _, value) => checkParts(operation, value ?? null),
  },
  user: {},
  session: {
    sessionId: checkId,
    title: optional(checkTitle),
    createdAt: optional(checkTime),
    project: optional(checkId),
  },
  message: { ...OP, round: checkName, message: anything },
  epoch: MARK,
  summary: MARK,
  rewind: MARK,
  mark: { ...MARK, kind: isUnknownKind },
  put: OP,
  delete: { ...OP, id: isName },
  erase: OP,
  register: {
    part: oneOf(...TRANSFER_PARTS),
    key: checkName,
    version: checkName,
    sources: optional(names),
    value: anything,
  },
  attachment: { id: checkName, mediaType: checkText, base64: checkText },
  end: { lines: checkCount },
}

/**
 * A line of a known type with what it must have; bodies, marks and values are checked by what they
 * belong to.
 *
 * @throws ERR_INVALID_ARGUMENT, ERR_UPGRADE_REQUIRED (a newer version of the format)
 */
export function checkLine(operation: string, { value }: ReadLine): TransferLine {
  const { type } = value
  if (!Object.hasOwn(LINES, type)) throw invalid(operation, 'type', 'is not a line type of an export')
  const line: { [field: string]: unknown } = { type }
  for (const [name, check] of Object.entries(LINES[type as TransferLine['type']])) {
    check(operation, name, value[name])
    if (value[name] !== undefined) line[name] = value[name]
  }
  return line as unknown as TransferLine
}

/**
 * The message of a line, at most as trusted as that. Undefined: it was forgotten. @throws
 * ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE
 */
export function messageOf({ operation, host }: LineChecks, line: MessageLine): Message | undefined {
  if (line.message === undefined) return undefined
  if (!isPlainObject(line.message)) throw invalid(operation, 'message', 'must be an object')
  const message = line.message as unknown as MessageInput
  for (const name of ['createdAt', 'trust'] as const)
    if (message[name] === undefined) throw invalid(operation, `message.${name}`, 'is missing')
  return checkMessage(operation, 'message', { ...message, id: line.id }, host)
}

/**
 * The mark of a line. Undefined: it was forgotten. @throws ERR_INVALID_ARGUMENT,
 * ERR_ENTRY_TOO_LARGE
 */
export function markOf({ operation }: LineChecks, line: MarkLine): Mark | undefined {
  if (line.mark === undefined) return undefined
  const mark: unknown = checkJson(operation, 'mark', line.mark)
  if (!isPlainObject(mark)) throw invalid(operation, 'mark', 'must be an object')
  const { type, kind = type, id, lane } = line
  for (const [name, value] of Object.entries({ type: kind, id, lane }))
    if (mark[name] !== value) throw invalid(operation, `mark.${name}`, 'differs from that of its line')
  const prefix = type === 'epoch' ? EPOCH_ID : type === 'summary' ? SUMMARY_ID : ''
  if (!id.startsWith(prefix)) throw invalid(operation, 'id', `must begin with ${prefix}`)
  const fields = 'hides' in mark ? HIDING : FIELDS[type]
  for (const [name, check] of Object.entries(fields)) check(operation, `mark.${name}`, mark[name])
  checkSize(operation, 'mark', JSON.stringify(mark), MAX_ENTRY_BYTES)
  return mark as unknown as Mark
}

/**
 * The most that a message of that role may have: what instructs a model is the app's own, so of a
 * file that is not, a message of the system is data.
 */
export function mostOf({ role }: Message, most: Trust): Trust {
  return role === 'system' && most !== 'system' ? lowerTrust(most, 'import') : most
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
  mark: {},
  epoch: {
    cause: checkId,
    windowFrom: orNull(checkId),
    seen: orNull(checkId),
    count: checkCount,
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
