import { MOST_MS } from '../ports/host.ts'
import { fromWire, toWire } from '../ports/wire.ts'
import { RequestError, refusalIn } from './error.ts'
import {
  backoff,
  type CallOptions,
  checkPrintable,
  refuseUnknown,
  type Settings,
  sleep,
  type WriteOptions,
  within,
} from './options.ts'
import { queryOf } from './paths.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What one request says, whatever the number of times that it is sent. */
export interface Call extends WriteOptions {
  /** A value of the library's, sent as JSON with keys in snake_case. */
  readonly body?: unknown
  /** A body as it is, and its media type. */
  readonly raw?: { readonly type: string; readonly text: string } | undefined
  readonly headers?: { readonly [name: string]: string } | undefined
  /** Needs no token. */
  readonly isOpen?: boolean
}

/**
 * Sends requests, again where that is right. All reject with a RequestError, or with the reason of
 * the call's signal.
 */
export interface Transport {
  readonly settings: Settings
  /** The answer as the library has it; `undefined` where it has no body (204, 304). */
  json<Value>(method: Method, path: string, call?: Call): Promise<Value>
  /**
   * What is read there. Options that are not every call's are its query; lists are joined by
   * commas, what is undefined is left out.
   */
  get<Value>(path: string, options?: CallOptions): Promise<Value>
  /** The answer as it travelled. */
  raw<Value>(method: Method, path: string, call?: Call): Promise<Value>
  /**
   * An answer whose body is still to come: its reader listens to the call's signal from then
   * on.
   */
  stream(method: Method, path: string, call?: Call): Promise<Response>
  /**
   * The token to send; undefined: none. @throws ERR_INVALID_ARGUMENT, and what the app's function
   * throws
   */
  token(refused?: string): Promise<string | undefined>
  /** A fresh op id, or the app's. @throws ERR_INVALID_ARGUMENT */
  opId(given: string | undefined): string
}

/** Refusals of 500 and above which the same request would only meet again. */
const FINAL = /^ERR_(?:MODEL|NOT_CONFIGURED|STORAGE_FULL|STORAGE_LOST|UPGRADE_REQUIRED)$/

const JSON_TYPE = 'application/json'

export function createTransport(settings: Settings): Transport {
  const { baseUrl, clock, fetch, newId, random, retry } = settings

  const token: Transport['token'] = async (refused) => {
    const { token: own } = settings
    return own === undefined
      ? own
      : checkPrintable('token', typeof own === 'string' ? own : await own(refused))
  }

  const opId = (given = newId()): string => checkPrintable('opId', given)

  /** Milliseconds until a request is sent again; `undefined`: it is not. */
  const waitAfter = (failure: RequestError, attempt: number, patience: number): number | undefined => {
    const { code, status = 500, retryAfter = Infinity } = failure
    if (!(attempt < retry.retries)) return undefined
    if (isBusy(failure)) {
      const asked = retryAfter * 1000
      // A little later each, since all of them were asked to wait as long.
      return asked <= patience ? asked + random() * retry.baseMs : undefined
    }
    return status < 500 || FINAL.test(code) ? undefined : backoff(settings, attempt)
  }

  const send = async <Value>(
    method: Method,
    path: string,
    call: Call | null,
    accept: string,
    take: (response: Response) => Promise<Value>,
  ): Promise<Value> => {
    const request = `${method} ${path}`
    const {
      signal,
      timeoutMs: limit = settings.timeoutMs,
      body,
      isOpen,
      ...rest
    } = call ?? ({ null: 0 } as Call)
    const { opId: given, raw: as, headers, ...unknown } = rest
    refuseUnknown(request, unknown, {})
    const raw = body === undefined ? as : { type: JSON_TYPE, text: JSON.stringify(toWire(body)) }
    const named = method === 'GET' ? undefined : opId(given)
    let sent = isOpen ? undefined : await token()
    let mayRefresh = !isOpen && typeof settings.token === 'function'
    let patience = Math.min(retry.waitForMs, MOST_MS)
    const attempt = async (over: Promise<void>, isLate: () => boolean): Promise<Value> => {
      const controller = new AbortController()
      // Not every fetch listens to its signal.
      const stopped = over.then(() => {
        controller.abort()
        throw undefined
      })
      const answer = async (): Promise<Value> => {
        const response = await fetch(baseUrl + path, {
          method,
          // One that is followed takes the token elsewhere, and may turn a POST into a GET.
          redirect: 'manual',
          headers: {
            accept,
            ...(raw && { 'content-type': raw.type }),
            ...(sent && { authorization: `Bearer ${sent}` }),
            ...(named !== undefined && { 'idempotency-key': named }),
            ...headers,
          },
          ...(raw && { body: raw.text }),
          signal: controller.signal,
        })
        if (response.ok || response.status === 304) return take(response)
        throw await refusalIn(response, request, named, clock.now())
      }
      try {
        return await Promise.race([answer(), stopped])
      } catch (cause) {
        if (cause instanceof RequestError) throw cause
        throw isLate()
          ? new RequestError('ERR_TIMEOUT', `${request}: no answer within ${limit} ms`, {
              limit,
              opId: named,
            })
          : new RequestError('ERR_STORAGE', `${request}: no answer`, { cause, opId: named })
      }
    }
    for (let attempts = 0; ; ) {
      signal?.throwIfAborted()
      try {
        return await within(clock, limit, signal, attempt)
      } catch (error) {
        signal?.throwIfAborted()
        const failure = error as RequestError
        if (failure.status === 401 && mayRefresh) {
          mayRefresh = false
          const fresh = await token(sent)
          if (fresh === sent) throw failure
          sent = fresh
          continue
        }
        const wait = waitAfter(failure, attempts++, patience)
        if (wait === undefined) throw failure
        if (isBusy(failure)) patience -= wait
        await sleep(settings, wait, signal)
      }
    }
  }

  const raw = <Value>(method: Method, path: string, call: Call = {}): Promise<Value> =>
    send(method, path, call, JSON_TYPE, async (response) => {
      const text = await response.text()
      return text === '' ? undefined : JSON.parse(text)
    })

  const json = async <Value>(method: Method, path: string, call?: Call): Promise<Value> =>
    fromWire(await raw(method, path, call)) as Value

  return {
    settings,
    token,
    opId,
    raw,
    json,
    get: (path, { signal, timeoutMs, ...query } = {}) =>
      json('GET', path + queryOf(query), { signal, timeoutMs }),
    stream: (method, path, call = {}) =>
      send(method, path, call, 'text/event-stream', async (response) => response),
  }
}

/** Whether the edge asks to be left alone for a while. */
function isBusy({ code, status, retryAfter }: RequestError): boolean {
  return status === 429 || code === 'ERR_OVERLOADED' || (status === 503 && retryAfter !== undefined)
}
