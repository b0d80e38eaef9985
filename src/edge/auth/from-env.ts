import { webHost } from '../../platform/web.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Authenticate } from '../principal.ts'
import { developmentAuthenticator } from './development.ts'
import { firstOf } from './first-of.ts'
import { type GuestTokens, guestTokens } from './guests.ts'
import { jwtAuthenticator } from './jwt.ts'
import { type CheckOperator, operatorBySecret } from './operator.ts'
import { LOOPBACK_ORIGINS } from './origins.ts'
import type { Fetch, WaitUntil } from './remote-key-set.ts'

/** Variables and secrets of a Worker. An empty one counts as absent. */
export interface AuthSettings {
  /** `development`: everybody on this machine is the user `local`. Not beside `JWT_…`. */
  readonly AUTH?: string | undefined
  /**
   * With `AUTH=development`: what a request must have in the header `Plimsoll-Development`, so that
   * only what `npm start` listens with is answered. Default: nothing.
   */
  readonly DEVELOPMENT_KEY?: string | undefined
  /** Of tokens by HS256, at least 32 bytes. Not beside `JWT_JWKS_URL`. */
  readonly JWT_SECRET?: string | undefined
  readonly JWT_JWKS_URL?: string | undefined
  readonly JWT_ISSUER?: string | undefined
  readonly JWT_AUDIENCE?: string | undefined
  readonly JWT_TENANT_CLAIM?: string | undefined
  /** The `typ` that tokens must have. Default: none, `JWT` or `at+jwt`. */
  readonly JWT_TYP?: string | undefined
  /** Seconds after its `iat` for which a token holds at most. Default: until its `exp`. */
  readonly JWT_MAX_AGE?: string | undefined
  /** Lets guests in. At least 32 bytes; may be the same as `JWT_SECRET`. */
  readonly GUEST_SECRET?: string | undefined
  /** Lets an operator in, as a bearer token. At least 32 bytes. */
  readonly OPERATOR_SECRET?: string | undefined
  /**
   * Origins whose pages may call, parted by spaces or commas. Default: only the edge's own. With
   * `AUTH=development` those of loopback hosts too, at any port.
   */
  readonly ORIGINS?: string | undefined
}

export interface AuthPlatform {
  /** Unix milliseconds. Default the platform's. */
  readonly clock?: () => number
  /** Default UUIDv7. */
  readonly newId?: () => string
  /** Default the platform's. */
  readonly fetch?: Fetch
  /** As {@link jwtAuthenticator} takes it: on Workers, `waitUntil` of `cloudflare:workers`. */
  readonly waitUntil?: WaitUntil
}

export interface Auth {
  readonly authenticate: Authenticate
  /** Absent: guests are not let in. */
  readonly guests?: GuestTokens
  /** Absent: there is no operator. */
  readonly operator?: CheckOperator
  /** Pages that may call, as `createApp` takes them. Absent: those of the edge's own origin. */
  readonly origins?: readonly string[]
}

/**
 * How a Worker authenticates, by its settings. Build it once for an isolate: the keys of
 * `JWT_JWKS_URL` are kept in it.
 *
 * It never throws. Where settings are missing, contradict each other or are too weak, every call of
 * what it gives throws ERR_NOT_CONFIGURED: an edge that is half configured lets nobody in.
 */
export function authenticatorOf(settings: AuthSettings, platform: AuthPlatform = {}): Auth {
  // Where nobody is let in, a page is to read why.
  const origins = originsOf(settings)
  try {
    return { ...configured(settings, platform), ...origins }
  } catch (error) {
    const refuse = async (): Promise<never> => {
      throw error
    }
    const guests = { issue: refuse, verify: refuse, authenticate: refuse }
    return { authenticate: refuse, guests, operator: refuse, ...origins }
  }
}

function originsOf({ AUTH, ORIGINS = '' }: AuthSettings): Pick<Auth, 'origins'> {
  const listed = ORIGINS.split(/[\s,]+/).filter((origin) => origin !== '')
  const origins = AUTH === 'development' ? [...LOOPBACK_ORIGINS, ...listed] : listed
  return origins.length > 0 ? { origins } : {}
}

function configured(settings: AuthSettings, platform: AuthPlatform): Auth {
  const { clock = webHost.now, newId = webHost.newId } = platform
  const users = usersOf(settings, platform)
  const operator = {
    ...(settings.OPERATOR_SECRET && { operator: operatorBySecret(settings.OPERATOR_SECRET) }),
  }
  const secret = settings.GUEST_SECRET
  if (secret) {
    const guests = guestTokens({ secret, clock, newId })
    // Development knows everybody, so it comes last.
    const doors = settings.AUTH ? [guests.authenticate, users] : [users, guests.authenticate]
    return { authenticate: firstOf(...doors.filter((door) => door !== undefined)), guests, ...operator }
  }
  if (users) return { authenticate: users, ...operator }
  throw notConfigured('one of JWT_SECRET, JWT_JWKS_URL, GUEST_SECRET and AUTH=development is required')
}

function usersOf(
  settings: AuthSettings,
  { clock, fetch, waitUntil }: AuthPlatform,
): Authenticate | undefined {
  const { AUTH, JWT_SECRET, JWT_JWKS_URL, JWT_ISSUER, JWT_AUDIENCE } = settings
  const { JWT_TENANT_CLAIM, JWT_TYP, JWT_MAX_AGE } = settings
  const required = [JWT_SECRET, JWT_JWKS_URL, JWT_ISSUER, JWT_AUDIENCE]
  const hasJwt = [...required, JWT_TENANT_CLAIM, JWT_TYP, JWT_MAX_AGE].some(Boolean)
  if (AUTH) {
    if (AUTH !== 'development') throw notConfigured('AUTH can be development alone')
    if (hasJwt) throw notConfigured('AUTH=development and JWT_… exclude each other')
    return developmentAuthenticator(settings.DEVELOPMENT_KEY)
  }
  if (!hasJwt) return undefined
  return jwtAuthenticator({
    ...(JWT_SECRET && { secret: JWT_SECRET }),
    ...(JWT_JWKS_URL && { jwks: JWT_JWKS_URL }),
    issuer: JWT_ISSUER ?? '',
    audience: JWT_AUDIENCE ?? '',
    ...(JWT_TENANT_CLAIM && { tenantClaim: JWT_TENANT_CLAIM }),
    ...(JWT_TYP && { typ: JWT_TYP }),
    ...(JWT_MAX_AGE && { maxTokenAge: Number(JWT_MAX_AGE) }),
    ...(fetch && { fetch }),
    ...(clock && { clock }),
    ...(waitUntil && { waitUntil }),
  })
}

function notConfigured(reason: string): PlimsollError {
  return new PlimsollError('ERR_NOT_CONFIGURED', `authenticate: ${reason}`)
}
