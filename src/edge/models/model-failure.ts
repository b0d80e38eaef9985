/**
 * Failures of a provider, reduced to what may show: a status, a short code and how long to wait.
 * Never its texts, which echo content.
 */
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'

/** Longest wait that is passed on, in seconds: a day. */
const MOST_SECONDS = 86_400
/** What a provider that says nothing of it is waited for, in seconds. */
const DEFAULT_SECONDS = 5

/** A request that got no answer at all. */
export class NotReached extends Error {
  override readonly name = 'NotReached'
}

export interface ModelFailure {
  /**
   * HTTP status of the answer; absent where there was none, or the failure came inside a stream.
   */
  readonly status?: number
  /** The provider's own name for it, for example `context_length_exceeded`. */
  readonly code?: string
  /** Seconds, a whole number of 1 or more. */
  readonly retryAfter?: number
  /** Nothing has been answered yet, and the same request may be answered later. */
  readonly isPassing: boolean
}

/**
 * What is known of an error of the AI SDK's: it is known by its fields, since copies of the SDK
 * do not share classes. Pure.
 */
export function failureOf(error: unknown, now: number): ModelFailure {
  if (error instanceof NotReached) return { isPassing: true }
  if (typeof error !== 'object' || error === null) return { isPassing: false }
  const { statusCode, responseHeaders, data, isRetryable } = error as {
    readonly statusCode?: unknown
    readonly responseHeaders?: Readonly<Record<string, string>>
    readonly data?: unknown
    readonly isRetryable?: unknown
  }
  const code = codeIn(data) ?? codeIn({ error })
  if (typeof statusCode !== 'number')
    return { isPassing: isRetryable === true, ...(code !== undefined && { code }) }
  const retryAfter = retryAfterOf(responseHeaders, now)
  return {
    status: statusCode,
    isPassing: statusCode === 408 || statusCode === 429 || statusCode >= 500,
    ...(code !== undefined && { code }),
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

/**
 * The error that leaves the edge's models. It has no `cause`: the SDK's errors hold the request
 * with all of its messages, and errors are logged. What is a `PlimsollError` already stays as it
 * is.
 */
export function modelError(id: string, error: unknown, failure: ModelFailure): PlimsollError {
  if (isPlimsollError(error)) return error
  const { status, code, retryAfter, isPassing } = failure
  const named = code === undefined ? '' : ` (${code})`
  if (status === 401 || status === 403)
    return new PlimsollError(
      'ERR_NOT_CONFIGURED',
      `model ${id}: its server refused the key, status ${status}${named}`,
    )
  if (status === 429)
    return new PlimsollError('ERR_RATE_LIMIT', `model ${id}: its server is asked too often${named}`, {
      retryAfter: retryAfter ?? DEFAULT_SECONDS,
    })
  if (status !== undefined)
    return new PlimsollError('ERR_MODEL', `model ${id}: its server answered with status ${status}${named}`)
  return new PlimsollError(
    'ERR_MODEL',
    isPassing ? `model ${id}: its server was not reached` : `model ${id}: the reply broke off${named}`,
  )
}

/** `error.code`, or else `error.type`, where that is a name and no sentence. */
function codeIn(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null || !('error' in data)) return undefined
  const { error } = data
  if (typeof error !== 'object' || error === null) return undefined
  const { code, type } = error as { readonly code?: unknown; readonly type?: unknown }
  return [code, type].find((name): name is string => typeof name === 'string' && /^[a-z_]{1,64}$/.test(name))
}

/**
 * RFC 9110, section 10.2.3: seconds or a date; some servers say it in milliseconds under a name of
 * their own.
 */
function retryAfterOf(
  headers: Readonly<Record<string, string>> | undefined,
  now: number,
): number | undefined {
  const ms = Number(headers?.['retry-after-ms'] ?? Number.NaN)
  const given = headers?.['retry-after'] ?? ''
  const seconds = Number.isFinite(ms) ? ms / 1000 : given === '' ? Number.NaN : Number(given)
  const wait = Number.isFinite(seconds) ? seconds : (Date.parse(given) - now) / 1000
  return Number.isFinite(wait) ? Math.min(MOST_SECONDS, Math.max(1, Math.ceil(wait))) : undefined
}
