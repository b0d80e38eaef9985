import type { Model } from '../../ports/model.ts'
import { deferred } from '../turn/deferred.ts'
import { LostCall } from '../turn/hooked-model.ts'
import { readAnswerFrame, readHead, readObjectFrame, type WorkerFrame, workerFrame } from './frames.ts'
import { RelayedRequest } from './relayed-request.ts'

/** UTF-16 units of a request that the Worker makes: what is longer may not fit into a frame. */
const MOST_UNITS = 500_000
/** Bytes of one frame of the chat's stream. */
const MOST_BYTES = 2 ** 18

/** Of RFC 6455, for applications of their own: what came is no frame of a Worker. */
const POISON = 4400

/** One Worker that serves a chat, as its object sees it. */
export class Relay {
  readonly #socket: WebSocket
  readonly #fetchHere: typeof fetch
  readonly #requests = new Map<number, RelayedRequest>()
  readonly #lost = deferred()
  #count = 0
  #isLost = false

  /** @param fetchHere fetches from the object itself */
  constructor(socket: WebSocket, fetchHere: typeof fetch) {
    this.#socket = socket
    this.#fetchHere = fetchHere
  }

  /**
   * As the platform's, by the Worker. What that does not bring, and what has no place in a frame,
   * the object fetches itself.
   */
  readonly fetch: typeof fetch = (input: RequestInfo | URL, init: RequestInit = {}) => {
    const { signal } = init
    const n = ++this.#count
    const frame = frameOf(n, input, init)
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (frame === undefined || !this.#send(frame)) return this.#fetchHere(input, init)
    const onAbort = (): void => {
      leave()
      request.fail(signal?.reason)
    }
    const leave = (): void => {
      if (this.#requests.delete(n)) this.#tell({ type: 'abort', n })
      signal?.removeEventListener('abort', onAbort)
    }
    const request = new RelayedRequest(leave)
    this.#requests.set(n, request)
    signal?.addEventListener('abort', onAbort)
    const fetchHere = (): Promise<Response> => this.#fetchHere(input, init)
    void this.#lost.promise.then(() => {
      if (this.#requests.delete(n)) request.move(fetchHere, new Error('the Worker is gone'))
    })
    return request.answer
  }

  /**
   * A model that throws LostCall where its reply breaks off since the Worker is gone: the object
   * itself is to ask once more.
   */
  outlived({ id, complete }: Model): Model {
    const relay = this
    return {
      id,
      async *complete(request) {
        const wasLost = relay.#isLost
        try {
          yield* complete(request)
        } catch (error) {
          const isLost = relay.#isLost && !wasLost && !request.signal?.aborted
          throw isLost ? new LostCall('the Worker is gone', { cause: error }) : error
        }
      },
    }
  }

  /** Gives the Worker a stream to send on, until either of them ends. Never rejects. */
  async carry(stream: AsyncIterable<Uint8Array>): Promise<void> {
    const pieces = stream[Symbol.asyncIterator]()
    const lost = this.#lost.promise.then(() => ({ done: true, value: undefined }))
    try {
      for (;;) {
        const { done, value } = await Promise.race([pieces.next(), lost])
        if (done || value === undefined) break
        for (let at = 0; at < value.length; at += MOST_BYTES) this.#send(value.subarray(at, at + MOST_BYTES))
      }
      this.#tell({ type: 'end' })
    } catch {
      // What it had to say is not whole, and the Worker is to know that.
      this.#close(1011, 'the stream broke off')
    }
    // Not waited for: it ends with the next piece.
    void pieces.return?.()?.catch(() => {})
  }

  /** Takes a frame. One that is none, or out of turn, ends this socket, and nothing else. */
  heard(frame: string | ArrayBuffer): void {
    if (!this.#took(frame)) this.#close(POISON, 'no such frame')
  }

  #took(frame: string | ArrayBuffer): boolean {
    if (typeof frame !== 'string') {
      const answer = readAnswerFrame(frame)
      if (!answer) return false
      // Of a request that nobody waits for any more, what is under way still comes.
      const request = this.#requests.get(answer.n)
      if (!request) return true
      const begun = request.hasBegun ? undefined : readHead(answer.bytes)
      if (begun) request.begin(begun.head).write(begun.rest)
      else if (request.hasBegun) request.write(answer.bytes)
      return request.hasBegun
    }
    const told = readObjectFrame(frame)
    if (!told || told.type === 'beat') return told !== undefined
    const request = this.#requests.get(told.n)
    if (!request) return true
    if (told.type === 'end' && !request.end()) return false
    if (told.type === 'failed') request.fail(new TypeError('the Worker did not reach it'))
    this.#requests.delete(told.n)
    return true
  }

  /** The Worker is gone. */
  lose(): void {
    this.#isLost = true
    this.#lost.resolve()
  }

  #tell(frame: WorkerFrame): void {
    this.#send(workerFrame(frame))
  }

  /** @returns whether it was sent */
  #send(frame: string | Uint8Array): boolean {
    if (this.#isLost) return false
    try {
      this.#socket.send(frame)
      return true
    } catch {
      this.lose()
      return false
    }
  }

  #close(code: number, reason: string): void {
    this.lose()
    try {
      this.#socket.close(code, reason)
    } catch {}
  }
}

/** @returns undefined: it can be made here alone */
function frameOf(n: number, input: RequestInfo | URL, init: RequestInit): string | undefined {
  const { method = 'GET', headers, body, redirect } = init
  if (typeof input === 'object' && !(input instanceof URL)) return undefined
  if (body != null && (typeof body !== 'string' || body.length > MOST_UNITS)) return undefined
  const frame: WorkerFrame = {
    type: 'fetch',
    n,
    request: {
      url: String(input),
      method,
      headers: [...new Headers(headers)],
      ...(redirect !== undefined && { redirect }),
    },
  }
  return workerFrame(frame, body ?? undefined)
}
