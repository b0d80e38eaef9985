import { SignJWT } from 'jose'
import { EdgeProcess } from '../../test/e2e/support/edge-process.ts'
import { edgeVariables } from '../../test/edge-variables.ts'
import type { HomeOrder } from './orders.ts'

/** Longer than any bench. */
const TOKEN_LIFETIME = '1d'
const USER = 'ada'

/** The edge in a real `wrangler dev`, for pages of an origin. */
export async function withEdge<Result>(
  origin: string,
  work: (home: HomeOrder) => Promise<Result>,
): Promise<Result> {
  const edge = await EdgeProcess.start({ ORIGINS: origin })
  try {
    const home: HomeOrder = { url: edge.url, token: await tokenOf(USER), session: 'pokes', hints: 'socket' }
    // Sockets are taken by sessions that are there.
    const { ok, status } = await fetch(`${home.url}/v1/sessions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${home.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ session_id: home.session }),
    })
    if (!ok) throw new Error(`the edge made no session: ${status}`)
    return await work(home)
  } finally {
    await edge.stop()
  }
}

function tokenOf(user: string): Promise<string> {
  return new SignJWT({ tenant: 'acme' })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(edgeVariables.JWT_ISSUER)
    .setAudience(edgeVariables.JWT_AUDIENCE)
    .setSubject(user)
    .setExpirationTime(TOKEN_LIFETIME)
    .sign(new TextEncoder().encode(edgeVariables.JWT_SECRET))
}
