import { PlimsollError } from '../../ports/errors.ts'

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

/**
 * Origins as browsers send them, compared exactly: `https://app.example.com`,
 * `http://localhost:5173`, `capacitor://localhost`. `null`, which any sandboxed page sends, is
 * nobody's.
 *
 * @throws ERR_NOT_CONFIGURED where one is not an origin: a wildcard, a path, a slash at its end, a
 * capital letter, a default port
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
    return origin === null || listed.has(origin) || origin === new URL(request.url).origin
  }
  return {
    allow,
    check(request) {
      if (!allow(request))
        throw new PlimsollError('ERR_FORBIDDEN', 'cross-origin: the origin of the request is not on the list')
    },
  }
}

function isOrigin(text: string): boolean {
  const scheme = ORIGIN.exec(text)?.[1]
  if (scheme === 'http' || scheme === 'https') return URL.canParse(text) && new URL(text).origin === text
  return scheme !== undefined
}
