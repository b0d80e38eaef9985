import { type JWTHeaderParameters, SignJWT } from 'jose'
import type { JwtOptions } from '../../../../src/edge/auth/jwt.ts'
import type { Authenticate, Principal } from '../../../../src/edge/principal.ts'
import { isPlimsollError, type PlimsollError } from '../../../../src/ports/errors.ts'

export const NOW = Date.UTC(2027, 0, 15, 12)
export const SECONDS = NOW / 1000
export const SECRET = 'a secret of the tests, longer than 32 bytes'
export const ISSUER = 'https://issuer.example'
export const AUDIENCE = 'https://memory.example'

export const options = { issuer: ISSUER, audience: AUDIENCE, clock: () => NOW } satisfies Partial<JwtOptions>

export const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'ada', exp: SECONDS + 60 }

export const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

/** A token of any claims, `undefined` ones left out. */
export function signed(
  changes: object = {},
  key: Parameters<SignJWT['sign']>[0] = bytes(SECRET),
  header: JWTHeaderParameters = { alg: 'HS256' },
): Promise<string> {
  const payload = JSON.parse(JSON.stringify({ ...claims, ...changes })) as Record<string, unknown>
  return new SignJWT(payload).setProtectedHeader(header).sign(key)
}

/** A token of a header and a payload that no library would sign: the text of the JSON is given. */
export async function signedText(
  payload: string | Uint8Array,
  header: object = { alg: 'HS256' },
  secret = SECRET,
): Promise<string> {
  const text = `${base64url(JSON.stringify(header))}.${base64url(payload)}`
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes(secret), hmac, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, bytes(text))
  return `${text}.${base64url(new Uint8Array(signature))}`
}

export const base64url = (text: string | Uint8Array): string =>
  Buffer.from(typeof text === 'string' ? bytes(text) : text).toString('base64url')

export function request(token?: string, headers: Record<string, string> = {}): Request {
  const authorization = token === undefined ? undefined : { Authorization: `Bearer ${token}` }
  return new Request('https://memory.example/v1/sessions', { headers: { ...authorization, ...headers } })
}

/** What an authenticator makes of a token: the principal, or the error with its code. */
export async function outcome(
  authenticate: Authenticate,
  token: string | Request,
): Promise<Principal | PlimsollError | undefined> {
  try {
    return await authenticate(typeof token === 'string' ? request(token) : token)
  } catch (error) {
    if (isPlimsollError(error)) return error
    throw error
  }
}

/** Everything of an error that anybody could come to see, whatever it is printed by. */
export function printed(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error)
  return `${error.message}\n${error.stack}\n${JSON.stringify(error)}\n${String(error.cause)}\n${JSON.stringify(error.cause)}`
}
