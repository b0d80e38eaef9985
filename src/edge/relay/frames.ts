/**
 * What crosses the socket between the Worker that serves a chat and the session's object. Of both
 * directions text is JSON, and behind it the body of a request; bytes are of the chat's stream to
 * the Worker, and of a fetched body to the object.
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

export type ObjectFrame =
  | { readonly type: 'beat' }
  | {
      readonly type: 'head'
      readonly n: number
      readonly status: number
      readonly headers: readonly (readonly [string, string])[]
    }
  /** The answer is whole; it has begun. */
  | { readonly type: 'end'; readonly n: number }
  /** The server was not reached, broke off, or has no place in a frame. */
  | { readonly type: 'failed'; readonly n: number }

const NUMBER_BYTES = 4
/** Most UTF-16 units of a frame of text to an object, and most bytes of a body in one frame. */
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

/** Bytes of the body of request `n`. */
export function bodyFrame(n: number, pieces: readonly Uint8Array[]): ArrayBuffer {
  const number = new Uint8Array(NUMBER_BYTES)
  new DataView(number.buffer).setUint32(0, n)
  return joinedBytes([number, ...pieces]).buffer
}

/** Undefined: it is none. */
export function readBodyFrame(
  frame: ArrayBuffer,
): { readonly n: number; readonly bytes: Uint8Array } | undefined {
  if (frame.byteLength < NUMBER_BYTES || frame.byteLength > NUMBER_BYTES + MOST_FRAME) return undefined
  return { n: new DataView(frame).getUint32(0), bytes: new Uint8Array(frame, NUMBER_BYTES) }
}

/** Undefined: it is none. */
export function readObjectFrame(text: string): ObjectFrame | undefined {
  if (text.length > MOST_FRAME) return undefined
  let frame: unknown
  try {
    frame = JSON.parse(text)
  } catch {
    return undefined
  }
  return isObjectFrame(frame) ? frame : undefined
}

function isObjectFrame(frame: unknown): frame is ObjectFrame {
  if (typeof frame !== 'object' || frame === null) return false
  const { type, n, status, headers } = frame as Readonly<Record<string, unknown>>
  if (type === 'beat') return true
  if (!Number.isInteger(n)) return false
  if (type === 'end' || type === 'failed') return true
  return type === 'head' && isStatus(status) && Array.isArray(headers) && isHeaders(headers)
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
