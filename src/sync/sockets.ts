import { PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import { checkOptions } from '../ports/options.ts'
import type { SyncScope, Transport } from '../ports/sync.ts'

/** As much of the Web's `WebSocket` as is used here. */
export interface PokeSocket {
  addEventListener(
    type: 'open' | 'close' | 'message',
    listener: (event: { readonly code?: number }) => void,
  ): void
  close(): void
}

export interface SocketOptions {
  /**
   * Contract: the path of a scope's socket, or `undefined` where there is none. Default: as the
   * edge has it.
   */
  readonly path?: (scope: SyncScope) => string | undefined
  /** Default: the platform's. Node has one from 22 on. */
  readonly WebSocket?: new (
    url: string,
    protocols: string[],
  ) => PokeSocket
  /** Contract: a number from 0 up to 1. Default: `Math.random`. */
  readonly random?: () => number
}

/** Where a transport's home is, and who asks. */
interface Home {
  readonly to: (path: string) => string
  readonly tokenFor: () => Promise<string>
  readonly host: Pick<Host, 'now' | 'timeout'>
}

/** Sockets that tell a transport of changes at its home. */
export type Sockets = (home: Home) => NonNullable<Transport['pokes']>

const PROTOCOL = 'plimsoll.v1'
/** Code with which a home closes the sockets of a scope that was erased. */
const GONE = 4404
/** The first wait before a socket is opened again is up to so many milliseconds. */
const BASE_MS = 300
/** No wait is longer; a connection that lasted longer is followed by a short one. */
const CAP_MS = 30_000
/** What was erased takes no socket until another device writes to it again, which is rare. */
const GONE_CAP_MS = 900_000

/**
 * Sockets of the edge: one of each session, and one of what they share. Or of another home. Tokens
 * go in the name of a protocol, so one with `=` or `/` in it opens none: set `pollMs` for these.
 *
 * @throws ERR_NOT_CONFIGURED, when scopes are followed: there is no `WebSocket`
 */
export function edgeSocket(options: SocketOptions = {}): Sockets {
  checkOptions('edgeSocket', 'options', options, ['path', 'WebSocket', 'random'])
  const { path = edgePath } = options
  return (home) => (scopes, listener) => {
    const ends = scopes.map((scope) => {
      const own = path(scope)
      if (own === undefined) return () => {}
      const url = home.to(own).replace(/^http/, 'ws')
      return connected(options, home, url, (isOpen) => listener(isOpen ? undefined : { scope }))
    })
    return () => {
      for (const end of ends) end()
    }
  }
}

function edgePath({ sessionId }: SyncScope): string {
  return sessionId === undefined ? '/v1/me/live' : `/v1/sessions/${encodeURIComponent(sessionId)}/live`
}

/** Keeps a socket open until it is ended. What it says is a hint; nothing is ever sent over it. */
function connected(
  { WebSocket = globalThis.WebSocket, random = Math.random }: SocketOptions,
  { tokenFor, host }: Home,
  url: string,
  tell: (isOpen: boolean) => void,
): () => void {
  if (!WebSocket) throw new PlimsollError('ERR_NOT_CONFIGURED', 'edgeSocket: no WebSocket')
  let isEnded = false
  let attempt = 0
  let capMs = CAP_MS
  /** Whether the one before was. */
  let wasOpen = false
  let end = (): void => {}
  const again = (since: number): void => {
    if (isEnded) return
    if (host.now() - since > CAP_MS) attempt = 0
    const wait = host.timeout(random() * Math.min(capMs, BASE_MS * 2 ** attempt++))
    wait.signal.addEventListener('abort', () => void open())
    end = wait.clear
  }
  const open = async (): Promise<void> => {
    const since = host.now()
    // A token that is not there now may be later.
    const token = await tokenFor().catch(() => undefined)
    if (isEnded) return
    if (token === undefined) return again(since)
    let socket: PokeSocket
    try {
      socket = new WebSocket(url, [PROTOCOL, `bearer.${token}`])
    } catch {
      // Not every token can stand in the name of a protocol.
      return again(since)
    }
    let isClosed = false
    let isOpen = false
    socket.addEventListener('open', () => {
      isOpen = true
      wasOpen = true
      capMs = CAP_MS
      if (!isEnded) tell(true)
    })
    socket.addEventListener('message', () => {
      if (!isEnded) tell(false)
    })
    socket.addEventListener('close', ({ code }) => {
      // What was erased sends nothing more, and takes no socket: where it was while this one was
      // closed, the home says so.
      if (!isEnded && (code === GONE || (wasOpen && !isOpen))) tell(false)
      if (code === GONE) capMs = GONE_CAP_MS
      wasOpen = isOpen
      if (!isClosed) again(since)
      isClosed = true
    })
    end = () => socket.close()
  }
  void open()
  return () => {
    isEnded = true
    end()
  }
}
