import { SignJWT } from 'jose'
import { edgeVariables } from '../../edge-variables.ts'

export const TENANT = 'acme'

/** A token that the edges under test take, for an hour. */
export function tokenOf(userId: string, tenant = TENANT): Promise<string> {
  return new SignJWT({ [edgeVariables.JWT_TENANT_CLAIM]: tenant })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(edgeVariables.JWT_ISSUER)
    .setAudience(edgeVariables.JWT_AUDIENCE)
    .setSubject(userId)
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(edgeVariables.JWT_SECRET))
}
