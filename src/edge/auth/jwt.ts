import type { JWTPayload } from 'jose'
import { webHost } from '../../platform/web.ts'
import { PlimsollError } from '../../ports/errors.ts'
import { checkId } from '../../text/json.ts'
import { checkSettings } from '../check-settings.ts'
import { GUEST_PREFIX } from '../guest.ts'
import type { Authenticate, Principal } from '../principal.ts'
import { bearerToken } from './bearer-token.ts'
import { isLoopback } from './loopback.ts'
import { type Fetch, remoteKeySet, type WaitUntil } from './remote-key-set.ts'
import { secretBytes } from './secret.ts'
import { needJose, TOLERANCE_SECONDS, unauthenticated, verifyToken } from './verify-token.ts'

/** Either `secret` or `jwks`. */
export interface JwtOptions {
  /**
   * Shared with the issuer: its tokens are signed by HS256. At least 32 bytes; those of a text are
   * its UTF-8.
   */
  readonly secret?: string | Uint8Array
  /**
   * Where the issuer publishes its keys (RFC 7517), by https, on a loopback host also by http. They
   * are read at most every 30 s, used for 10 minutes, and asked for again in the last of these;
   * where several fit a token that names none, it is refused.
   */
  readonly jwks?: string | URL
  /** Only with `jwks`, and only such with a public key. Default RS256, ES256 and EdDSA. */
  readonly algorithms?: readonly string[]
  readonly issuer: string
  /** A token that is meant for several holds where one of them is this. */
  readonly audience: string
  /**
   * Claim that holds the tenant; a token without it is refused then. Without this setting nobody
   * has a tenant.
   */
  readonly tenantClaim?: string
  /**
   * The type in the header that tokens must have (RFC 8725, section 3.11), without `application/`.
   * Default: none, `JWT` or `at+jwt` (RFC 9068); what is typed as anything else is refused.
   */
  readonly typ?: string
  /**
   * Seconds after its issue for which a token holds at most, whatever its `exp`; one without `iat`
   * is refused then. Default: until its `exp`.
   */
  readonly maxTokenAge?: number
  /** By how much the issuer's clock may differ. Default 5, at most 30. */
  readonly toleranceSeconds?: number
  /** Default the platform's. */
  readonly fetch?: Fetch
  /** Longest wait for the issuer's keys. Default 5000. */
  readonly timeoutMs?: number
  /**
   * On Workers: `waitUntil` of `cloudflare:workers`. Without it a client that hangs up may cancel
   * the fetch of the keys that it began, and the others are answered ERR_OVERLOADED for up to 30 s.
   * Default: nothing.
   */
  readonly waitUntil?: WaitUntil
  /** Unix milliseconds. Default the platform's. */
  readonly clock?: () => number
}

const OPTIONS = [
  ...['secret', 'jwks', 'algorithms', 'issuer', 'audience', 'tenantClaim', 'toleranceSeconds'],
  ...['typ', 'maxTokenAge', 'fetch', 'timeoutMs', 'waitUntil', 'clock'],
]
const MOST_TOLERANCE_SECONDS = 30
/** What access tokens are typed as. A logout token, for one, is signed by the same key. */
const TYPES = ['jwt', 'at+jwt']
const TIMEOUT_MS = 5000
const PUBLIC_KEY = /^((RS|PS|ES)(256|384|512)|EdDSA|Ed25519)$/

/**
 * Authenticates by JSON Web Tokens, as RFC 8725 advises: the algorithms are pinned, and a token
 * must name the issuer, the audience, an expiry and a subject. The subject is the user.
 *
 * Build it once: the issuer's keys are kept in it.
 *
 * A call throws ERR_UNAUTHENTICATED for a token that does not hold, with one message whatever is
 * wrong (`cause` names it), and ERR_OVERLOADED with `retryAfter` where the issuer's keys cannot be
 * read, since that proves nothing against the token. Without a token it gives `undefined`.
 *
 * @throws ERR_NOT_CONFIGURED where the options cannot authenticate anybody safely, or `jose` is
 * older than 6
 */
export function jwtAuthenticator(options: JwtOptions): Authenticate {
  needJose()
  checkSettings('jwtAuthenticator', options, OPTIONS)
  const { tenantClaim, clock = webHost.now } = options
  const { key, algorithms } = options.jwks === undefined ? bySecret(options) : byKeySet(options, options.jwks)
  const issuer = required('issuer', options.issuer)
  const audience = required('audience', options.audience)
  if (tenantClaim !== undefined) required('tenantClaim', tenantClaim)
  const clockTolerance = tolerance(options.toleranceSeconds)
  if (options.typ !== undefined) required('typ', options.typ)
  const { maxTokenAge } = options
  if (maxTokenAge !== undefined && !(maxTokenAge > 0 && Number.isFinite(maxTokenAge)))
    throw notConfigured('maxTokenAge must be a number of seconds above 0')

  return async function authenticate(request) {
    const token = bearerToken(request)
    if (token === undefined) return undefined
    const rules = { issuer, audience, algorithms, clockTolerance, currentDate: new Date(clock()) }
    return verifyToken(
      token,
      key,
      { ...rules, ...(maxTokenAge !== undefined && { maxTokenAge }) },
      (claims, { typ }) => {
        if (!isTyped(typ, options.typ)) throw unauthenticated('typ')
        return userOf(claims, tenantClaim)
      },
    )
  }
}

/** RFC 7515, section 4.1.9: in any case, and `application/` may be left out. */
function isTyped(typ: string | undefined, expected: string | undefined): boolean {
  const plain = typ?.toLowerCase().replace(/^application\//, '')
  if (expected !== undefined) return plain === expected.toLowerCase()
  return plain === undefined || TYPES.includes(plain)
}

function userOf(claims: JWTPayload, tenantClaim: string | undefined): Principal {
  const userId = checkId('authenticate', 'sub', claims.sub)
  // A URL takes these two for steps of its path: no operator could name that user.
  if (userId.startsWith(GUEST_PREFIX) || userId === '.' || userId === '..') throw unauthenticated('sub')
  if (tenantClaim === undefined) return { userId }
  const tenant = Object.hasOwn(claims, tenantClaim) ? claims[tenantClaim] : undefined
  return { tenant: checkId('authenticate', 'tenant', tenant), userId }
}

function bySecret({ secret, algorithms }: JwtOptions) {
  if (secret === undefined) throw notConfigured('a secret or jwks is required')
  if (algorithms !== undefined) throw notConfigured('algorithms are for jwks; a secret is for HS256')
  const bytes = secretBytes('the secret', secret)
  // Imported once, since that takes as long as to verify; not its promise, which would belong to
  // one request.
  let known: CryptoKey | undefined
  const key = async (): Promise<CryptoKey> => {
    known ??= await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [
      'verify',
    ])
    return known
  }
  return { key, algorithms: ['HS256'] }
}

function byKeySet(options: JwtOptions, jwks: string | URL) {
  if (options.secret !== undefined) throw notConfigured('a secret and jwks exclude each other')
  const { algorithms = ['RS256', 'ES256', 'EdDSA'], timeoutMs = TIMEOUT_MS, clock = webHost.now } = options
  // With HS256 the public key would be taken for the secret, and everybody has that (RFC 8725,
  // section 2.1).
  if (algorithms.length === 0 || !algorithms.every((name) => PUBLIC_KEY.test(name)))
    throw notConfigured('algorithms must be signatures by a public key')
  const url = URL.canParse(jwks) ? new URL(jwks) : undefined
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && isLoopback(url)))
    throw notConfigured('jwks must be an https URL')
  const get: Fetch = options.fetch ?? ((href, init) => fetch(href, init))
  const waitUntil: WaitUntil = options.waitUntil ?? (() => undefined)
  return { key: remoteKeySet({ url, fetch: get, clock, timeoutMs, waitUntil }), algorithms: [...algorithms] }
}

function required(name: string, value: string): string {
  if (typeof value !== 'string' || value === '') throw notConfigured(`${name} is required`)
  return value
}

function tolerance(seconds = TOLERANCE_SECONDS): number {
  if (!(seconds >= 0 && seconds <= MOST_TOLERANCE_SECONDS))
    throw notConfigured(`toleranceSeconds must be 0 to ${MOST_TOLERANCE_SECONDS}`)
  return seconds
}

function notConfigured(reason: string): PlimsollError {
  return new PlimsollError('ERR_NOT_CONFIGURED', `authenticate: ${reason}`)
}
