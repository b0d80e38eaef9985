/**
 * What crosses the socket between the Worker that serves a chat and the session's object. Of both
 * directions text is JSON; bytes are of the chat's stream to the Worker, and of a fetched body to
 * the object.
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
  readonly body?: string
}

export type WorkerFrame =
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
  | { readonly type: 'end'; readonly n: number }
  /** The server was not reached, or broke off. */
  | { readonly type: 'failed'; readonly n: number }

const NUMBER_BYTES = 4

/** Bytes of the body of request `n`. */
export function bodyFrame(n: number, pieces: readonly Uint8Array[]): ArrayBuffer {
  const number = new Uint8Array(NUMBER_BYTES)
  new DataView(number.buffer).setUint32(0, n)
  return joinedBytes([number, ...pieces]).buffer
}

export function readBodyFrame(frame: ArrayBuffer): { readonly n: number; readonly bytes: Uint8Array } {
  return { n: new DataView(frame).getUint32(0), bytes: new Uint8Array(frame, NUMBER_BYTES) }
}
