import { PlimsollError } from '../ports/errors.ts'
import { backoff, sleep } from './options.ts'
import type { Transport } from './transport.ts'

/**
 * - `change`: something was written, the session's op `seq` is its newest.
 * - `open`: connected, at first or again: read what is there, since hints may have been missed.
 * - `close`: not connected; it is tried again.
 */
export type LiveEvent =
  | { readonly type: 'open' }
  | { readonly type: 'close' }
  | { readonly type: 'change'; readonly seq: number }

const PROTOCOL = 'plimsoll.v1'
/**
 * No wait between two connections is longer, in milliseconds; one that lasted longer is followed by
 * a short one.
 */
const CAP_MS = 30_000

/**
 * Hints that something changed, until it is closed. A socket only ever says that there is something
 * to read: what was written is read by calls.
 *
 * @returns what closes it
 * @throws ERR_NOT_CONFIGURED: the platform has no WebSocket, and none was given
 */
export function live(transport: Transport, path: string, listener: (event: LiveEvent) => void): () => void {
  const { settings } = transport
  const { WebSocket, baseUrl, clock, random, retry } = settings
  if (!WebSocket) throw new PlimsollError('ERR_NOT_CONFIGURED', 'live: no WebSocket')
  const closed = new AbortController()
  const { signal } = closed
  const tell = (event: LiveEvent | undefined): void => {
    if (event && !signal.aborted) listener(event)
  }
  const connect = async (): Promise<void> => {
    const token = await transport.token()
    if (signal.aborted) return
    const { href } = new URL(baseUrl + path, globalThis.location?.href)
    const socket = new WebSocket(href.replace(/^http/, 'ws'), [PROTOCOL, `bearer.${token}`])
    await new Promise<void>((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end)
        socket.close()
        resolve()
      }
      signal.addEventListener('abort', end)
      socket.addEventListener('close', end)
      socket.addEventListener('open', () => tell({ type: 'open' }))
      socket.addEventListener('message', ({ data }) => tell(eventIn(data)))
    })
  }
  const run = async (): Promise<void> => {
    for (let attempt = 0; ; attempt++) {
      const since = clock.now()
      // A token or a socket that fails now may not later.
      await connect().catch(() => {})
      tell({ type: 'close' })
      if (clock.now() - since > CAP_MS) attempt = 0
      await sleep(settings, backoff({ random, retry: { ...retry, capMs: CAP_MS } }, attempt), signal)
    }
  }
  run().catch(() => {})
  return () => closed.abort()
}

/** A hint in a frame. What newer edges may say beside it is passed over. */
function eventIn(data: unknown): LiveEvent | undefined {
  try {
    const { type, seq } = JSON.parse(String(data)) as { readonly type?: unknown; readonly seq?: unknown }
    return type === 'change' && typeof seq === 'number' ? { type, seq } : undefined
  } catch {
    return undefined
  }
}
