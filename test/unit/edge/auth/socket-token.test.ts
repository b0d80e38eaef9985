import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bearerToken } from '../../../../src/edge/auth/bearer-token.ts'
import { jwtAuthenticator } from '../../../../src/edge/auth/jwt.ts'
import { isUpgrade, SOCKET_PROTOCOL, socketToken } from '../../../../src/edge/auth/socket-token.ts'
import { runs } from '../../support/runs.ts'
import { options, outcome, SECRET, signed } from './support.ts'

const upgrade = (protocols?: string, headers: Record<string, string> = {}, query = ''): Request =>
  new Request(`https://memory.example/v1/socket${query}`, {
    headers: {
      Upgrade: 'websocket',
      ...(protocols !== undefined && { 'Sec-WebSocket-Protocol': protocols }),
      ...headers,
    },
  })

const authenticate = jwtAuthenticator({ ...options, secret: SECRET })
const token = await signed()

describe("the token of a WebSocket's upgrade", () => {
  it('is among its subprotocols', async () => {
    for (const protocols of [
      `plimsoll.v1, bearer.${token}`,
      `plimsoll.v1,bearer.${token}`,
      `other, bearer.${token}, plimsoll.v1`,
    ])
      expect(await authenticate(upgrade(protocols))).toEqual({ userId: 'ada', expiresAt: expect.any(Number) })
    expect(SOCKET_PROTOCOL).toBe('plimsoll.v1')
  })

  it('is in the header, where the client can send one', async () => {
    const headers = { Authorization: `Bearer ${token}` }
    expect(await authenticate(upgrade('plimsoll.v1', headers))).toEqual({
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
    expect(
      await outcome(authenticate, upgrade(`plimsoll.v1, bearer.${token}`, { Authorization: 'Bearer x' })),
    ).toMatchObject({ code: 'ERR_UNAUTHENTICATED' })
  })

  it('is never taken from the URL, from a cookie, from another protocol or from another request', async () => {
    for (const request of [
      upgrade('plimsoll.v1', { Cookie: `token=${token}` }, `?token=${token}&access_token=${token}`),
      upgrade(`bearer.${token}`),
      upgrade(`plimsoll.v2, bearer.${token}`),
      upgrade(`PLIMSOLL.V1, bearer.${token}`),
      upgrade(`plimsoll.v1, ${token}`),
      upgrade(),
      upgrade(`plimsoll.v1, bearer.${token}`, { Upgrade: 'h2c' }),
    ])
      expect(await authenticate(request)).toBeUndefined()
  })

  it('is one', async () => {
    const several = upgrade(`plimsoll.v1, bearer.${token}, bearer.${token}`)
    expect(await outcome(authenticate, several)).toMatchObject({ code: 'ERR_UNAUTHENTICATED' })
    expect(await outcome(authenticate, upgrade('plimsoll.v1, bearer.'))).toMatchObject({
      code: 'ERR_UNAUTHENTICATED',
    })
  })

  it('is read from any header in linear time, and is part of it', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ -~]*$/), (header) => {
        const found = socketToken(upgrade(`plimsoll.v1,bearer.x${header.replace(/bearer\./g, '')}`))
        expect(found?.startsWith('x')).toBe(true)
      }),
      runs(200),
    )
    // In time that grows with the square, each of these would take longer than a test may.
    for (const sign of [' ', '=', 'a=']) {
      const header = `Bearer ${sign[0]?.repeat(1_000_000)}${sign.slice(1)}!`
      expect(() =>
        bearerToken(new Request('https://memory.example', { headers: { Authorization: header } })),
      ).toThrow()
    }
  })

  it('is asked for of upgrades alone, in any case', () => {
    expect(isUpgrade(upgrade(undefined, { Upgrade: 'WebSocket' }))).toBe(true)
    expect(isUpgrade(new Request('https://memory.example'))).toBe(false)
  })
})
