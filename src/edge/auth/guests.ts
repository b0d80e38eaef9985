import { type JWTPayload, SignJWT } from 'jose'
import { PlimsollError } from '../../ports/errors.ts'
import { checkId } from '../../text/json.ts'
import { checkSettings } from '../check-settings.ts'
import { GUEST_LIFETIME_MS, GUEST_PREFIX } from '../guest.ts'
import type { Authenticate, Principal } from '../principal.ts'
import { bearerToken } from './bearer-token.ts'
import { secretBytes } from './secret.ts'
import { needJose, unauthenticated, verifyToken } from './verify-token.ts'

export interface GuestOptions {
  /**
   * At least 32 bytes; those of a text are its UTF-8. It may be the secret of users' tokens: the
   * key is derived from it.
   */
  readonly secret: string | Uint8Array
  /**
   * How long a guest stays the same. Default 30 days, at least a minute, at most 400 days. The
   * users' objects need the same, as `guestLifetimeMs`.
   */
  readonly lifetimeMs?: number
  /** Unix milliseconds. */
  readonly clock: () => number
  /** Contract: a fresh UUID, unique for ever. */
  readonly newId: () => string
}

export interface GuestToken {
  readonly token: string
  /** `guest_` and a UUID. */
  readonly userId: string
  /** Unix milliseconds, a whole second. */
  readonly expiresAt: number
}

/** People who have not signed in. The holder of a token is that guest; nobody else can be. */
export interface GuestTokens {
  /** A new guest, of a tenant where one is given. @throws ERR_INVALID_ARGUMENT */
  issue(tenant?: string): Promise<GuestToken>
  /** @throws ERR_UNAUTHENTICATED */
  verify(token: string): Promise<Principal>
  readonly authenticate: Authenticate
}

const DAY_MS = 86_400_000
const LEAST_LIFETIME_MS = 60_000
const MOST_LIFETIME_MS = 400 * DAY_MS

/** Issuer and audience at once: the edge talks to itself. */
const ISSUER = 'plimsoll-guest'
const ALGORITHM = 'HS256'
/** RFC 8725, section 3.11: tokens of different kinds are told apart by their type too. */
const TYPE = 'plimsoll-guest+jwt'
/** Binds the derived key to its one use; a new format of token gets a new label. */
const LABEL = 'plimsoll guest tokens v1'

/**
 * Issues and verifies the tokens of guests. Their key is derived from the secret, so that no token
 * of a guest's is ever one of a user's, or the reverse, though both use the same secret.
 *
 * @throws ERR_NOT_CONFIGURED where an option is not known, the secret is too short, the lifetime is
 * out of bounds, or `jose` is older than 6
 */
export function guestTokens(options: GuestOptions): GuestTokens {
  needJose()
  checkSettings('guestTokens', options, ['secret', 'lifetimeMs', 'clock', 'newId'])
  const { secret, lifetimeMs = GUEST_LIFETIME_MS, clock, newId } = options
  const bytes = secretBytes("the guests' secret", secret)
  if (!(lifetimeMs >= LEAST_LIFETIME_MS && lifetimeMs <= MOST_LIFETIME_MS))
    throw new PlimsollError(
      'ERR_NOT_CONFIGURED',
      'authenticate: lifetimeMs must be between a minute and 400 days',
    )

  // Kept once it is there; not its promise, which would belong to one request.
  let known: CryptoKey | undefined
  const key = async () => {
    known ??= await derived(bytes)
    return known
  }

  const verify = async (token: string): Promise<Principal> => {
    const rules = { issuer: ISSUER, audience: ISSUER, typ: TYPE, algorithms: [ALGORITHM] }
    return verifyToken(token, await key(), { ...rules, currentDate: new Date(clock()) }, guestOf)
  }

  return {
    async issue(tenant) {
      const now = Math.floor(clock() / 1000)
      const expires = now + Math.floor(lifetimeMs / 1000)
      const userId = `${GUEST_PREFIX}${newId()}`
      const claims = tenant === undefined ? {} : { tenant: checkId('issue', 'tenant', tenant) }
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
        .setIssuer(ISSUER)
        .setAudience(ISSUER)
        .setSubject(userId)
        .setIssuedAt(now)
        .setExpirationTime(expires)
        .sign(await key())
      return { token, userId, expiresAt: expires * 1000 }
    },
    verify,
    async authenticate(request) {
      const token = bearerToken(request)
      return token === undefined ? undefined : verify(token)
    },
  }
}

function guestOf(claims: JWTPayload): Principal {
  const userId = checkId('authenticate', 'sub', claims.sub)
  if (!userId.startsWith(GUEST_PREFIX)) throw unauthenticated('sub')
  if (claims.tenant === undefined) return { userId, isGuest: true }
  return { tenant: checkId('authenticate', 'tenant', claims.tenant), userId, isGuest: true }
}

/**
 * RFC 5869. The salt is empty, since the secret is random and no other is at hand that both sides
 * know.
 */
async function derived(secret: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey'])
  const info = new TextEncoder().encode(LABEL)
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info }
  const hmac = { name: 'HMAC', hash: 'SHA-256', length: 256 }
  return crypto.subtle.deriveKey(hkdf, material, hmac, false, ['sign', 'verify'])
}
