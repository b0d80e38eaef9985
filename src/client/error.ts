import { type ErrorCode, type ErrorDetails, PlimsollError } from '../ports/errors.ts'
import { fromWire, PROBLEM_TYPE, type Problem } from '../ports/wire.ts'

export interface RequestErrorDetails extends ErrorDetails {
  /** Of the answer; absent where none came. */
  readonly status?: number
  /** Names the request in the edge's log. */
  readonly requestId?: string
  /** Of a write: send the same again under this id. */
  readonly opId?: string | undefined
}

/**
 * A request that failed. Of a write it does not mean "not written" where `status` is absent or 500
 * and above: send the same again with the same `opId`.
 */
export class RequestError extends (PlimsollError as new (
  code: ErrorCode,
  message: string,
  details?: RequestErrorDetails,
) => PlimsollError) {
  declare readonly status?: number
  declare readonly requestId?: string
  declare readonly opId?: string
}

/** For what may not be there. @throws all but ERR_NOT_FOUND */
export function passAbsent(error: unknown): undefined {
  if ((error as RequestError).code !== 'ERR_NOT_FOUND') throw error
}

/** What of a problem is a field of the error. */
const FIELDS = [
  'argument',
  'breakdown',
  'pending',
  'size',
  'limit',
  'id',
  'version',
  'retryAfter',
  'budget',
  'requestId',
] as const

/** What an answer means that is not the edge's own, for example a proxy's. */
const CODES: { readonly [status: number]: ErrorCode } = {
  401: 'ERR_UNAUTHENTICATED',
  403: 'ERR_FORBIDDEN',
  // A host that has no edge there: it says nothing of what an edge has.
  404: 'ERR_STORAGE',
  413: 'ERR_ENTRY_TOO_LARGE',
  429: 'ERR_RATE_LIMIT',
  504: 'ERR_TIMEOUT',
}

/**
 * The error that an answer without success stands for. Reads its body, if it is a problem.
 * `request` names it in the message.
 */
export async function refusalIn(
  response: Response,
  request: string,
  opId: string | undefined,
  now: number,
): Promise<RequestError> {
  const { status, headers } = response
  const problem = await problemIn(response)
  const retryAfter = secondsIn(headers.get('retry-after'), now)
  const said = {
    // A redirect, which is not followed.
    argument: status < 400 ? 'baseUrl' : undefined,
    retryAfter,
    requestId: headers.get('x-request-id') ?? undefined,
    ...problem,
  }
  const known = FIELDS.map((name) => [name, said[name]]).filter(([, value]) => value !== undefined)
  const details = { ...Object.fromEntries(known), status, opId }
  const code =
    status === 503 && retryAfter !== undefined
      ? 'ERR_OVERLOADED'
      : (CODES[status] ?? (status < 500 ? 'ERR_INVALID_ARGUMENT' : 'ERR_STORAGE'))
  return new RequestError(problem?.code ?? code, problem?.detail ?? `${request}: status ${status}`, details)
}

async function problemIn(response: Response): Promise<Problem | undefined> {
  try {
    if (response.headers.get('content-type')?.startsWith(PROBLEM_TYPE)) {
      const problem = fromWire(await response.json()) as Problem
      if (typeof problem.code === 'string') return problem
    } else {
      // Not waited for: where a wrapper of fetch cloned the answer, it would wait for the clone.
      response.body?.cancel().catch(() => {})
    }
  } catch {
    // The status alone has to do.
  }
  return undefined
}

/** Whole seconds, 1 or more: RFC 9110, section 10.2.3, a number or a date. */
function secondsIn(retryAfter: string | null, now: number): number | undefined {
  const seconds = Number(retryAfter) || (Date.parse(String(retryAfter)) - now) / 1000
  // Not a number where it is neither.
  return Math.max(1, Math.ceil(seconds)) || undefined
}
