import { PlimsollError } from '../../ports/errors.ts'
import { bearerToken } from './bearer-token.ts'
import { secretBytes } from './secret.ts'
import { unauthenticated } from './verify-token.ts'

/** Contract: resolves where an operator asks. @throws ERR_UNAUTHENTICATED */
export type CheckOperator = (request: Request) => Promise<void>

/** What can stand in `Authorization: Bearer …` (RFC 6750, section 2.1). */
const TOKEN = /^[\w.~+/-]+=*$/

/**
 * Knows an operator by a secret of the deployment's, as a bearer token: no user's token is one, and
 * it is nobody's user.
 *
 * @throws ERR_NOT_CONFIGURED: it is weak, or has characters that a bearer token cannot have
 */
export function operatorBySecret(secret: string): CheckOperator {
  const bytes = secretBytes("the operator's secret", secret)
  if (!TOKEN.test(secret))
    throw new PlimsollError(
      'ERR_NOT_CONFIGURED',
      "authenticate: the operator's secret must be of letters, digits and -._~+/, for a header to hold it",
    )
  return async function checkOperator(request) {
    const token = bearerToken(request)
    if (token === undefined) throw new PlimsollError('ERR_UNAUTHENTICATED', 'the request: no token')
    if (!(await isSame(bytes, Uint8Array.from(new TextEncoder().encode(token)))))
      throw unauthenticated('operator')
  }
}

/** By hashes of one length, to their ends: how long it takes says nothing of the secret. */
async function isSame(one: Uint8Array<ArrayBuffer>, other: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const [left, right] = await Promise.all(
    [one, other].map(async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))),
  )
  let difference = 0
  for (const [at, byte] of (left as Uint8Array).entries()) difference |= byte ^ (right?.[at] ?? 0)
  return difference === 0
}
