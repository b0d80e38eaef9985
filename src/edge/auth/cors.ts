import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { allowedOrigins } from './origins.ts'
import { ownHeaders } from './own-headers.ts'
import { isUpgrade } from './socket-token.ts'

export interface CrossOriginOptions {
  /** As {@link allowedOrigins} takes them. Empty: only pages of the edge's own origin may call. */
  readonly origins: readonly string[]
  /** Headers that pages may send beside those of this API, of MCP and of OpenAI's client. */
  readonly allowHeaders?: readonly string[]
}

/** The longest that Chromium remembers a preflight's answer. */
const MAX_AGE_SECONDS = 7200

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Last-Event-ID',
  'Mcp-Protocol-Version',
  'Mcp-Session-Id',
  'OpenAI-Organization',
  'OpenAI-Project',
  'User-Agent',
  'X-Request-Id',
  'X-Stainless-Arch',
  'X-Stainless-Helper-Method',
  'X-Stainless-Lang',
  'X-Stainless-OS',
  'X-Stainless-Package-Version',
  'X-Stainless-Retry-Count',
  'X-Stainless-Runtime',
  'X-Stainless-Runtime-Version',
  'X-Stainless-Timeout',
]

const EXPOSED_HEADERS = [
  'Content-Disposition',
  'ETag',
  'Location',
  'Mcp-Session-Id',
  'Plimsoll-Run',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
  'X-Should-Retry',
]

/**
 * Lets pages of listed origins call, and no others. A foreign page gets no header that would let it
 * read the answer; one that would change something is refused with ERR_FORBIDDEN before anything
 * runs, and so is its WebSocket, which CORS does not guard. Without credentials: the token is a
 * header, so a page cannot borrow a visitor's cookies.
 *
 * @throws ERR_NOT_CONFIGURED where an entry of the list is not an exact origin
 */
export function crossOrigin({ origins, allowHeaders = [] }: CrossOriginOptions): MiddlewareHandler {
  const allowed = allowedOrigins(origins)
  const answer = cors({
    origin: (origin, c) => (allowed.allow(c.req.raw) ? origin : null),
    allowMethods: METHODS,
    allowHeaders: [...ALLOWED_HEADERS, ...allowHeaders],
    exposeHeaders: EXPOSED_HEADERS,
    maxAge: MAX_AGE_SECONDS,
  })

  return async function crossOrigin(c, next) {
    const request = c.req.raw
    // The headers of an answer that switches protocols cannot be changed.
    if (isUpgrade(request)) {
      allowed.check(request)
      return next()
    }
    // No browser: nobody reads the headers that are for one.
    if (!request.headers.has('Origin')) {
      await next()
      ownHeaders(c).append('Vary', 'Origin')
      return
    }
    if (!SAFE.has(request.method) && !allowed.allow(request)) {
      c.res.headers.append('Vary', 'Origin')
      allowed.check(request)
    }
    return answer(c, next)
  }
}
