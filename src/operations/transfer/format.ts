import type { Json } from '../../ports/message.ts'
import type { Mark, Name } from '../../ports/op.ts'
import type { TransferPart } from '../../ports/transfer.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import { headOf } from '../../text/text.ts'

export const FORMAT = 'plimsoll'
/** Version of the format. */
export const VERSION = 2

/** Longest line, in UTF-8 bytes, its end included. */
export const MOST_LINE_BYTES = 2 ** 20
/**
 * UTF-16 units of a longer line that one part line holds: quoted once more they are at most three
 * times as many bytes.
 */
const PART_UNITS = 2 ** 18
/**
 * Longest line put together, in UTF-16 units: an attachment of 8 MiB in base64, and what stands
 * around it.
 */
export const MOST_WHOLE_UNITS = 12 * 2 ** 20

/** The first line. It names no user and no time, so that a copy gives the same bytes. */
export interface HeaderLine {
  readonly type: 'export'
  readonly format: typeof FORMAT
  readonly v: typeof VERSION
  /** Whether it holds all of a user, or one session. */
  readonly of: 'user' | 'session'
  readonly parts: readonly TransferPart[]
}

/** What follows is the user's own, up to the first session. */
export interface UserLine {
  readonly type: 'user'
}

/** What follows belongs to this session, up to the next one. */
export interface SessionLine {
  readonly type: 'session'
  readonly sessionId: string
  readonly title?: string
  readonly createdAt?: number
  /** Whose facts show in it beside those of none. */
  readonly project?: string
}

/** A message, or one of several that one op wrote: those follow one another. */
export interface MessageLine {
  readonly type: 'message'
  readonly seq: number
  readonly opId: string
  readonly round: string
  readonly id: string
  /** All but the id. Absent: it was forgotten. */
  readonly message?: Json
}

export interface MarkLine {
  /** `mark`: one of a kind that the version does not know which wrote the file. */
  readonly type: Mark['type'] | 'mark'
  /** Of a `mark`: its kind. */
  readonly kind?: string
  readonly seq: number
  readonly opId: string
  readonly base: string | null
  readonly lane?: string
  readonly sources?: readonly Name[]
  readonly id: string
  /** Absent: it was forgotten. */
  readonly mark?: Json
}

/**
 * That a register was put (`id` is its key), a name deleted (`id` is it), or the scope erased; what
 * was put is in the register's own line.
 */
export interface RecordLine {
  readonly type: 'put' | 'delete' | 'erase'
  readonly seq: number
  readonly opId: string
  readonly id: string
}

/** A register as it was when it was exported. */
export interface RegisterLine {
  readonly type: 'register'
  readonly part: TransferPart
  readonly key: string
  /** The `opId` of the op that wrote it. */
  readonly version: string
  readonly sources?: readonly Name[]
  /** Absent: it was deleted for ever. `null`: it was taken off. */
  readonly value?: Json
}

/** Bytes that messages below name. */
export interface AttachmentLine {
  readonly type: 'attachment'
  readonly id: string
  readonly mediaType: string
  readonly base64: string
}

/** The last line: without it the file is not whole. */
export interface EndLine {
  readonly type: 'end'
  /** Lines before this one. */
  readonly lines: number
}

export type LogLine = MessageLine | MarkLine | RecordLine
/** What belongs to one scope. */
export type ScopeLine = LogLine | RegisterLine | AttachmentLine

export type TransferLine =
  | HeaderLine
  | UserLine
  | SessionLine
  | LogLine
  | RegisterLine
  | AttachmentLine
  | EndLine

/** The texts of lines, and the last line of a file. */
export async function* fileOf(lines: AsyncIterable<TransferLine>): AsyncGenerator<string, void, undefined> {
  let count = 0
  for await (const line of lines)
    for (const text of textsOf(line)) {
      count++
      yield text
    }
  yield* textsOf({ type: 'end', lines: count })
}

/**
 * A line's text with its end; of a longer one those of its parts:
 * `{ "type": "part", "n", "of", "text" }`, from 1.
 */
export function* textsOf(line: TransferLine): Generator<string> {
  const whole = JSON.stringify(line)
  if (whole.length < MOST_LINE_BYTES && utf8Length(whole) < MOST_LINE_BYTES) {
    yield `${whole}\n`
    return
  }
  const parts: string[] = []
  for (let at = 0; at < whole.length; ) {
    const part = headOf(whole.slice(at, at + PART_UNITS), PART_UNITS)
    parts.push(part)
    at += part.length
  }
  for (const [index, text] of parts.entries())
    yield `${JSON.stringify({ type: 'part', n: index + 1, of: parts.length, text })}\n`
}

/** Whether a line is one of the log. */
export function isLogLine(line: TransferLine): line is LogLine {
  switch (line.type) {
    case 'message':
    case 'epoch':
    case 'summary':
    case 'rewind':
    case 'mark':
    case 'put':
    case 'delete':
    case 'erase':
      return true
    default:
      return false
  }
}
