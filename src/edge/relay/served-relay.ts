import type { Host, Timeout } from '../../ports/host.ts'
import { deferred } from '../turn/deferred.ts'
import { BEAT_MS, bodyFrame, type ObjectFrame, type WorkerFrame } from './frames.ts'

/**
 * Milliseconds in which pieces of an answer are gathered, but for the first: each frame that an
 * object gets is billed as a twentieth of a request.
 */
const GATHER_MS = 100
/** Beats without a byte after which a comment is sent: 15 seconds. */
const QUIET_BEATS = 3

export interface ServedRelayOptions {
  readonly host: Pick<Host, 'now' | 'timeout' | 'controller'>
  readonly fetch: typeof fetch
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
    socket.addEventListener('close', () => this.#end(new Error('the object is gone')))
    socket.addEventListener('error', () => this.#end(new Error('the object is gone')))
    socket.accept()
    void this.#beat()
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
    const told = JSON.parse(frame) as WorkerFrame
    if (told.type === 'fetch') void this.#fetch(told)
    else if (told.type === 'abort') this.#aborts.get(told.n)?.(new Error('nobody waits for it'))
    else this.#end()
  }

  async #fetch({ n, request }: Extract<WorkerFrame, { type: 'fetch' }>): Promise<void> {
    const { host, fetch } = this.#options
    const controller = host.controller()
    const { url, ...init } = request
    this.#aborts.set(n, (reason) => controller.abort(reason))
    try {
      const answer = await fetch(url, {
        ...init,
        headers: init.headers as [string, string][],
        signal: controller.signal as AbortSignal,
      })
      this.#tell({ type: 'head', n, status: answer.status, headers: [...answer.headers] })
      if (answer.body) await this.#hand(n, answer.body)
      this.#tell({ type: 'end', n })
    } catch {
      this.#tell({ type: 'failed', n })
    }
    this.#aborts.delete(n)
  }

  /** Gives the object a body: its first piece at once, of the others some together. */
  async #hand(n: number, body: ReadableStream<Uint8Array>): Promise<void> {
    const { host } = this.#options
    let pieces: Uint8Array[] = []
    let sentAt = Number.NEGATIVE_INFINITY
    let timeout: Timeout | undefined
    const send = (): void => {
      timeout?.clear()
      timeout = undefined
      if (pieces.length > 0) this.#send(bodyFrame(n, pieces))
      pieces = []
      sentAt = host.now()
    }
    try {
      for await (const piece of body) {
        pieces.push(piece)
        const left = sentAt + GATHER_MS - host.now()
        if (left <= 0) send()
        else if (!timeout) {
          timeout = host.timeout(left)
          timeout.signal.addEventListener('abort', send)
        }
      }
    } finally {
      send()
    }
  }

  /** Says again and again that it is there, so that the object is not evicted. */
  async #beat(): Promise<void> {
    const { host, keepAlive } = this.#options
    const comment = keepAlive === undefined ? undefined : new TextEncoder().encode(keepAlive)
    while (!this.#hasEnded) {
      const timeout = host.timeout(BEAT_MS)
      await Promise.race([
        this.ended,
        new Promise<void>((resolve) => timeout.signal.addEventListener('abort', () => resolve())),
      ])
      timeout.clear()
      if (this.#hasEnded) return
      this.#tell({ type: 'beat' })
      if (++this.#quietBeats % QUIET_BEATS === 0 && comment) this.#reader?.enqueue(comment)
    }
  }

  #tell(frame: ObjectFrame): void {
    this.#send(JSON.stringify(frame))
  }

  #send(frame: string | ArrayBuffer): void {
    if (this.#hasEnded) return
    try {
      this.#socket.send(frame)
    } catch {
      this.#end(new Error('the object is gone'))
    }
  }

  /** @param error why the stream is not whole */
  #end(error?: Error): void {
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
