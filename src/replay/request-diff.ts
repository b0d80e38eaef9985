import { isRecord } from '../ports/is-record.ts'
import { invalid } from '../ports/options.ts'
import { utf8Length } from '../ports/utf8-length.ts'
import { type DiffTokens, firstDifference } from '../render/diff.ts'
import type { RequestCause } from './causes.ts'
import { type Piece, piecesOf, type Request, sharedBytes, unmarked } from './request.ts'

/** Where a stretch of a request stands in {@link LaidOut.text}, in UTF-16 units. */
export interface RequestPiece {
  /** `tools`, `system` or `messages[3]`. */
  readonly path: string
  /** Of a message. */
  readonly role?: string
  readonly from: number
  readonly to: number
}

/**
 * A request as its provider reads it: tools, system text, messages; no cache marks, and nothing
 * else.
 */
export interface LaidOut {
  readonly text: string
  readonly pieces: readonly RequestPiece[]
}

export interface RequestDivergence {
  /** First byte of the second text (UTF-8) that is not in the first one. */
  readonly byte: number
  /** The same place in UTF-16 units. */
  readonly index: number
  /** What stands there in the first request, and in the second. */
  readonly before: RequestPiece
  readonly after: RequestPiece
}

export interface RequestDiff {
  readonly cause: RequestCause
  /** `undefined` with cause `none`. */
  readonly divergence?: RequestDivergence
  /** What became of the second request's bytes, message by message. */
  readonly bytes: DiffTokens
  readonly texts: readonly [string, string]
}

/**
 * Says where the second request stops repeating the first. Where a list ends that the other goes on
 * with is no difference.
 *
 * @throws ERR_INVALID_ARGUMENT: a request without a list of `messages`
 */
export function diffRequests(a: Request, b: Request): RequestDiff {
  const [first, second] = [layOut(a), layOut(b)]
  const texts = [first.text, second.text] as const
  const bytes = billedBytes(a, b)
  const index = firstDifference(first.text, second.text)
  if (index === undefined) return { cause: 'none', bytes, texts }
  const pieceAt = ({ pieces }: LaidOut): RequestPiece | undefined => pieces.find(({ to }) => index < to)
  const [before, after] = [pieceAt(first), pieceAt(second)]
  // Only a request without messages ends where another one goes on.
  if (!before || !after) return { cause: 'none', bytes, texts }
  const byte = utf8Length(second.text.slice(0, index))
  const divergence = { byte, index, before, after }
  return { cause: causeOf(divergence), divergence, bytes, texts }
}

export function layOut(request: Request): LaidOut {
  const { tools, system, messages } = request as {
    readonly tools?: unknown
    readonly system?: unknown
    readonly messages?: unknown
  }
  if (!Array.isArray(messages)) throw invalid('request', 'messages', 'must be a list')
  const pieces: RequestPiece[] = []
  let text = ''
  const add = (json: string, named: Pick<RequestPiece, 'path' | 'role'>): void => {
    const from = text.length
    text += json
    pieces.push({ ...named, from, to: text.length })
  }
  if (tools !== undefined) add(`{"tools":${unmarked(tools)}`, { path: 'tools' })
  if (system !== undefined) add(`${text === '' ? '{' : ','}"system":${unmarked(system)}`, { path: 'system' })
  for (const [index, message] of messages.entries()) {
    const opening = index > 0 ? ',' : `${text === '' ? '{' : ','}"messages":[`
    const closing = index === messages.length - 1 ? ']}' : ''
    const role = isRecord(message) && typeof message.role === 'string' ? { role: message.role } : {}
    add(`${opening}${unmarked(message)}${closing}`, { path: `messages[${index}]`, ...role })
  }
  return { text, pieces }
}

function causeOf({ before, after }: RequestDivergence): RequestCause {
  const there = [before, after]
  if (there.some(({ path }) => path === 'tools')) return 'tools'
  return there.some(isSystem) ? 'system' : 'message'
}

/** OpenAI's system text is a message. */
function isSystem({ path, role }: RequestPiece): boolean {
  return path === 'system' || role === 'system' || role === 'developer'
}

/** As `replay` splits the tokens of a call: over the messages, and what stands in front of them. */
function billedBytes(a: Request, b: Request): DiffTokens {
  const before = piecesOf(a)
  const after = piecesOf(b, before)
  const shared = sharedBytes(before, after)
  const had = new Set(behind(before, shared).map(({ json }) => json))
  let rebilled = 0
  let added = 0
  for (const { json, bytes } of behind(after, shared)) {
    if (had.has(json)) rebilled += bytes
    else added += bytes
  }
  return { shared, rebilled, added }
}

/** The pieces that go on behind that many bytes, each with those of its bytes. */
function behind(pieces: readonly Piece[], shared: number): readonly Pick<Piece, 'json' | 'bytes'>[] {
  let end = 0
  return pieces
    .map(({ json, bytes }) => {
      end += bytes
      return { json, bytes: Math.min(bytes, end - shared) }
    })
    .filter(({ bytes }) => bytes > 0)
}
