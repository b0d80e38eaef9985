/**
 * What crosses the socket between the Worker that serves a chat and the session's object. Of both
 * directions text is JSON, and behind it the body of a request; bytes are of the chat's stream to
 * the Worker, and of a fetched answer to the object.
 */
import { joinedBytes } from '../../ports/joined-bytes.ts'

/** Header of the upgrade by which a Worker offers a relay: its id. The Worker alone sets it. */
export const RELAY_HEADER = 'Plimsoll-Relay'

/**
 * Milliseconds between two signs of life of a Worker. An object hibernates, and forgets what goes
 * on, after ten seconds without any.
 */
export const BEAT_MS = 5_000

/** A request that the Worker is to make in the object's place. */
export interface RelayedRequest {
  readonly url: string
  readonly method: string
  readonly headers: readonly (readonly [string, string])[]
  readonly redirect?: string
}

export type WorkerFrame =
  /** Its body, if it has one, stands behind it. */
  | { readonly type: 'fetch'; readonly n: number; readonly request: RelayedRequest }
  /** Nobody waits for it any more. */
  | { readonly type: 'abort'; readonly n: number }
  /** The chat's stream is whole. */
  | { readonly type: 'end' }

/** What an answer begins with. */
export interface AnswerHead {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
}

export type ObjectFrame =
  | { readonly type: 'beat' }
  /** The answer is whole; it has begun. */
  | { readonly type: 'end'; readonly n: number }
  /** The server was not reached, broke off, or has no place in a frame. */
  | { readonly type: 'failed'; readonly n: number }

const NUMBER_BYTES = 4
/** Most UTF-16 units of a frame of text to an object, and most bytes of an answer in one frame. */
export const MOST_FRAME = 2 ** 18
/** Of HTTP: three digits. */
const [LEAST_STATUS, MOST_STATUS] = [100, 999]

/**
 * @param body of a request: behind JSON, which has no line break, it is neither escaped nor parsed
 */
export function workerFrame(frame: WorkerFrame, body?: string): string {
  const text = JSON.stringify(frame)
  return body === undefined ? text : `${text}\n${body}`
}

/** Contract: what {@link workerFrame} wrote. */
export function readWorkerFrame(text: string): { readonly frame: WorkerFrame; readonly body?: string } {
  const end = text.indexOf('\n')
  if (end < 0) return { frame: JSON.parse(text) as WorkerFrame }
  return { frame: JSON.parse(text.slice(0, end)) as WorkerFrame, body: text.slice(end + 1) }
}

/**
 * What the bytes of an answer begin with: in a frame of its own, it would hold up the first ones.
 *
 * @throws RangeError: it is too long for a frame
 */
export function headBytes(head: AnswerHead): Uint8Array {
  const bytes = new TextEncoder().encode(JSON.stringify(head))
  if (NUMBER_BYTES + bytes.length > MOST_FRAME) throw new RangeError('the headers are too long')
  return joinedBytes([numberIn(bytes.length), bytes])
}

/** Bytes of the answer to request `n`. */
export function answerFrame(n: number, pieces: readonly Uint8Array[]): ArrayBuffer {
  return joinedBytes([numberIn(n), ...pieces]).buffer
}

/** Undefined: it is none. */
export function readAnswerFrame(
  frame: ArrayBuffer,
): { readonly n: number; readonly bytes: Uint8Array } | undefined {
  if (frame.byteLength < NUMBER_BYTES || frame.byteLength > NUMBER_BYTES + MOST_FRAME) return undefined
  return { n: new DataView(frame).getUint32(0), bytes: new Uint8Array(frame, NUMBER_BYTES) }
}

/** What {@link headBytes} wrote, and the bytes behind it; undefined: it is none. */
export function readHead(
  bytes: Uint8Array,
): { readonly head: AnswerHead; readonly rest: Uint8Array } | undefined {
  if (bytes.length < NUMBER_BYTES) return undefined
  const end = NUMBER_BYTES + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  const head = end <= bytes.length && parsed(new TextDecoder().decode(bytes.subarray(NUMBER_BYTES, end)))
  return isHead(head) ? { head, rest: bytes.subarray(end) } : undefined
}

/** Undefined: it is none. */
export function readObjectFrame(text: string): ObjectFrame | undefined {
  if (text.length > MOST_FRAME) return undefined
  const frame = parsed(text)
  return isObjectFrame(frame) ? frame : undefined
}

function numberIn(value: number): Uint8Array {
  const bytes = new Uint8Array(NUMBER_BYTES)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObjectFrame(frame: unknown): frame is ObjectFrame {
  if (typeof frame !== 'object' || frame === null) return false
  const { type, n } = frame as Readonly<Record<string, unknown>>
  return type === 'beat' || (Number.isInteger(n) && (type === 'end' || type === 'failed'))
}

function isHead(head: unknown): head is AnswerHead {
  if (typeof head !== 'object' || head === null) return false
  const { status, headers } = head as Readonly<Record<string, unknown>>
  return isStatus(status) && Array.isArray(headers) && isHeaders(headers)
}

function isStatus(status: unknown): boolean {
  return Number.isInteger(status) && (status as number) >= LEAST_STATUS && (status as number) <= MOST_STATUS
}

function isHeaders(headers: readonly unknown[]): boolean {
  if (!headers.every((pair) => Array.isArray(pair) && pair.length === 2)) return false
  try {
    new Headers(headers as [string, string][])
    return true
  } catch {
    return false
  }
}
