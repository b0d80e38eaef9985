import { type Host, MOST_MS } from '../ports/host.ts'
import { invalid } from '../ports/options.ts'

/**
 * Contract: gives the token to send. It is asked at each call, so it may keep one; asked once more,
 * with the token that was refused, when the edge answers 401, it should give a fresh one.
 */
export type Token = (refused?: string) => string | Promise<string>

/** Contract: as the Web's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** As much of the Web's `WebSocket` as is used here. */
export interface Socket {
  addEventListener(type: 'open' | 'close', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  close(): void
}

/** Contract: as the Web's `WebSocket`. */
export type SocketClass = new (url: string, protocols: string[]) => Socket

/** When a request is sent again. Its op id stays the same, so nothing is done twice. */
export interface RetryOptions {
  /**
   * Times that a request is sent again after no answer, a time-out or a status of 500 and above.
   * Default 3.
   */
  readonly retries?: number
  /**
   * The first wait is 0 to so many milliseconds, each further one 0 to double that (full jitter).
   * Default 300.
   */
  readonly baseMs?: number
  /** No wait is longer, in milliseconds. Default 5 000. */
  readonly capMs?: number
  /**
   * Most milliseconds that one call may spend on waits that the edge asks for when it is overloaded
   * or a budget is used up. Default 0: such a call fails at once, with `retryAfter`.
   */
  readonly waitForMs?: number
}

export interface ClientOptions {
  /**
   * Where the edge is, for example `https://memory.example.com`. Empty, in a browser: where the
   * page is from.
   */
  readonly baseUrl: string
  /**
   * Sent as a bearer token, and as a subprotocol of the socket. Printable ASCII without spaces.
   * Default: none is sent, since an edge in development (`npm start`) asks for none.
   */
  readonly token?: string | Token
  readonly retry?: RetryOptions
  /** Milliseconds for one attempt, of a stream until it begins. Default 30 000. */
  readonly timeoutMs?: number
  /** Default: the platform's, looked up at each call. */
  readonly fetch?: Fetch
  /** Default: the platform's. Node has one from 22 on. */
  readonly WebSocket?: SocketClass
  readonly clock?: Pick<Host, 'now' | 'timeout'>
  /** Contract: a number from 0 up to 1. Default: `Math.random`. */
  readonly random?: () => number
  /** Contract: a fresh id, unique for ever, of printable ASCII. Default: UUIDv7. */
  readonly newId?: () => string
}

/** What every call takes. */
export interface CallOptions {
  /**
   * Ends the call, its waits and its stream; the call rejects with the signal's reason. What was
   * sent may be written all the same.
   */
  readonly signal?: AbortSignal | undefined
  /** Instead of the client's own. */
  readonly timeoutMs?: number | undefined
}

/** What every call takes that writes. */
export interface WriteOptions extends CallOptions {
  /**
   * Names the op; repeating it gives the first result. Printable ASCII without spaces, at most 256
   * characters. Default: a fresh one, which an error of the call has too.
   */
  readonly opId?: string | undefined
}

/** What a client's parts are made with. */
export interface Settings {
  readonly baseUrl: string
  readonly token: string | Token | undefined
  readonly retry: Required<RetryOptions>
  readonly timeoutMs: number
  readonly fetch: Fetch
  readonly WebSocket: SocketClass | undefined
  readonly clock: Pick<Host, 'now' | 'timeout'>
  readonly random: () => number
  readonly newId: () => string
}

/** @throws ERR_INVALID_ARGUMENT */
export function settingsOf(options: ClientOptions): Settings {
  const settings: Settings = {
    baseUrl: '',
    token: undefined,
    retry: { retries: 3, baseMs: 300, capMs: 5_000, waitForMs: 0 },
    timeoutMs: 30_000,
    // Looked up at each call, since others may have put their own in its place.
    fetch: (url, init) => fetch(url, init),
    WebSocket: globalThis.WebSocket,
    clock: webClock,
    random: Math.random,
    newId: () => uuidv7((options.clock ?? webClock).now()),
  }
  refuseUnknown('client', options, settings)
  const { baseUrl, retry = {} } = options
  refuseUnknown('client: retry', retry, settings.retry)
  if (!URL.canParse(baseUrl, globalThis.location?.href)) throw invalid('client', 'baseUrl', 'is no URL')
  return {
    ...settings,
    ...options,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    retry: { ...settings.retry, ...retry },
  }
}

/** @throws ERR_INVALID_ARGUMENT: an option that is not known, or no options at all */
export function refuseUnknown(operation: string, options: object | null, known: object): void {
  const unknown = Object.keys(options ?? { null: 0 }).find((name) => !Object.hasOwn(known, name))
  if (unknown !== undefined) throw invalid(operation, unknown, 'is not known')
}

/**
 * Works until it is done.
 *
 * @param work is given what resolves once so many milliseconds are over or the signal aborts, and
 * whether it was the time
 */
export async function within<Value>(
  clock: Settings['clock'],
  ms: number,
  signal: AbortSignal | undefined,
  work: (over: Promise<void>, isLate: () => boolean) => Promise<Value>,
): Promise<Value> {
  const timeout = clock.timeout(Math.min(ms, MOST_MS))
  let end = (): void => {}
  const over = new Promise<void>((resolve) => {
    end = resolve
  })
  timeout.signal.addEventListener('abort', end)
  signal?.addEventListener('abort', end)
  try {
    return await work(over, () => timeout.signal.aborted)
  } finally {
    timeout.clear()
    signal?.removeEventListener('abort', end)
  }
}

/** Resolves after so many milliseconds. @throws the signal's reason, as soon as it aborts */
export async function sleep(
  { clock }: Pick<Settings, 'clock'>,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted()
  await within(clock, ms, signal, (over) => over)
  signal?.throwIfAborted()
}

/**
 * Checks what travels in a header, where fetch would fail as if there were no network. @throws
 * ERR_INVALID_ARGUMENT
 */
export function checkPrintable(argument: string, value: string): string {
  if (/^[!-~]+$/.test(value)) return value
  throw invalid('client', argument, 'must be visible ASCII')
}

/**
 * Full jitter: anything from nothing to the whole of an exponential wait, so that clients which
 * failed together come back apart.
 */
export function backoff(
  {
    random,
    retry: { baseMs, capMs },
  }: Pick<Settings, 'random'> & { readonly retry: Pick<Settings['retry'], 'baseMs' | 'capMs'> },
  attempt: number,
): number {
  return random() * Math.min(capMs, baseMs * 2 ** attempt)
}

const webClock: Settings['clock'] = {
  now: () => Date.now(),
  timeout(ms) {
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), ms)
    return { signal: controller.signal, clear: () => clearTimeout(timer) }
  },
}

/**
 * RFC 9562, section 5.7: 48 bits of Unix milliseconds, then version, variant and 72 random bits.
 */
function uuidv7(now: number): string {
  // Not `randomUUID`, which pages without TLS lack.
  const random = crypto.getRandomValues(new Uint8Array(10))
  const hex = Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const all = now.toString(16).padStart(12, '0') + hex
  return all.replace(/(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-7$3-8$4-')
}
