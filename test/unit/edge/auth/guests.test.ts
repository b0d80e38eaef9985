import fc from 'fast-check'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { firstOf } from '../../../../src/edge/auth/first-of.ts'
import { guestTokens } from '../../../../src/edge/auth/guests.ts'
import { jwtAuthenticator } from '../../../../src/edge/auth/jwt.ts'
import { webHost } from '../../../../src/platform/web.ts'
import { PlimsollError } from '../../../../src/ports/errors.ts'
import { codePoint } from '../../../everywhere/code-point.ts'
import { runs } from '../../support/runs.ts'
import { bytes, NOW, options, outcome, request, SECRET, signed } from './support.ts'

const refused = { code: 'ERR_UNAUTHENTICATED', message: 'authenticate: the token is not valid' }
const ISSUER = 'plimsoll-guest'
const DAY_MS = 86_400_000

function guests(changes: object = {}) {
  let made = 0
  return guestTokens({ secret: SECRET, clock: () => NOW, newId: () => `id-${++made}`, ...changes })
}

/** The key of guests' tokens, as RFC 5869 gives it for the documented label. */
async function derived(secret: string): Promise<Uint8Array> {
  const material = await crypto.subtle.importKey('raw', bytes(secret), 'HKDF', false, ['deriveBits'])
  const info = bytes('plimsoll guest tokens v1')
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info }
  return new Uint8Array(await crypto.subtle.deriveBits(hkdf, material, 256))
}

/** A token that only somebody with the derived key can make. */
async function forged(changes: Record<string, unknown>, typ = 'plimsoll-guest+jwt'): Promise<string> {
  const claims = { iss: ISSUER, aud: ISSUER, sub: 'guest_1', exp: NOW / 1000 + 60, ...changes }
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ }).sign(await derived(SECRET))
}

describe('a guest', () => {
  it('is somebody new with every token, and the same with the same token', async () => {
    const { issue, verify, authenticate } = guests()
    const one = await issue()
    const two = await issue()
    expect([one.userId, two.userId]).toEqual(['guest_id-1', 'guest_id-2'])
    expect(await verify(one.token)).toEqual({
      userId: 'guest_id-1',
      isGuest: true,
      expiresAt: expect.any(Number),
    })
    expect(await authenticate(request(two.token))).toEqual({
      userId: 'guest_id-2',
      isGuest: true,
      expiresAt: expect.any(Number),
    })
    expect(await authenticate(request())).toBeUndefined()
  })

  it('is of the tenant that was given', async () => {
    const { issue, verify } = guests()
    const { token } = await issue('acme')
    expect(await verify(token)).toEqual({
      tenant: 'acme',
      userId: 'guest_id-1',
      isGuest: true,
      expiresAt: expect.any(Number),
    })
    for (const tenant of ['', 'x'.repeat(257), '\ud800'])
      await expect(issue(tenant)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  })

  it('lasts 30 days, or as long as was set, and says until when', async () => {
    let now = NOW + 999
    const clock = () => now
    for (const [lifetimeMs, days] of [
      [undefined, 30],
      [DAY_MS, 1],
    ] as const) {
      now = NOW + 999
      const { issue, verify } = guests({ clock, ...(lifetimeMs && { lifetimeMs }) })
      const { token, expiresAt } = await issue()
      expect(expiresAt).toBe(NOW + days * DAY_MS)
      now = expiresAt + 4999
      expect(await verify(token)).toMatchObject({ isGuest: true })
      now = expiresAt + 5000
      await expect(verify(token)).rejects.toMatchObject(refused)
    }
  })

  it('holds at every edge with the same secret, and at no other', async () => {
    const { token } = await guests().issue()
    expect(await guests().verify(token)).toMatchObject({ isGuest: true })
    await expect(guests({ secret: `${SECRET}!` }).verify(token)).rejects.toMatchObject(refused)
  })

  it('has a token that says nothing but who it is', async () => {
    const { token } = await guestTokens({ secret: SECRET, newId: webHost.newId, clock: webHost.now }).issue()
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'plimsoll-guest+jwt' })
    expect(Object.keys(decodeJwt(token)).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'sub'])
    expect(decodeJwt(token).sub).toMatch(/^guest_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })

  it('needs a secret of 32 bytes and a lifetime of a minute to 400 days', () => {
    for (const bad of [
      { secret: 'x'.repeat(31) },
      { secret: 'x'.repeat(64) },
      { lifetimeMs: 59_999 },
      { lifetimeMs: 401 * DAY_MS },
      { lifetimeMs: Number.NaN },
    ])
      expect(() => guests(bad)).toThrow(expect.objectContaining({ code: 'ERR_NOT_CONFIGURED' }))
  })

  it.each([
    ['has the id of a user', { sub: 'ada' }],
    ['has no id', { sub: undefined }],
    ['has too long an id', { sub: `guest_${'x'.repeat(256)}` }],
    ['has no end', { exp: undefined }],
    ['has a tenant that is no text', { tenant: 7 }],
    ['has an empty tenant', { tenant: '' }],
    ['is for another audience', { aud: 'https://memory.example' }],
    ['is of another issuer', { iss: 'https://issuer.example' }],
  ])('is refused where the token %s, though the key is right', async (_, changes) => {
    await expect(guests().verify(await forged(changes))).rejects.toMatchObject(refused)
    expect(await guests().verify(await forged({}))).toEqual({
      userId: 'guest_1',
      isGuest: true,
      expiresAt: expect.any(Number),
    })
  })

  it('is refused where the token is of another type', async () => {
    await expect(guests().verify(await forged({}, 'JWT'))).rejects.toMatchObject(refused)
  })
})

describe('guests and users with one secret', () => {
  const users = jwtAuthenticator({ ...options, secret: SECRET })
  /** Even an app that named its own issuer like ours. */
  const namesakes = jwtAuthenticator({ ...options, issuer: ISSUER, audience: ISSUER, secret: SECRET })

  it('are never taken for each other', async () => {
    const { issue, verify } = guests()
    const { token } = await issue()
    for (const authenticate of [users, namesakes])
      expect(await outcome(authenticate, token)).toMatchObject(refused)
    for (const claims of [{}, { iss: ISSUER, aud: ISSUER }, { iss: ISSUER, aud: ISSUER, sub: 'guest_1' }])
      for (const header of [{ alg: 'HS256' }, { alg: 'HS256', typ: 'plimsoll-guest+jwt' }])
        await expect(verify(await signed(claims, bytes(SECRET), header))).rejects.toMatchObject(refused)
  })

  it('are never the same person, whatever subject an issuer gives', async () => {
    const { issue } = guests()
    const { userId } = await issue()
    expect(await outcome(users, await signed({ sub: userId }))).toMatchObject(refused)
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: codePoint, maxLength: 40 }), async (end) => {
        expect(await outcome(users, await signed({ sub: `guest_${end}` }))).toMatchObject(refused)
      }),
      runs(50),
    )
  })

  it('come through one door', async () => {
    const { issue, authenticate } = guests()
    const door = firstOf(users, authenticate)
    expect(await door(request(await signed()))).toEqual({ userId: 'ada', expiresAt: expect.any(Number) })
    expect(await door(request((await issue()).token))).toEqual({
      userId: 'guest_id-1',
      isGuest: true,
      expiresAt: expect.any(Number),
    })
    expect(await door(request())).toBeUndefined()
    expect(await outcome(door, await signed({ exp: 1 }))).toMatchObject(refused)
  })
})

describe('the first of several authenticators', () => {
  const nobody = async () => undefined
  const ada = async () => ({ userId: 'ada' })
  const bob = async () => ({ userId: 'bob' })
  const throwing = (error: unknown) => () => Promise.reject(error)
  const unauthenticated = throwing(new PlimsollError('ERR_UNAUTHENTICATED', 'first'))
  const overloaded = throwing(new PlimsollError('ERR_OVERLOADED', 'keys', { retryAfter: 7 }))

  it('that knows the caller decides', async () => {
    expect(await firstOf(nobody, ada, bob)(request())).toEqual({ userId: 'ada' })
    expect(await firstOf(unauthenticated, overloaded, bob)(request())).toEqual({ userId: 'bob' })
  })

  it('is never asked for after one that knew', async () => {
    const unasked = () => expect.unreachable()
    expect(await firstOf(ada, unasked)(request())).toEqual({ userId: 'ada' })
  })

  it('lets nobody in where none knows, and tells a refusal from what could not be told', async () => {
    expect(await firstOf()(request())).toBeUndefined()
    expect(await firstOf(nobody, nobody)(request())).toBeUndefined()
    const later = throwing(new PlimsollError('ERR_UNAUTHENTICATED', 'later'))
    await expect(firstOf(nobody, unauthenticated, later)(request())).rejects.toThrow('first')
    await expect(firstOf(unauthenticated, overloaded)(request())).rejects.toMatchObject({ retryAfter: 7 })
    await expect(firstOf(unauthenticated, throwing(new TypeError('bug')))(request())).rejects.toThrow(
      TypeError,
    )
  })
})
