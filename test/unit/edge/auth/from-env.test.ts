import { exportJWK, generateKeyPair } from 'jose'
import { describe, expect, it } from 'vitest'
import { type AuthSettings, authenticatorOf } from '../../../../src/edge/auth/from-env.ts'
import { LOOPBACK_ORIGINS } from '../../../../src/edge/auth/origins.ts'
import { AUDIENCE, ISSUER, NOW, outcome, request, SECONDS, SECRET, signed } from './support.ts'

const platform = { clock: () => NOW, newId: () => 'id' }
const jwt = { JWT_SECRET: SECRET, JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE }
const notConfigured = { code: 'ERR_NOT_CONFIGURED' }
const at = (url: string, token?: string): Request =>
  new Request(url, token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } })

describe('an edge without settings', () => {
  it('lets nobody in, and says what it needs', async () => {
    const { authenticate, guests } = authenticatorOf({}, platform)
    await expect(guests?.issue()).rejects.toMatchObject(notConfigured)
    for (const call of [request(), request(await signed()), at('http://localhost/')])
      await expect(authenticate(call)).rejects.toMatchObject({
        ...notConfigured,
        message:
          'authenticate: one of JWT_SECRET, JWT_JWKS_URL, GUEST_SECRET and AUTH=development is required',
      })
  })

  const bad: { readonly [what: string]: AuthSettings } = {
    'empty settings': { JWT_SECRET: '', GUEST_SECRET: '', AUTH: '' },
    'a short secret': { ...jwt, JWT_SECRET: 'short' },
    'a secret of one character': { ...jwt, JWT_SECRET: 'x'.repeat(64) },
    'an age that is no number': { ...jwt, JWT_MAX_AGE: 'a day' },
    'a type without users': { GUEST_SECRET: SECRET, JWT_TYP: 'at+jwt' },
    'no issuer': { ...jwt, JWT_ISSUER: undefined },
    'no audience': { ...jwt, JWT_AUDIENCE: '' },
    'an issuer without keys': { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE },
    'an issuer without keys, and guests': {
      JWT_ISSUER: ISSUER,
      JWT_AUDIENCE: AUDIENCE,
      GUEST_SECRET: SECRET,
    },
    'secret and keys': { ...jwt, JWT_JWKS_URL: `${ISSUER}/jwks` },
    'keys by http': { ...jwt, JWT_SECRET: '', JWT_JWKS_URL: 'http://issuer.example/jwks' },
    "a short guests' secret": { ...jwt, GUEST_SECRET: 'short' },
    'another word for AUTH': { AUTH: 'none' },
    'another word for AUTH, beside users': { ...jwt, AUTH: 'none' },
    'development beside users': { ...jwt, AUTH: 'development' },
  }
  it.each(Object.entries(bad))('is one with %s', async (_, settings) => {
    const { authenticate, guests, operator } = authenticatorOf(settings, platform)
    for (const call of [request(), request(await signed()), at('http://localhost/')])
      for (const door of [authenticate, operator])
        await expect(door?.(call)).rejects.toMatchObject(notConfigured)
    await expect(guests?.issue()).rejects.toMatchObject(notConfigured)
    await expect(authenticate(request())).rejects.not.toThrow(SECRET)
  })
})

describe('the pages that may call', () => {
  it('are those of the list, and in development those of this machine, also where nobody is let in', () => {
    const origins = (settings: AuthSettings) => authenticatorOf(settings, platform).origins
    const listed = ['https://a.example', 'https://b.example']
    const ORIGINS = ` ${listed.join(', ')} `
    expect(origins(jwt)).toBeUndefined()
    expect(origins({ ...jwt, ORIGINS: '' })).toBeUndefined()
    expect(origins({ ...jwt, ORIGINS })).toEqual(listed)
    expect(origins({ ORIGINS })).toEqual(listed)
    expect(origins({ AUTH: 'development', ORIGINS })).toEqual([...LOOPBACK_ORIGINS, ...listed])
    expect(origins({ AUTH: 'development', ...jwt })).toEqual(LOOPBACK_ORIGINS)
    expect(origins({ AUTH: 'none' })).toBeUndefined()
  })
})

describe('an edge by its settings', () => {
  it('knows users by a secret', async () => {
    const { authenticate, guests } = authenticatorOf(jwt, platform)
    expect(guests).toBeUndefined()
    expect(await authenticate(request(await signed()))).toEqual({
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
    expect(await authenticate(request())).toBeUndefined()
    expect(await outcome(authenticate, 'x')).toMatchObject({ code: 'ERR_UNAUTHENTICATED' })
  })

  it('knows users by the keys of an issuer, and their tenant', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    const keys = [{ ...(await exportJWK(publicKey)), kid: 'one' }]
    const waited: Promise<unknown>[] = []
    const { authenticate } = authenticatorOf(
      { ...jwt, JWT_SECRET: '', JWT_JWKS_URL: `${ISSUER}/jwks`, JWT_TENANT_CLAIM: 'org' },
      {
        ...platform,
        fetch: async (url) => Response.json({ keys: url === `${ISSUER}/jwks` ? keys : [] }),
        waitUntil: (promise) => waited.push(promise),
      },
    )
    const token = await signed({ org: 'acme' }, privateKey, { alg: 'ES256', kid: 'one' })
    expect(await authenticate(request(token))).toEqual({
      tenant: 'acme',
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
    expect(waited).toHaveLength(1)
  })

  it('knows users by tokens of a type and of an age', async () => {
    const { authenticate } = authenticatorOf({ ...jwt, JWT_TYP: 'at+jwt', JWT_MAX_AGE: '600' }, platform)
    const header = { alg: 'HS256', typ: 'at+jwt' }
    const token = await signed({ iat: SECONDS }, undefined, header)
    expect(await authenticate(request(token))).toMatchObject({ userId: 'ada' })
    for (const bad of [
      await signed({ iat: SECONDS }),
      await signed({ iat: SECONDS - 700 }, undefined, header),
    ])
      expect(await outcome(authenticate, bad)).toMatchObject({ code: 'ERR_UNAUTHENTICATED' })
  })

  it('knows guests alone', async () => {
    const { authenticate, guests } = authenticatorOf({ GUEST_SECRET: SECRET }, platform)
    const { token } = (await guests?.issue()) ?? { token: '' }
    expect(await authenticate(request(token))).toEqual({
      userId: 'guest_id',
      isGuest: true,
      expiresAt: expect.any(Number),
    })
    expect(await outcome(authenticate, await signed())).toMatchObject({ code: 'ERR_UNAUTHENTICATED' })
  })

  it('knows users and guests', async () => {
    const { authenticate, guests } = authenticatorOf({ ...jwt, GUEST_SECRET: SECRET }, platform)
    const { token } = (await guests?.issue('acme')) ?? { token: '' }
    expect(await authenticate(request(token))).toEqual({
      tenant: 'acme',
      userId: 'guest_id',
      isGuest: true,
      expiresAt: expect.any(Number),
    })
    expect(await authenticate(request(await signed()))).toEqual({
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
  })

  it('lets guests in while the keys of users cannot be read', async () => {
    const { authenticate, guests } = authenticatorOf(
      { ...jwt, JWT_SECRET: '', JWT_JWKS_URL: `${ISSUER}/jwks`, GUEST_SECRET: SECRET },
      { ...platform, fetch: () => expect.unreachable() },
    )
    const { token } = (await guests?.issue()) ?? { token: '' }
    expect(await authenticate(request(token))).toEqual({
      userId: 'guest_id',
      isGuest: true,
      expiresAt: expect.any(Number),
    })
  })
})

describe('development', () => {
  const { authenticate } = authenticatorOf({ AUTH: 'development' }, platform)

  it.each(['http://127.0.0.1:8787/', 'http://[::1]:8787/', 'http://localhost/', 'https://LOCALHOST:1/'])(
    'is the user local at %s, whatever the token',
    async (url) => {
      expect(await authenticate(at(url))).toEqual({ userId: 'local' })
      expect(await authenticate(at(url, 'sk-anything'))).toEqual({ userId: 'local' })
    },
  )

  it.each([
    'https://memory.example/',
    'http://localhost.evil.example/',
    'http://127.0.0.1.evil.example/',
    'http://127.0.0.2/',
    'http://0.0.0.0/',
    'http://192.168.0.7:8787/',
    'http://[::2]/',
    'https://memory.example/localhost?host=127.0.0.1#localhost',
  ])('is nobody at %s', async (url) => {
    await expect(authenticate(at(url))).rejects.toMatchObject(notConfigured)
  })

  it('is not fooled by headers', async () => {
    const headers = { Host: 'localhost', 'X-Forwarded-Host': 'localhost', Origin: 'http://localhost' }
    await expect(authenticate(request(undefined, headers))).rejects.toMatchObject(notConfigured)
  })

  it('is nobody under another Host, whatever the URL says by a header of a proxy', async () => {
    for (const Host of ['evil.example', 'evil.example:8787', 'localhost.evil.example', 'x@localhost', ''])
      await expect(
        authenticate(new Request('http://localhost:8787/', { headers: { Host } })),
      ).rejects.toMatchObject(notConfigured)
    for (const Host of ['localhost', 'LOCALHOST:8787', '127.0.0.1:8787', '[::1]:8787'])
      expect(await authenticate(new Request('http://localhost:8787/', { headers: { Host } }))).toEqual({
        userId: 'local',
      })
  })

  it('is nobody without the key of npm start, where there is one', async () => {
    const { authenticate } = authenticatorOf({ AUTH: 'development', DEVELOPMENT_KEY: 'k' }, platform)
    const by = (headers: Record<string, string>) => new Request('http://localhost/', { headers })
    expect(await authenticate(by({ 'Plimsoll-Development': 'k' }))).toEqual({ userId: 'local' })
    for (const headers of [{}, { 'Plimsoll-Development': 'x' }])
      await expect(authenticate(by(headers))).rejects.toMatchObject(notConfigured)
  })

  it('lets guests in beside the user', async () => {
    const { authenticate, guests } = authenticatorOf({ AUTH: 'development', GUEST_SECRET: SECRET }, platform)
    const { token } = (await guests?.issue()) ?? { token: '' }
    expect(await authenticate(at('http://localhost/'))).toEqual({ userId: 'local' })
    await expect(authenticate(at('https://memory.example/'))).rejects.toMatchObject(notConfigured)
    for (const url of ['http://localhost/', 'https://memory.example/'])
      expect(await authenticate(at(url, token))).toEqual({
        userId: 'guest_id',
        isGuest: true,
        expiresAt: expect.any(Number),
      })
  })
})
