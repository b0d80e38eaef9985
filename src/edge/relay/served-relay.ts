import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import { deferred } from '../turn/deferred.ts'
import {
  answerFrame,
  BEAT_MS,
  headBytes,
  MOST_FRAME,
  type ObjectFrame,
  readWorkerFrame,
  type WorkerFrame,
} from './frames.ts'

/**
 * Milliseconds in which pieces of an answer are gathered: each frame that an object gets is billed
 * as a twentieth of a request.
 */
const GATHER_MS = 150
/** Pieces that are not gathered, for the first word to come at once. */
const FIRST_PIECES = 4
/** Beats without a byte after which a comment is sent: 15 seconds. */
const QUIET_BEATS = 3

export interface ServedRelayOptions {
  readonly host: Pick<Host, 'controller'>
  readonly fetch: typeof fetch
  /** As `setTimeout`. */
  readonly later: (run: () => void, ms: number) => void
  /**
   * A comment that is sent where nothing comes for long, so that nobody on the way takes the
   * connection for dead. Default: none.
   */
  readonly keepAlive?: string
}

/** The Worker's end of a relay: makes the object's requests, and hands on what it streams. */
export class ServedRelay {
  /** What the object streams. To leave it ends nothing. */
  readonly stream: ReadableStream<Uint8Array>
  readonly #socket: WebSocket
  readonly #options: ServedRelayOptions
  readonly #ended = deferred()
  readonly #aborts = new Map<number, (reason: unknown) => void>()
  #reader: ReadableStreamDefaultController<Uint8Array> | undefined
  #hasEnded = false
  #quietBeats = 0

  constructor(socket: WebSocket, options: ServedRelayOptions) {
    this.#socket = socket
    this.#options = options
    this.stream = new ReadableStream({
      start: (controller) => {
        this.#reader = controller
      },
      cancel: () => {
        this.#reader = undefined
      },
    })
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('message', ({ data }) => this.#heard(data as string | ArrayBuffer))
    socket.addEventListener('close', () => this.#end(gone()))
    socket.addEventListener('error', () => this.#end(gone()))
    socket.accept()
    const { keepAlive } = options
    this.#beatLater(keepAlive === undefined ? undefined : new TextEncoder().encode(keepAlive))
  }

  /** Resolves once there is nothing more to do for the object. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  close(): void {
    this.#end()
  }

  #heard(frame: string | ArrayBuffer): void {
    if (typeof frame !== 'string') {
      this.#quietBeats = 0
      this.#reader?.enqueue(new Uint8Array(frame))
      return
    }
    const { frame: told, body } = readWorkerFrame(frame)
    if (told.type === 'fetch') void this.#fetch(told, body)
    else if (told.type === 'abort') this.#aborts.get(told.n)?.(new Error('nobody waits for it'))
    else if (told.type === 'end') this.#end()
  }

  async #fetch(
    { n, request }: Extract<WorkerFrame, { type: 'fetch' }>,
    body: string | undefined,
  ): Promise<void> {
    const { host, fetch } = this.#options
    const controller = host.controller()
    const { url, ...init } = request
    this.#aborts.set(n, (reason) => controller.abort(reason))
    try {
      const answer = await fetch(url, {
        ...init,
        headers: init.headers as [string, string][],
        ...(body !== undefined && { body }),
        signal: controller.signal as AbortSignal,
      })
      await this.#hand(n, answer)
      this.#tell({ type: 'end', n })
    } catch {
      this.#tell({ type: 'failed', n })
    }
    this.#aborts.delete(n)
  }

  /** Gives the object an answer: its first pieces at once, of the others some together. */
  async #hand(n: number, { status, headers, body }: Response): Promise<void> {
    const head = headBytes({ status, headers: [...headers] })
    let pieces = [head]
    let bytes = head.length
    let isGathering = false
    let count = 0
    const send = (): void => {
      if (pieces.length > 0) this.#send(answerFrame(n, pieces))
      pieces = []
      bytes = 0
    }
    const add = (piece: Uint8Array): void => {
      if (bytes + piece.length > MOST_FRAME) send()
      pieces.push(piece)
      bytes += piece.length
    }
    const gather = (): void => {
      isGathering = pieces.length > 0
      send()
      if (isGathering) this.#options.later(gather, GATHER_MS)
    }
    try {
      for await (const piece of body ?? []) {
        for (let at = 0; at < piece.length; at += MOST_FRAME) add(piece.subarray(at, at + MOST_FRAME))
        if (++count <= FIRST_PIECES) send()
        else if (!isGathering) gather()
      }
    } finally {
      send()
    }
  }

  /** Says again and again that it is there, so that the object is not evicted. */
  #beatLater(comment: Uint8Array | undefined): void {
    this.#options.later(() => {
      if (this.#hasEnded) return
      this.#tell({ type: 'beat' })
      if (++this.#quietBeats % QUIET_BEATS === 0 && comment) this.#reader?.enqueue(comment)
      this.#beatLater(comment)
    }, BEAT_MS)
  }

  #tell(frame: ObjectFrame): void {
    this.#send(JSON.stringify(frame))
  }

  #send(frame: string | ArrayBuffer): void {
    if (this.#hasEnded) return
    try {
      this.#socket.send(frame)
    } catch {
      this.#end(gone())
    }
  }

  /** @param error why the stream is not whole */
  #end(error?: PlimsollError): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const reader = this.#reader
    this.#reader = undefined
    if (error) reader?.error(error)
    else reader?.close()
    for (const abort of this.#aborts.values()) abort(new Error('nobody waits for it'))
    try {
      this.#socket.close(1000, 'done')
    } catch {}
    this.#ended.resolve()
  }
}

function gone(): PlimsollError {
  return new PlimsollError('ERR_INTERRUPTED', 'chat: the object is gone')
}
