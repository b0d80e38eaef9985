import type { Scope } from '../../ports/op.ts'
import { SOCKET_PROTOCOL } from '../auth/socket-token.ts'
import { BriefBudget } from './brief-budget.ts'

/** Most sockets of one object: each change goes to all of them. */
const MOST_SOCKETS = 64
/** They are not the only sockets of an object. */
const TAG = 'live'
/** Codes of RFC 6455 for applications of their own. */
const EXPIRED = 4401
const GONE = 4404
const TOO_MANY = 4429

/** What a socket keeps while its object sleeps. */
interface Attachment {
  /** When the proof of who listens ends, Unix milliseconds; absent: never. */
  readonly expiresAt?: number
}

/** As much of a Durable Object's `ctx` as is used here. */
type SocketContext = Pick<
  DurableObjectState,
  'acceptWebSocket' | 'getWebSockets' | 'setWebSocketAutoResponse'
>

/**
 * Sockets that get a hint when what an object holds has changed, never content. They hibernate
 * with their object. What a client sends is not read: `ping` is answered with `pong` without waking
 * the object, and all else costs of a budget that ends the socket once it is used up.
 */
export class LiveSockets {
  readonly #ctx: SocketContext
  readonly #now: () => number
  readonly #framesPerMinute: () => number
  #frames: BriefBudget | undefined
  #isEmpty = false

  /** @param framesPerMinute Contract: asked once, at the first frame */
  constructor(ctx: SocketContext, now: () => number, framesPerMinute: () => number) {
    this.#ctx = ctx
    this.#now = now
    this.#framesPerMinute = framesPerMinute
  }

  /** Counts a frame that woke the object, whatever it says. The sockets share a budget. */
  heard(socket: WebSocket): void {
    this.#frames ??= new BriefBudget('frames', this.#framesPerMinute(), this.#now)
    try {
      this.#frames.take()
    } catch {
      close(socket, TOO_MANY, 'too many frames')
    }
  }

  /** The answer to an upgrade, whose headers the Worker alone sets. */
  accept(headers: Headers): Response {
    const expires = headers.get('Plimsoll-Expires')
    const expiresAt = expires === null ? undefined : Number(expires)
    const hasProtocol = headers.has('Sec-WebSocket-Protocol')
    this.#ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair('ping', 'pong'))
    const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket]
    this.#ctx.acceptWebSocket(server, [TAG])
    this.#isEmpty = false
    server.serializeAttachment(expiresAt === undefined ? {} : { expiresAt })
    if (this.#ctx.getWebSockets(TAG).length > MOST_SOCKETS) close(server, TOO_MANY, 'too many sockets')
    return new Response(null, {
      status: 101,
      webSocket: client,
      ...(hasProtocol && { headers: { 'Sec-WebSocket-Protocol': SOCKET_PROTOCOL } }),
    })
  }

  /** Whether nobody listens. */
  get isEmpty(): boolean {
    // The platform is asked as long as somebody may.
    this.#isEmpty ||= this.#ctx.getWebSockets(TAG).length === 0
    return this.#isEmpty
  }

  /**
   * Tells all sockets that something changed. One whose proof has ended is closed. @param seqOf
   * gives the newest op's
   */
  async tell(seqOf: () => Promise<number>): Promise<void> {
    const text = JSON.stringify({ type: 'change', seq: await seqOf() })
    const sockets = this.#ctx.getWebSockets(TAG)
    const now = this.#now()
    for (const socket of sockets) {
      const { expiresAt = Number.POSITIVE_INFINITY } = (socket.deserializeAttachment() ?? {}) as Attachment
      if (expiresAt <= now) close(socket, EXPIRED, 'the token has expired')
      else send(socket, text)
    }
  }

  /** Closes all of them: what they listen to is not there any more. */
  end(): void {
    for (const socket of this.#ctx.getWebSockets(TAG)) close(socket, GONE, 'it is gone')
  }
}

/** A socket may have gone meanwhile; then there is nobody to tell. */
function send(socket: WebSocket, text: string): void {
  try {
    socket.send(text)
  } catch {}
}

function close(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(code, reason)
  } catch {}
}

/** Whose the upgrade is. */
export function scopeIn<Named extends Scope>(headers: Headers): Named {
  return JSON.parse(decodeURIComponent(headers.get('Plimsoll-Scope') ?? '{}')) as Named
}
