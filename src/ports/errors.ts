/** Every code that Plimsoll throws. Codes are stable; messages are not. */
export type ErrorCode =
  | 'ERR_BUDGET_TOO_SMALL'
  | 'ERR_CONFLICT'
  | 'ERR_CONTEXT_TOO_LARGE'
  /** The tables of a counter could not be loaded. */
  | 'ERR_COUNTER_UNAVAILABLE'
  /**
   * What is stored cannot be decrypted: another key wrote it, or it is not what was written.
   * Nothing was written over it.
   */
  | 'ERR_DECRYPT'
  | 'ERR_DUPLICATE_ID'
  | 'ERR_ENTRY_TOO_LARGE'
  /** The edge: the request's origin is not on the list. */
  | 'ERR_FORBIDDEN'
  /** Only in a receipt's failures: a hook of the app's threw. */
  | 'ERR_HOOK'
  /**
   * A fault of the edge's own, of which its log has more. It does not mean "not written": send the
   * same again.
   */
  | 'ERR_INTERNAL'
  /**
   * A run ended before its reply did, since its object was restarted or the run was stopped; what
   * was recorded before stays.
   */
  | 'ERR_INTERRUPTED'
  | 'ERR_INVALID_ARGUMENT'
  /**
   * Only with `laws: lawChecker`: a context is not what this library promises. A bug of it: please
   * report it.
   */
  | 'ERR_LAW_BROKEN'
  /** A cap of the app's or of the library's is reached; nothing was written. */
  | 'ERR_LIMIT'
  /** The edge: the route is there, and does not take this method. */
  | 'ERR_METHOD_NOT_ALLOWED'
  /**
   * The model behind the edge refused, failed or was not reached; `cause` has the original, inside
   * of the edge alone.
   */
  | 'ERR_MODEL'
  /**
   * An operation needs a feature that is not in `use`; a setting is missing that the edge cannot do
   * without, for example how to authenticate; or an optional peer is too old.
   */
  | 'ERR_NOT_CONFIGURED'
  | 'ERR_NOT_FOUND'
  /**
   * A part of the chat that is loaded when it is needed could not be: there is no network, or its
   * file is no longer there. Nothing was written.
   */
  | 'ERR_NOT_LOADED'
  /** No answer: there is no network, or nobody at its end. Send the same again. */
  | 'ERR_OFFLINE'
  /** An object has more to do than it can: wait for `retryAfter` and send the same again. */
  | 'ERR_OVERLOADED'
  /** A budget of calls, bytes or spend is used up until `retryAfter`; nothing was written. */
  | 'ERR_RATE_LIMIT'
  /** The store was opened only to read. Nothing was written. */
  | 'ERR_READ_ONLY'
  /**
   * The store failed; `cause` has the original. It does not mean "not written": send the same op
   * again. In a receipt's failures: an epoch could not be saved.
   */
  | 'ERR_STORAGE'
  /** There is no room left. Nothing was written; reads and deletes go on. */
  | 'ERR_STORAGE_FULL'
  /** Another store writes to the same file, and no second one may. */
  | 'ERR_STORAGE_LOCKED'
  /** The database that was there is gone, and an empty one must not be taken for it. */
  | 'ERR_STORAGE_LOST'
  /**
   * Something did not end within its time limit. What was recorded before stays; the work itself
   * may still go on.
   */
  | 'ERR_TIMEOUT'
  | 'ERR_TOOL_PENDING'
  /** No token, or one that does not hold. */
  | 'ERR_UNAUTHENTICATED'
  /**
   * The edge: the body is of a type or an encoding that the route does not take. The chat: a
   * picture is not of the type that it is said to be.
   */
  | 'ERR_UNSUPPORTED_MEDIA_TYPE'
  /** What is stored has another format: that of a newer version of this library, or of 0.1.0. */
  | 'ERR_UPGRADE_REQUIRED'

/** What the floor of a context is made of, in tokens of the policy's counter. */
export interface FloorBreakdown {
  /** Most that input may take: `contextWindow - maxOutputTokens`. */
  readonly cap: number
  /** Held back because the counter is an estimate. */
  readonly margin: number
  readonly system: number
  readonly memory: number
  readonly tools: number
  /** What the provider's format adds once a request. */
  readonly framing: number
  /** The newest user message, verbatim. */
  readonly user: number
  /** The newest step of the newest round, each output cut to its marker. */
  readonly step: number
  /** This call's own tail. */
  readonly tail: number
  /** Sum of all of the above but `cap`. */
  readonly floor: number
}

export interface ErrorDetails {
  readonly cause?: unknown
  /** `ERR_INVALID_ARGUMENT`: path of the argument, for example `messages[2].content`. */
  readonly argument?: string
  /** `ERR_BUDGET_TOO_SMALL`: why nothing can be built. */
  readonly breakdown?: FloorBreakdown
  /** `ERR_TOOL_PENDING`: the calls that wait, by entry and by the id that the model gave. */
  readonly pending?: readonly { readonly entry: string; readonly callId: string; readonly name: string }[]
  /**
   * `ERR_ENTRY_TOO_LARGE`, `ERR_CONTEXT_TOO_LARGE`: what was measured, and the limit, in bytes or
   * tokens. The limit alone: `ERR_LIMIT`, `ERR_TIMEOUT` in milliseconds, and `ERR_BUDGET_TOO_SMALL`
   * of a session's start, the least that is enough.
   */
  readonly size?: number
  readonly limit?: number
  /**
   * `ERR_DUPLICATE_ID`, `ERR_NOT_FOUND`: the id in question. `ERR_ENTRY_TOO_LARGE` of an attachment
   * that has a name, `ERR_UNSUPPORTED_MEDIA_TYPE` where the chat refuses a file: its name.
   */
  readonly id?: string
  /** `ERR_CONFLICT`: the version that is there now; `null`: nothing is there. */
  readonly version?: string | null
  /** `ERR_RATE_LIMIT`, `ERR_OVERLOADED`: seconds to wait, a whole number of 1 or more. */
  readonly retryAfter?: number
  /** `ERR_RATE_LIMIT`: name of the budget that is used up, for example `appends`. */
  readonly budget?: string
}

/**
 * The one error class. `message` says operation, subject and reason; `code` is what programs test.
 * Use {@link isPlimsollError} rather than `instanceof`: instances do not survive RPC or two copies
 * of the package.
 */
export class PlimsollError extends Error {
  override readonly name = 'PlimsollError'
  readonly code: ErrorCode
  declare readonly argument?: string
  declare readonly breakdown?: FloorBreakdown
  declare readonly pending?: readonly {
    readonly entry: string
    readonly callId: string
    readonly name: string
  }[]
  declare readonly size?: number
  declare readonly limit?: number
  declare readonly id?: string
  declare readonly version?: string | null
  declare readonly retryAfter?: number
  declare readonly budget?: string

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const { cause, ...fields } = details
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    Object.assign(this, fields)
  }
}

/** Whether `value` is a Plimsoll error (with `code`, if given), tested by name and code. */
export function isPlimsollError(value: unknown, code?: ErrorCode): value is PlimsollError {
  if (typeof value !== 'object' || value === null) return false
  const error = value as { name?: unknown; code?: unknown }
  if (error.name !== 'PlimsollError' || typeof error.code !== 'string') return false
  return code === undefined || error.code === code
}

/**
 * Whether nobody could be reached who has what is asked for: a request got no answer at all, or one
 * of 404, or of 500 and above, that is not the edge's own.
 */
export function isUnreachable(error: unknown): boolean {
  if (isPlimsollError(error, 'ERR_OFFLINE')) return true
  // Errors of the client say of which status they are, if of any.
  return (
    isPlimsollError(error, 'ERR_STORAGE') &&
    /^[A-Z]+ \/.*: (?:no answer|status (?:404|5\d\d))$/.test(error.message)
  )
}
