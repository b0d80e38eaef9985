import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import { type Deferred, deferred } from '../turn/deferred.ts'
import { BEAT_MS, RELAY_HEADER } from './frames.ts'
import { Relay } from './relay.ts'

const TAG = 'relay'
/** A Worker that says nothing for so long is gone, though nobody told of the end of its socket. */
const SILENT_MS = 4 * BEAT_MS
/** How long a call waits for its relay, which was sent ahead of it. */
const ATTACH_MS = 5_000
/** Seconds. */
const RETRY_AFTER = 1
/** Of RFC 6455: the server is restarting. */
const RESTARTED = 1012

export interface RelaysParts {
  /** As much of a Durable Object's `ctx` as is used here. */
  readonly ctx: Pick<DurableObjectState, 'acceptWebSocket' | 'getTags'>
  readonly host: Pick<Host, 'now' | 'timeout'>
  /** Fetches from the object itself. */
  readonly fetch: typeof fetch
  /** Contract: told of each sign of life of a Worker. */
  readonly onBeat: () => void
}

interface Attached {
  readonly relay: Relay
  heardAt: number
}

/**
 * The sockets of the Workers that serve an object's chats. An object that waits for an answer is
 * billed for the time, and a Worker is not. So the Worker makes the requests, and the object, which
 * keeps the run, rests meanwhile; where the Worker is gone, the object makes them.
 */
export class Relays {
  readonly #parts: RelaysParts
  readonly #attached = new Map<string, Attached>()
  readonly #awaited = new Map<string, Deferred>()

  constructor(parts: RelaysParts) {
    this.#parts = parts
  }

  /** The answer to the upgrade by which a Worker offers itself; undefined: it is for others. */
  accept(headers: Headers): Response | undefined {
    const id = headers.get(RELAY_HEADER)
    if (id === null) return undefined
    const { ctx, host, fetch } = this.#parts
    const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket]
    ctx.acceptWebSocket(server, [TAG, id])
    this.#attached.set(id, { relay: new Relay(server, fetch), heardAt: host.now() })
    this.#awaited.get(id)?.resolve()
    return new Response(null, { status: 101, webSocket: client })
  }

  /** The relay of a call. @throws ERR_OVERLOADED: it did not come */
  async of(id: string): Promise<Relay> {
    if (!this.#attached.has(id)) await this.#arrival(id)
    const attached = this.#attached.get(id)
    if (attached) return attached.relay
    throw new PlimsollError('ERR_OVERLOADED', 'chat: its Worker was not reached', { retryAfter: RETRY_AFTER })
  }

  /** Takes what a socket sent. @returns whether it is a relay's */
  heard(socket: WebSocket, frame: string | ArrayBuffer): boolean {
    const id = this.#idOf(socket)
    if (id === undefined) return false
    const attached = this.#attached.get(id)
    if (attached) {
      attached.heardAt = this.#parts.host.now()
      attached.relay.heard(frame)
    }
    // The object was evicted meanwhile, and what went on in it with it.
    else socket.close(RESTARTED, 'the object was restarted')
    this.#parts.onBeat()
    return true
  }

  closed(socket: WebSocket): void {
    const id = this.#idOf(socket)
    if (id !== undefined) this.#lose(id)
  }

  /** Takes those for gone that have been silent for too long. */
  beat(): void {
    const since = this.#parts.host.now() - SILENT_MS
    for (const [id, { heardAt }] of this.#attached) if (heardAt < since) this.#lose(id)
  }

  async #arrival(id: string): Promise<void> {
    const arrived = deferred()
    const timeout = this.#parts.host.timeout(ATTACH_MS)
    timeout.signal.addEventListener('abort', arrived.resolve)
    this.#awaited.set(id, arrived)
    await arrived.promise
    this.#awaited.delete(id)
    timeout.clear()
  }

  #lose(id: string): void {
    this.#attached.get(id)?.relay.lose()
    this.#attached.delete(id)
  }

  #idOf(socket: WebSocket): string | undefined {
    const [tag, id] = this.#parts.ctx.getTags(socket)
    return tag === TAG ? id : undefined
  }
}
