import { PlimsollError } from '../../ports/errors.ts'
import { LOOPBACK } from './loopback.ts'

/** Which web pages may call: those of the list, and those of the edge's own origin. */
export interface Origins {
  /** Whether a request's `Origin` is absent (no browser sends it), its own or on the list. */
  allow(request: Request): boolean
  /** @throws ERR_FORBIDDEN where {@link allow} says no */
  check(request: Request): void
}

/**
 * Scheme, host and port. Not only of the web: apps and extensions have schemes of their own, whose
 * origins the URL standard calls opaque.
 */
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/([\w.-]+|\[[0-9a-f:]+\])(:\d+)?$/

/** The pages of this very machine, at any port: what a front end in development is served from. */
export const LOOPBACK_ORIGINS: readonly string[] = [...LOOPBACK].flatMap((host) => [
  `http://${host}:*`,
  `https://${host}:*`,
])

/**
 * Origins as browsers send them, compared exactly: `https://app.example.com`,
 * `http://localhost:5173`, `capacitor://localhost`. Of a loopback host the port may be `*`, which
 * is any, none included: `http://localhost:*`. `null`, which any sandboxed page sends, is nobody's.
 *
 * @throws ERR_NOT_CONFIGURED where one is not an origin: another wildcard, a path, a slash at its
 * end, a capital letter, a default port
 */
export function allowedOrigins(list: readonly string[]): Origins {
  const bad = list.findIndex((origin) => !isOrigin(origin))
  if (bad !== -1)
    throw new PlimsollError(
      'ERR_NOT_CONFIGURED',
      `cross-origin: entry ${bad} of the list is not an exact origin`,
    )
  const listed: ReadonlySet<string> = new Set(list)

  const allow = (request: Request): boolean => {
    const origin = request.headers.get('Origin')
    return (
      origin === null ||
      listed.has(origin) ||
      listed.has(origin.replace(PORT, ':*')) ||
      origin === new URL(request.url).origin
    )
  }
  return {
    allow,
    check(request) {
      if (!allow(request))
        throw new PlimsollError('ERR_FORBIDDEN', 'cross-origin: the origin of the request is not on the list')
    },
  }
}

/** Of an origin, which may have none. */
const PORT = /(:\d+)?$/

function isOrigin(text: string): boolean {
  if (LOOPBACK_ORIGINS.includes(text)) return true
  const scheme = ORIGIN.exec(text)?.[1]
  if (scheme === 'http' || scheme === 'https') return URL.canParse(text) && new URL(text).origin === text
  return scheme !== undefined
}
