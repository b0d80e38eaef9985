import { type ErrorCode, isPlimsollError } from '../../../ports/errors.ts'
import { waitHeaders } from '../../wait-headers.ts'

/** How OpenAI's clients read a refusal. */
export interface ChatErrorBody {
  readonly error: {
    readonly message: string
    readonly type: string
    /** OpenAI's own name for it where there is one, else this library's code. */
    readonly code: string
    /** Path of the field at fault. */
    readonly param: string | null
  }
}

export interface ChatError {
  readonly status: number
  /**
   * `Retry-After`, and `X-Should-Retry: false` where the official clients would retry for nothing.
   */
  readonly headers: Readonly<Record<string, string>>
  readonly body: ChatErrorBody
}

interface Kind {
  readonly status: number
  readonly type: string
  readonly code?: string
  readonly isFinal?: true
}

const INVALID = 'invalid_request_error'
const SERVER = 'server_error'

const KINDS: { readonly [Code in ErrorCode]?: Kind } = {
  ERR_BUDGET_TOO_SMALL: { status: 400, type: INVALID, code: 'context_length_exceeded' },
  ERR_CONFLICT: { status: 409, type: INVALID, isFinal: true },
  ERR_CONTEXT_TOO_LARGE: { status: 400, type: INVALID, code: 'context_length_exceeded' },
  ERR_DUPLICATE_ID: { status: 409, type: INVALID, isFinal: true },
  ERR_ENTRY_TOO_LARGE: { status: 413, type: INVALID },
  ERR_FORBIDDEN: { status: 403, type: 'permission_error' },
  ERR_INTERRUPTED: { status: 503, type: SERVER },
  ERR_INVALID_ARGUMENT: { status: 400, type: INVALID },
  ERR_LIMIT: { status: 422, type: INVALID },
  ERR_METHOD_NOT_ALLOWED: { status: 405, type: INVALID },
  ERR_MODEL: { status: 502, type: SERVER, isFinal: true },
  ERR_NOT_CONFIGURED: { status: 503, type: SERVER, isFinal: true },
  ERR_NOT_FOUND: { status: 404, type: INVALID },
  ERR_NOT_LOADED: { status: 503, type: SERVER },
  ERR_OVERLOADED: { status: 503, type: SERVER },
  ERR_RATE_LIMIT: { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  ERR_STORAGE: { status: 503, type: SERVER },
  ERR_STORAGE_FULL: { status: 507, type: SERVER, isFinal: true },
  ERR_TIMEOUT: { status: 504, type: SERVER, isFinal: true },
  // The official clients send a 409 again.
  ERR_TOOL_PENDING: { status: 400, type: INVALID },
  ERR_UNSUPPORTED_MEDIA_TYPE: { status: 415, type: INVALID },
  ERR_UNAUTHENTICATED: { status: 401, type: 'authentication_error', code: 'invalid_api_key' },
}

const BUG: Kind = { status: 500, type: SERVER, isFinal: true }

/**
 * An error as the OpenAI door sends it. What is no `PlimsollError` is a bug: it is reported as one,
 * without its text. Pure.
 */
export function chatErrorOf(error: unknown): ChatError {
  const known = isPlimsollError(error) ? error : undefined
  const kind = (known && KINDS[known.code]) ?? BUG
  const { argument = null } = known ?? {}
  return {
    status: kind.status,
    headers: {
      ...(known && waitHeaders(known)),
      ...(kind.isFinal && { 'X-Should-Retry': 'false' }),
    },
    body: {
      error: {
        message: known?.message ?? 'internal error',
        type: kind.type,
        code: codeOf(argument) ?? kind.code ?? known?.code ?? 'internal_error',
        param: argument,
      },
    },
  }
}

function codeOf(argument: string | null): string | undefined {
  return argument === 'model' ? 'model_not_found' : undefined
}
