import * as jose from 'jose'
import {
  type CryptoKey,
  type JWTHeaderParameters,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import { needPeer } from '../../ports/peer.ts'
import type { Principal } from '../principal.ts'

/** By how much the clocks of who signs and who verifies may differ. */
export const TOLERANCE_SECONDS = 5

/** Longest token that is looked at. */
const MOST_CHARACTERS = 8192

/** What a token must be, beside signed by the key. */
export interface TokenRules extends JWTVerifyOptions {
  readonly issuer: string | string[]
  readonly audience: string | string[]
  readonly algorithms: string[]
  readonly currentDate: Date
}

/**
 * @throws ERR_NOT_CONFIGURED: a `jose` before 6, which says nothing of its version but lacks an
 * export
 */
export function needJose(): void {
  needPeer('plimsoll/hono', '`jose` 6', jose.customFetch)
}

/**
 * Who a token speaks for, and until when. It must hold a finite `exp`, and what the rules say.
 * `principalOf` checks `sub` and the header's `typ`, and may throw anything to refuse them.
 *
 * @throws ERR_UNAUTHENTICATED, and the `ERR_OVERLOADED` of a key that cannot be had now
 */
export async function verifyToken(
  token: string,
  key: CryptoKey | Uint8Array | JWTVerifyGetKey,
  rules: TokenRules,
  principalOf: (claims: JWTPayload, header: JWTHeaderParameters) => Principal,
): Promise<Principal> {
  if (token.length > MOST_CHARACTERS) throw unauthenticated('too long')
  try {
    const { payload, protectedHeader } = await jwtVerify(token, key, {
      clockTolerance: TOLERANCE_SECONDS,
      ...rules,
    })
    // Required; and JSON reads 1e999 as Infinity: a number, and a date that never comes.
    const { exp = Number.NaN } = payload
    if (!Number.isFinite(exp)) throw unauthenticated('exp')
    return { ...principalOf(payload, protectedHeader), expiresAt: exp * 1000 }
  } catch (error) {
    if (isPlimsollError(error, 'ERR_OVERLOADED')) throw error
    throw unauthenticated(reasonOf(error))
  }
}

/** The one refusal of a token: it says the same whatever is wrong, and nothing of the token. */
export function unauthenticated(cause: string): PlimsollError {
  return new PlimsollError('ERR_UNAUTHENTICATED', 'authenticate: the token is not valid', { cause })
}

/**
 * For the edge's own log: the code of the library's error and the name of a claim that it was asked
 * to check. Never the error itself, which holds the claims.
 */
function reasonOf(error: unknown): string {
  const { code, name, claim } = error as { code?: unknown; name?: unknown; claim?: unknown }
  return [code ?? name, claim].filter((part) => typeof part === 'string').join(' ')
}
