import { Hono } from 'hono'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { crossOrigin } from '../../../src/edge/auth/cors.ts'
import { authenticatorOf } from '../../../src/edge/auth/from-env.ts'
import { securityHeaders } from '../../../src/edge/auth/security-headers.ts'
import { SOCKET_PROTOCOL } from '../../../src/edge/auth/socket-token.ts'

const OWN = 'https://memory.example'
const LISTED = 'https://app.example.com'
const settings = {
  JWT_ISSUER: 'https://issuer.example',
  JWT_AUDIENCE: OWN,
  GUEST_SECRET: 'a secret of this test, of 32 bytes or more',
}

async function user(alg: string) {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const token = await new SignJWT({ iss: settings.JWT_ISSUER, aud: OWN, sub: 'ada' })
    .setProtectedHeader({ alg, kid: 'one' })
    .setExpirationTime('1 minute')
    .sign(privateKey)
  return { token, keys: [{ ...(await exportJWK(publicKey)), kid: 'one' }] }
}

const request = (token: string) => new Request(OWN, { headers: { Authorization: `Bearer ${token}` } })

describe('in the Workers runtime', () => {
  it.each(['RS256', 'ES256', 'EdDSA'])('users are known by %s, guests by their key', async (alg) => {
    const { token, keys } = await user(alg)
    const { authenticate, guests } = authenticatorOf(
      { ...settings, JWT_JWKS_URL: `${settings.JWT_ISSUER}/jwks` },
      { fetch: async () => Response.json({ keys }) },
    )
    expect(await authenticate(request(token))).toEqual({ userId: 'ada', expiresAt: expect.any(Number) })
    const guest = await guests?.issue()
    expect(await authenticate(request(guest?.token ?? ''))).toEqual({
      userId: guest?.userId,
      isGuest: true,
      expiresAt: guest?.expiresAt,
    })
  })

  const app = new Hono()
  app.use(securityHeaders())
  app.use(crossOrigin({ origins: [LISTED] }))
  app.get('/socket', () => {
    const { 0: client, 1: server } = new WebSocketPair()
    server.accept()
    const headers = { 'Sec-WebSocket-Protocol': SOCKET_PROTOCOL }
    return new Response(null, { status: 101, webSocket: client, headers })
  })
  // Of a fetch: its headers cannot be changed.
  app.get('/fetched', () => fetch('data:application/json,{}'))

  it('a WebSocket gets through both middlewares', async () => {
    const headers = { Upgrade: 'websocket', Origin: LISTED }
    const response = await app.request(`${OWN}/socket`, { headers })
    expect([response.status, [...response.headers]]).toEqual([
      101,
      [['sec-websocket-protocol', SOCKET_PROTOCOL]],
    ])
    expect(response.webSocket).not.toBeNull()
    response.webSocket?.accept()
    response.webSocket?.close()
  })

  it('an answer whose headers cannot be changed gets them all the same', async () => {
    const { headers } = await app.request(`${OWN}/fetched`, { headers: { Origin: LISTED } })
    expect(headers.get('Access-Control-Allow-Origin')).toBe(LISTED)
    expect(headers.get('Cache-Control')).toBe('no-store')
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
  })
})
