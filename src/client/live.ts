import { PlimsollError } from '../ports/errors.ts'
import { backoff, sleep, within } from './options.ts'
import type { Transport } from './transport.ts'

/**
 * - `change`: something was written, the session's op `seq` is its newest.
 * - `open`: connected, at first or again: read what is there, since hints may have been missed.
 * - `close`: not connected; it is tried again.
 * - `refused`: not connected, and not tried again: the edge answers `status`, for example 404 where
 * there is no such session.
 */
export type LiveEvent =
  | { readonly type: 'open' }
  | { readonly type: 'close' }
  | { readonly type: 'refused'; readonly status: number }
  | { readonly type: 'change'; readonly seq: number }

const PROTOCOL = 'plimsoll.v1'
/**
 * No wait between two connections is longer, in milliseconds; one that lasted longer is followed by
 * a short one.
 */
const CAP_MS = 30_000
/** Answers that stay the same however often one asks. */
const FINAL: readonly number[] = [403, 404, 410]

/**
 * Hints that something changed, until it is closed. A socket only ever says that there is something
 * to read: what was written is read by calls.
 *
 * @param at path of what is followed: a browser does not say why a socket was refused, so that is
 * asked there
 * @returns what closes it
 * @throws ERR_NOT_CONFIGURED: the platform has no WebSocket, and none was given
 */
export function live(transport: Transport, at: string, listener: (event: LiveEvent) => void): () => void {
  const { settings } = transport
  const { WebSocket, baseUrl, clock, fetch, random, retry, timeoutMs } = settings
  if (!WebSocket) throw new PlimsollError('ERR_NOT_CONFIGURED', 'live: no WebSocket')
  const closed = new AbortController()
  const { signal } = closed
  const tell = (event: LiveEvent | undefined): void => {
    if (event && !signal.aborted) listener(event)
  }
  /** Of the newest connection; undefined: none is sent. */
  let token: string | undefined
  /** Whether the edge was asked for one yet: not where no token is to be had. */
  let isTried = false
  /** @returns whether it was open */
  const connect = async (refused?: string): Promise<boolean> => {
    token = await transport.token(refused)
    isTried = true
    if (signal.aborted) return false
    const { href } = new URL(`${baseUrl}${at}/live`, globalThis.location?.href)
    const protocols = token ? [PROTOCOL, `bearer.${token}`] : [PROTOCOL]
    const socket = new WebSocket(href.replace(/^http/, 'ws'), protocols)
    let isOpened = false
    await new Promise<void>((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end)
        socket.close()
        resolve()
      }
      signal.addEventListener('abort', end)
      socket.addEventListener('close', end)
      socket.addEventListener('open', () => {
        isOpened = true
        tell({ type: 'open' })
      })
      socket.addEventListener('message', ({ data }) => tell(eventIn(data)))
    })
    return isOpened
  }
  /** What the edge says of that for which a socket was refused; undefined: nothing. */
  const statusNow = (): Promise<number | undefined> =>
    within(clock, timeoutMs, signal, async (over) => {
      const headers = { accept: 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
      const asked = fetch(baseUrl + at, { method: 'GET', redirect: 'manual', headers, signal })
      const response = await Promise.race([asked, over])
      void response?.body?.cancel().catch(() => {})
      return response?.status
    })
  const run = async (): Promise<void> => {
    let refused: string | undefined
    for (let attempt = 0; ; attempt++) {
      const since = clock.now()
      // A token or a socket that fails now may not later.
      const isOpened = await connect(refused).catch(() => false)
      if (signal.aborted) return
      const status = isOpened || !isTried ? undefined : await statusNow().catch(() => undefined)
      if (status !== undefined && FINAL.includes(status)) return tell({ type: 'refused', status })
      refused = status === 401 ? token : undefined
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
