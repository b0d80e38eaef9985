import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { type ErrorCode, isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import { PROBLEM_TYPE, type Problem } from '../../ports/wire.ts'
import { waitHeaders } from '../wait-headers.ts'
import { toWire } from '../wire.ts'

interface Kind {
  readonly status: ContentfulStatusCode
  /** For people; the same for all errors of a code. */
  readonly title: string
}

/**
 * Every code, and how it is answered. What only a library of ours in the same process throws is a
 * fault of the edge here.
 */
export const PROBLEMS: Readonly<Record<ErrorCode, Kind>> = {
  ERR_BUDGET_TOO_SMALL: { status: 422, title: 'Not even the least context fits the budget' },
  ERR_CONFLICT: { status: 409, title: 'Others changed it' },
  ERR_CONTEXT_TOO_LARGE: { status: 422, title: 'The context is above its limit' },
  ERR_COUNTER_UNAVAILABLE: { status: 503, title: 'The token counter could not be loaded' },
  ERR_DECRYPT: { status: 500, title: 'What is stored cannot be decrypted' },
  ERR_DUPLICATE_ID: { status: 409, title: 'The id names something else' },
  ERR_ENTRY_TOO_LARGE: { status: 413, title: 'Too large' },
  ERR_FORBIDDEN: { status: 403, title: 'Not from this origin' },
  ERR_HOOK: { status: 500, title: 'A hook failed' },
  ERR_INTERNAL: { status: 500, title: 'Something failed that should not' },
  ERR_INTERRUPTED: { status: 409, title: 'The run ended before its reply did' },
  ERR_INVALID_ARGUMENT: { status: 400, title: 'The request is not valid' },
  ERR_LAW_BROKEN: { status: 500, title: 'A law of the library is broken' },
  ERR_LIMIT: { status: 422, title: 'A cap is reached' },
  ERR_METHOD_NOT_ALLOWED: { status: 405, title: 'Not by this method' },
  ERR_MODEL: { status: 502, title: 'The model failed' },
  ERR_NOT_CONFIGURED: { status: 503, title: 'The edge lacks a setting' },
  ERR_NOT_FOUND: { status: 404, title: 'Not found' },
  ERR_NOT_LOADED: { status: 503, title: 'A part could not be loaded' },
  ERR_OFFLINE: { status: 503, title: 'No answer' },
  ERR_OVERLOADED: { status: 503, title: 'Too much to do' },
  ERR_RATE_LIMIT: { status: 429, title: 'A budget is used up' },
  ERR_READ_ONLY: { status: 500, title: 'The store only reads' },
  ERR_STORAGE: { status: 500, title: 'The store failed' },
  ERR_STORAGE_FULL: { status: 507, title: 'No room left' },
  ERR_STORAGE_LOCKED: { status: 500, title: 'Another store writes to the file' },
  ERR_STORAGE_LOST: { status: 500, title: 'The database is gone' },
  ERR_TIMEOUT: { status: 504, title: 'Not within its time' },
  ERR_TOOL_PENDING: { status: 409, title: 'A tool call waits for its result' },
  ERR_UNAUTHENTICATED: { status: 401, title: 'Not authenticated' },
  ERR_UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'Not of this type' },
  ERR_UPGRADE_REQUIRED: { status: 426, title: 'Written by a newer version' },
}

/**
 * Seconds after which something that is overloaded may be asked again, where nobody knows better.
 */
const RETRY_AFTER = 5

/** As much of what an object's stub throws as says whose fault it was. */
interface StubError {
  readonly overloaded?: boolean
  readonly retryable?: boolean
}

/** Any error as one of ours. What is not ours is hidden: its message may hold anything. */
export function asPlimsollError(error: unknown): PlimsollError {
  // An object may be of another version than the Worker, and have codes that are not known here.
  if (isPlimsollError(error) && Object.hasOwn(PROBLEMS, error.code)) return error
  const { overloaded, retryable } = (typeof error === 'object' && error !== null ? error : {}) as StubError
  if (overloaded)
    return new PlimsollError('ERR_OVERLOADED', 'the object is overloaded; try again later', {
      retryAfter: RETRY_AFTER,
      cause: error,
    })
  if (retryable)
    return new PlimsollError('ERR_STORAGE', 'the object could not be reached; send the same request again', {
      cause: error,
    })
  return new PlimsollError('ERR_INTERNAL', 'the edge: internal error; send the same request again', {
    cause: error,
  })
}

/** An error as RFC 9457 problem details. */
export function problemResponse(error: unknown, requestId: string): Response {
  const known = asPlimsollError(error)
  const { status, title } = PROBLEMS[known.code]
  const { code, message, argument, breakdown, pending, size, limit, id, version, retryAfter, budget } = known
  const problem: Problem = {
    type: `urn:plimsoll:error:${code}`,
    title,
    status,
    detail: message,
    code,
    requestId,
    ...given({ argument, breakdown, pending, size, limit, id, version, retryAfter, budget }),
  }
  return new Response(JSON.stringify(toWire(problem)), {
    status,
    headers: {
      'Content-Type': PROBLEM_TYPE,
      ...waitHeaders(known),
      ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    },
  })
}

/** The fields that have a value. */
function given<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<Fields>
}
