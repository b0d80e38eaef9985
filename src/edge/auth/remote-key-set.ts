import { createLocalJWKSet, type JWTVerifyGetKey } from 'jose'
import { webHost } from '../../platform/web.ts'
import { PlimsollError } from '../../ports/errors.ts'

/** As much of `fetch` as is used here. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface RemoteKeySetOptions {
  readonly url: URL
  readonly fetch: Fetch
  /** Unix milliseconds. */
  readonly clock: () => number
  /** Longest wait for the keys. */
  readonly timeoutMs: number
  readonly waitUntil: WaitUntil
}

/** Contract: lets a promise that never rejects settle, though the request that began it is over. */
export type WaitUntil = (promise: Promise<unknown>) => void

/** Least time between two requests for the keys, however they end and whatever tokens come. */
const COOLDOWN_MS = 30_000
/** How long keys are used. */
const KEEP_MS = 600_000
/**
 * From this age on they are asked for again, so that a provider may fail for a moment before they
 * are too old.
 */
const RENEW_MS = KEEP_MS - 2 * COOLDOWN_MS

/** The keys that an identity provider publishes as a JWK Set (RFC 7517, section 5). */
export function remoteKeySet(options: RemoteKeySetOptions): JWTVerifyGetKey {
  return new RemoteKeySet(options).keyOf
}

/**
 * Not jose's `createRemoteJWKSet`: on Workers that one sends a request for each concurrent call,
 * and after a failure it knows no cooldown, so a provider that is down gets a request with every
 * call.
 */
class RemoteKeySet {
  readonly #options: RemoteKeySetOptions
  #keys: JWTVerifyGetKey | undefined
  #loadedAt = Number.NEGATIVE_INFINITY
  #triedAt = Number.NEGATIVE_INFINITY
  /** The newest one; it stays when it has ended. */
  #attempt: Promise<JWTVerifyGetKey> | undefined

  constructor(options: RemoteKeySetOptions) {
    this.#options = options
  }

  readonly keyOf: JWTVerifyGetKey = async (...args) => {
    const keys = await this.#current()
    try {
      return await keys(...args)
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_JWKS_NO_MATCHING_KEY') throw error
    }
    // The provider may have begun to sign with another key.
    const newest = await this.#newest()
    return newest(...args)
  }

  async #current(): Promise<JWTVerifyGetKey> {
    const age = this.#options.clock() - this.#loadedAt
    const keys = age >= 0 && age < KEEP_MS ? this.#keys : undefined
    if (keys === undefined) return this.#newest()
    return age < RENEW_MS ? keys : this.#newest().catch(() => keys)
  }

  /**
   * The newest keys that the cooldown allows for. @throws ERR_OVERLOADED where the newest attempt
   * failed
   */
  async #newest(): Promise<JWTVerifyGetKey> {
    const now = this.#options.clock()
    const since = now - this.#triedAt
    // A clock that was set back must not lengthen the cooldown.
    const isCooling = since >= 0 && since < COOLDOWN_MS
    const attempt = isCooling && this.#attempt !== undefined ? this.#attempt : this.#load()
    if (attempt !== this.#attempt) {
      this.#attempt = attempt
      this.#triedAt = now
      // Else a client that begins it and hangs up could shut others out until the cooldown ends.
      this.#options.waitUntil(attempt.catch(() => undefined))
    }
    try {
      return await inTime(attempt, this.#options.timeoutMs)
    } catch (cause) {
      // The next caller need not wait for as long.
      if (this.#attempt === attempt) this.#attempt = refused(cause)
      const retryAfter = Math.ceil((this.#triedAt + COOLDOWN_MS - now) / 1000)
      throw new PlimsollError('ERR_OVERLOADED', "authenticate: the identity provider's keys cannot be read", {
        retryAfter,
        cause,
      })
    }
  }

  async #load(): Promise<JWTVerifyGetKey> {
    const { url, fetch, clock, timeoutMs } = this.#options
    const { signal, clear } = webHost.timeout(timeoutMs)
    try {
      const response = await fetch(url.href, {
        headers: { Accept: 'application/jwk-set+json, application/json' },
        // Where a redirect leads was not configured.
        redirect: 'manual',
        signal: signal as AbortSignal,
      })
      if (response.status !== 200) throw new Error(`status ${response.status} instead of 200`)
      const keys = createLocalJWKSet(await response.json())
      this.#keys = keys
      this.#loadedAt = clock()
      return keys
    } finally {
      clear()
    }
  }
}

/**
 * Every request waits by a timer of its own: on Workers a fetch ends unheard where the request that
 * began it is cancelled and nothing waits until it is done, and the others would wait for ever.
 */
async function inTime<T>(promise: Promise<T>, ms: number): Promise<T> {
  const { signal, clear } = webHost.timeout(ms)
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clear()
  }
}

/** A promise that is rejected, and that nobody needs to await. */
function refused(reason: unknown): Promise<never> {
  const promise = Promise.reject(reason)
  promise.catch(() => undefined)
  return promise
}
