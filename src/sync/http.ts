import { MAX_ENTRY_BYTES } from '../kernel/log/message.ts'
import { webHost } from '../platform/web.ts'
import { aborted } from '../ports/aborted.ts'
import { type ErrorCode, isPlimsollError, PlimsollError } from '../ports/errors.ts'
import { type AbortSignalLike, type Host, MOST_MS, type Timeout } from '../ports/host.ts'
import { checkOptions, invalid } from '../ports/options.ts'
import type { AttachmentRequest, Transport } from '../ports/sync.ts'
import { checkFunction } from '../text/check-value.ts'
import { jsonIn } from '../text/json-in.ts'
import type { Sockets } from './sockets.ts'
import { decodePullAnswers, decodePushAnswers, encodePull, encodePush } from './wire.ts'

export interface HttpTransportOptions {
  /**
   * Where the home is: `/v1/sync/push` and `/v1/sync/pull` are added to it. A redirect is not
   * followed.
   */
  readonly url: string
  /**
   * Contract: gives the token to send. It is asked at each call, so it may keep one; asked once
   * more, with the token that was refused, when the home answers 401, it should give a fresh one.
   * It may throw ERR_UNAUTHENTICATED, where nobody is signed in: it is asked again later.
   */
  readonly token: string | ((refused?: string) => string | Promise<string>)
  /** Default: the platform's, looked up at each call. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /**
   * Milliseconds until an answer begins, and from then on until it has ended; with its bytes more,
   * up to 17 times as many for 8 MiB. Default 30 000.
   */
  readonly timeoutMs?: number
  /**
   * What tells of changes at home: {@link edgeSocket}. Default: nothing does, and the home is asked
   * at intervals, where `sync` has `pollMs`.
   */
  readonly socket?: Sockets
  readonly host?: Pick<Host, 'now' | 'timeout' | 'controller'>
}

const TIMEOUT_MS = 30_000
/** So many bytes of an attachment may take as long as another call. */
const SLOW_BYTES = 2 ** 19
/**
 * Reaches a home over HTTP: the edge, or whatever answers as `syncServer` does.
 *
 * @example
 * ```ts
 * import { edgeSocket, httpTransport } from 'plimsoll/sync'
 * const url = 'https://memory.example.com'
 * const transport = httpTransport({ url, token: () => sessionToken(), socket: edgeSocket() })
 * ```
 */
export function httpTransport(options: HttpTransportOptions): Transport {
  checkOptions('httpTransport', 'options', options, OPTIONS)
  const base = (globalThis as { location?: { readonly href: string } }).location?.href
  if (!URL.canParse(options.url, base)) throw invalid('httpTransport', 'url', 'is no URL')
  if (typeof options.token !== 'string') checkFunction('httpTransport', 'token', options.token)
  const to = (path: string): string => new URL(options.url.replace(/\/+$/, '') + path, base).href
  const { host = webHost, socket, timeoutMs = TIMEOUT_MS, token } = options
  if (typeof token !== 'string') checkFunction('httpTransport', 'token', token)
  if (socket !== undefined) checkFunction('httpTransport', 'socket', socket)
  const tokenFor = async (refused?: string): Promise<string> =>
    typeof token === 'string' ? token : token(refused)

  const call = async <Answer>(
    path: string,
    init: Call,
    signal: AbortSignalLike,
    read: (response: Response) => Promise<Answer>,
    bytes = 0,
  ): Promise<Answer> => {
    const name = path.replace(/\?.*/, '')
    const limit = host.controller()
    let timeout: Timeout | undefined
    // A slow line takes longer for more.
    const allow = (more: number): void => {
      timeout?.clear()
      const limitMs = timeoutMs * (1 + more / SLOW_BYTES)
      timeout = host.timeout(Math.min(limitMs, MOST_MS))
      timeout.signal.addEventListener('abort', () =>
        limit.abort(new PlimsollError('ERR_TIMEOUT', `${name}: no answer`, { limit: limitMs })),
      )
    }
    const end = (): void => limit.abort(signal.reason)
    const ask = async (refused?: string): Promise<Answer> => {
      const token = await tokenFor(refused)
      const response = await (options.fetch ?? fetch)(to(path), {
        ...init,
        // Where it leads is not the home, and would get what is here.
        redirect: 'manual',
        headers: { ...init.headers, Authorization: `Bearer ${token}` },
        signal: limit.signal as AbortSignal,
      })
      if (response.ok) {
        allow(Number(response.headers.get('Content-Length') ?? bytes))
        return read(response)
      }
      const text = await response.text()
      if (response.status === 401 && refused === undefined) return ask(token)
      throw refusalIn(name, response, text)
    }
    allow(init.body ? bytes : 0)
    signal.addEventListener('abort', end)
    try {
      // Nor may a token take longer.
      return await Promise.race([aborted(limit.signal), ask()])
    } catch (cause) {
      if (isPlimsollError(cause)) throw cause
      if (limit.signal.aborted) throw limit.signal.reason
      throw new PlimsollError('ERR_OFFLINE', `${name}: no answer`, { cause })
    } finally {
      timeout?.clear()
      signal.removeEventListener('abort', end)
    }
  }
  const post = (path: string, body: string, signal: AbortSignalLike): Promise<string> =>
    call(
      path,
      { method: 'POST', headers: { 'Content-Type': 'application/json' }, body },
      signal,
      (response) => response.text(),
    )
  return {
    push: async (requests, signal) =>
      decodePushAnswers(await post('/v1/sync/push', encodePush(requests), signal)),
    pull: async (requests, signal) =>
      decodePullAnswers(await post('/v1/sync/pull', encodePull(requests), signal)),
    attach: (request, { mediaType, bytes }, signal) => {
      const init = { method: 'PUT', headers: { 'Content-Type': mediaType }, body: bytes }
      return call(attachmentPath(request), init, signal, outcomeIn, bytes.length)
    },
    attachment: async (request, signal) => {
      try {
        return await call(
          attachmentPath(request),
          { method: 'GET' },
          signal,
          async (response) => {
            const mediaType = response.headers.get('Content-Type') ?? ''
            // A page of a proxy, which would be kept as it: a home says that it gives a file.
            if (/^text\/html/i.test(mediaType) && !response.headers.has('Content-Disposition'))
              throw new TypeError('is none of a home')
            return { id: request.id, mediaType, bytes: new Uint8Array(await response.arrayBuffer()) }
          },
          MAX_ENTRY_BYTES,
        )
      } catch (error) {
        if (isPlimsollError(error, 'ERR_NOT_FOUND')) return undefined
        throw error
      }
    },
    ...(socket && { pokes: socket({ to, tokenFor, host }) }),
  }
}

type Call = Pick<RequestInit, 'method' | 'headers' | 'body'>

function attachmentPath({ sessionId, generation, id }: AttachmentRequest): string {
  const session = sessionId === undefined ? [] : [['session', sessionId]]
  return `/v1/sync/attachment?${new URLSearchParams([...session, ['generation', generation], ['id', id]])}`
}

async function outcomeIn(response: Response): ReturnType<Transport['attach']> {
  const { attached } = await response.json()
  if (['stored', 'kept', 'deleted'].includes(attached)) return attached
  throw new TypeError('is none of a home')
}

const OPTIONS: readonly (keyof HttpTransportOptions)[] = [
  'url',
  'token',
  'fetch',
  'timeoutMs',
  'socket',
  'host',
]

/** What an answer says that is not the one that was asked for. */
function refusalIn(path: string, { status, headers }: Response, text: string): PlimsollError {
  const { code, detail } = (jsonIn(text) ?? {}) as Record<string, unknown>
  // Who answers without a code is not the home: a proxy, or a page of a network that wants a
  // sign-in. It may have codes of its own, too.
  const own = typeof code === 'string' ? code : status === 503 ? 'ERR_OVERLOADED' : 'ERR_OFFLINE'
  const known = CODES[status] ?? own
  const wait = headers.get('Retry-After') ?? ''
  // A time is one of the home's clock: of that and ours nobody knows how far they are apart.
  const retryAfter = Number(wait) || (Date.parse(wait) - Date.parse(headers.get('Date') ?? '')) / 1000
  return new PlimsollError(known as ErrorCode, `${path}: ${detail ?? `status ${status}`}`, {
    ...(retryAfter > 0 && { retryAfter }),
  })
}

/** Those of one meaning. */
const CODES: { readonly [status: number]: ErrorCode } = {
  401: 'ERR_UNAUTHENTICATED',
  413: 'ERR_ENTRY_TOO_LARGE',
  426: 'ERR_UPGRADE_REQUIRED',
  429: 'ERR_RATE_LIMIT',
}
