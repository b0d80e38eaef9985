import { generateKeyPairSync } from 'node:crypto'
import { EncryptJWT, UnsecuredJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { type JwtOptions, jwtAuthenticator } from '../../../../src/edge/auth/jwt.ts'
import {
  AUDIENCE,
  base64url,
  bytes,
  claims,
  ISSUER,
  options,
  outcome,
  printed,
  request,
  SECONDS,
  SECRET,
  signed,
  signedText,
} from './support.ts'

const authenticate = jwtAuthenticator({ ...options, secret: SECRET })
const refused = { code: 'ERR_UNAUTHENTICATED', message: 'authenticate: the token is not valid' }
const payload = (changes: string): string =>
  `{"iss":"${ISSUER}","aud":"${AUDIENCE}","sub":"ada","exp":${SECONDS + 60}${changes}}`

describe('a token by a shared secret', () => {
  it('is its subject', async () => {
    expect(await authenticate(request(await signed()))).toEqual({
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
    expect(await authenticate(request(await signed({ aud: ['https://other.example', AUDIENCE] })))).toEqual({
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
  })

  it('may be sent under any spelling of the scheme', async () => {
    const token = await signed()
    for (const header of [`bearer ${token}`, `BEARER   ${token}`])
      expect(await authenticate(request(undefined, { Authorization: header }))).toEqual({
        userId: 'ada',
        expiresAt: expect.any(Number),
      })
  })

  it('is nobody where no header is sent, whatever the URL says', async () => {
    const token = await signed()
    expect(
      await authenticate(new Request(`https://memory.example/?token=${token}&access_token=${token}`)),
    ).toBeUndefined()
  })

  const bad: { readonly [what: string]: () => Promise<string> | string } = {
    'is expired': () => signed({ exp: SECONDS - 5 }),
    'is not valid yet': () => signed({ nbf: SECONDS + 6 }),
    'is unsigned': () => new UnsecuredJWT(claims).encode(),
    'is unsigned and says so in another case': () =>
      `${base64url('{"alg":"None"}')}.${base64url(JSON.stringify(claims))}.`,
    'has no signature': async () => (await signed()).replace(/[^.]+$/, ''),
    'is signed by another secret': () => signed({}, bytes(`${SECRET}!`)),
    'is signed by another hash': () => signed({}, bytes(SECRET.padEnd(64, '.')), { alg: 'HS512' }),
    'is signed by the same secret and another hash': () =>
      signed({}, bytes(SECRET), { alg: 'HS384' }).catch(() => signedText(payload(''), { alg: 'HS384' })),
    'is of another issuer': () => signed({ iss: 'https://evil.example' }),
    'is of an issuer whose name only begins like ours': () => signed({ iss: `${ISSUER}.evil.example` }),
    'is for another audience': () => signed({ aud: 'https://other.example' }),
    'is for no audience': () => signed({ aud: [] }),
    'misses iss': () => signed({ iss: undefined }),
    'misses aud': () => signed({ aud: undefined }),
    'misses exp': () => signed({ exp: undefined }),
    'misses sub': () => signed({ sub: undefined }),
    'has null for exp': () => signed({ exp: null }),
    'has NaN for exp': () => signedText(payload(',"exp":NaN')),
    'has a text for exp': () => signed({ exp: String(SECONDS + 60) }),
    'has an endless exp': () => signedText(payload(',"exp":1e999')),
    'has a text for nbf': () => signed({ nbf: '0' }),
    'has a number for sub': () => signed({ sub: 7 }),
    'has a list for sub': () => signed({ sub: ['ada'] }),
    'has an empty sub': () => signed({ sub: '' }),
    'has a sub of 257 bytes': () => signed({ sub: `${'é'.repeat(128)}e` }),
    'has half a character in its sub': () => signedText(payload(',"sub":"ada\\ud800"')),
    'has the id of a guest for sub': () => signed({ sub: 'guest_0190' }),
    'has a step of a path for sub': () => signed({ sub: '.' }),
    'has a step back for sub': () => signed({ sub: '..' }),
    'is not an object': () => signedText('["ada"]'),
    'is of bytes that are not UTF-8': () => signedText(Buffer.from(payload(',"sub":"ad\u00e9"'), 'latin1')),
    'names an extension that must be understood': () =>
      signedText(payload(''), { alg: 'HS256', crit: ['exp'], exp: 1 }),
    'has its payload unencoded': () => signedText(payload(''), { alg: 'HS256', crit: ['b64'], b64: false }),
    'brings its own key': () => {
      const other = 'a secret of somebody else, also long enough'
      return signedText(payload(''), { alg: 'HS256', jwk: { kty: 'oct', k: base64url(other) } }, other)
    },
    'is encrypted': () =>
      new EncryptJWT(claims)
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .encrypt(bytes(SECRET).slice(0, 32)),
    'is longer than 8192 characters': () => signed({ note: 'x'.repeat(8192) }),
    'is empty': () => '',
    'is a word': () => 'password',
  }
  it.each(Object.entries(bad))('is refused where it %s, with the one message', async (_, make) => {
    const token = await make()
    const error = await outcome(authenticate, token)
    expect(error).toMatchObject(refused)
    if (token !== '') expect(printed(error)).not.toContain(token)
  })

  it('is refused where another scheme is used, or several tokens are sent', async () => {
    const token = await signed()
    for (const header of [
      'Basic YWRhOnB3',
      token,
      `Bearer ${token}, Bearer ${token}`,
      `Bearer ${token} x`,
      'Bearer',
    ])
      expect(await outcome(authenticate, request(undefined, { Authorization: header }))).toMatchObject(
        refused,
      )
  })

  it('says why to the log alone, by the code and the claim', async () => {
    expect(await outcome(authenticate, await signed({ exp: SECONDS - 60 }))).toMatchObject({
      cause: 'ERR_JWT_EXPIRED exp',
    })
    expect(await outcome(authenticate, await signed({ aud: 'elsewhere' }))).toMatchObject({
      cause: 'ERR_JWT_CLAIM_VALIDATION_FAILED aud',
    })
  })

  it('holds up to its tolerance after its end and before its begin', async () => {
    for (const [seconds, holds] of [
      [5, [-4, 5]],
      [30, [-29, 30]],
      [0, [1, 0]],
    ] as const) {
      const lenient = jwtAuthenticator({ ...options, secret: SECRET, toleranceSeconds: seconds })
      const [exp, nbf] = holds
      expect(await outcome(lenient, await signed({ exp: SECONDS + exp }))).toEqual({
        userId: 'ada',
        expiresAt: expect.any(Number),
      })
      expect(await outcome(lenient, await signed({ nbf: SECONDS + nbf }))).toEqual({
        userId: 'ada',
        expiresAt: expect.any(Number),
      })
      expect(await outcome(lenient, await signed({ exp: SECONDS + exp - 1 }))).toMatchObject(refused)
      expect(await outcome(lenient, await signed({ nbf: SECONDS + nbf + 1 }))).toMatchObject(refused)
    }
  })

  it('takes any well-formed subject of up to 256 bytes as it is', async () => {
    for (const sub of ['é'.repeat(128), ' ada ', 'a:b', 'guest', 'Guest_1', '__proto__', '\0', 'Ada\u0301'])
      expect(await authenticate(request(await signed({ sub })))).toEqual({
        userId: sub,
        expiresAt: expect.any(Number),
      })
  })
})

describe('the tenant', () => {
  const claim = 'https://example.com/tenant'
  const authenticate = jwtAuthenticator({ ...options, secret: SECRET, tenantClaim: claim })

  it('is a claim of the token', async () => {
    expect(await authenticate(request(await signed({ [claim]: 'acme' })))).toEqual({
      tenant: 'acme',
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
  })

  it('is nobody where no claim was named', async () => {
    const plain = jwtAuthenticator({ ...options, secret: SECRET })
    expect(await plain(request(await signed({ tenant: 'acme' })))).toEqual({
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
  })

  it.each([undefined, null, '', 7, true, ['acme'], { id: 'acme' }, 'x'.repeat(257)])(
    'refuses a token whose claim is %j',
    async (tenant) => {
      expect(await outcome(authenticate, await signed({ [claim]: tenant }))).toMatchObject(refused)
    },
  )

  it.each(['constructor', 'toString', '__proto__'])('is never inherited: %s', async (name) => {
    const inherited = jwtAuthenticator({ ...options, secret: SECRET, tenantClaim: name })
    expect(await outcome(inherited, await signed())).toMatchObject(refused)
    expect(await outcome(inherited, await signedText(payload(`,"${name}":"acme"`)))).toEqual({
      tenant: 'acme',
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
  })
})

describe('a token of another kind', () => {
  const typed = (typ?: string) => signed({}, undefined, { alg: 'HS256', ...(typ !== undefined && { typ }) })

  it('is refused by its type, and access tokens are not', async () => {
    for (const typ of [undefined, 'JWT', 'jwt', 'at+jwt', 'application/at+jwt'])
      expect(await outcome(authenticate, await typed(typ))).toMatchObject({ userId: 'ada' })
    for (const typ of ['logout+jwt', 'dpop+jwt', 'secevent+jwt', 'id', ''])
      expect(await outcome(authenticate, await typed(typ))).toMatchObject(refused)
  })

  it('is any but the one that is asked for', async () => {
    const strict = jwtAuthenticator({ ...options, secret: SECRET, typ: 'at+jwt' })
    for (const typ of ['at+jwt', 'AT+JWT', 'application/at+jwt'])
      expect(await outcome(strict, await typed(typ))).toMatchObject({ userId: 'ada' })
    for (const typ of [undefined, 'JWT'])
      expect(await outcome(strict, await typed(typ))).toMatchObject(refused)
  })
})

describe('the age of a token', () => {
  it('is looked at where there is a most, and not otherwise', async () => {
    const brief = jwtAuthenticator({ ...options, secret: SECRET, maxTokenAge: 600 })
    expect(await outcome(brief, await signed({ iat: SECONDS - 600 }))).toMatchObject({ userId: 'ada' })
    for (const iat of [SECONDS - 606, SECONDS + 60, undefined])
      expect(await outcome(brief, await signed({ iat }))).toMatchObject(refused)
    expect(await outcome(authenticate, await signed({ iat: SECONDS - 86_400 }))).toMatchObject({
      userId: 'ada',
    })
  })
})

describe('options that cannot authenticate safely', () => {
  const jwks = 'https://issuer.example/jwks'
  const bad: { readonly [what: string]: Partial<JwtOptions> } = {
    'neither secret nor jwks': {},
    'both of them': { secret: SECRET, jwks },
    'a secret of 31 bytes': { secret: 'x'.repeat(31) },
    'a secret of 31 raw bytes': { secret: new Uint8Array(31) },
    'a secret of one character': { secret: 'x'.repeat(64) },
    'a secret of 32 zeros': { secret: new Uint8Array(32) },
    'a secret of few characters': { secret: 'aabbccddeeffggabcdefgfedcbagfedcbaabc' },
    'a secret that repeats itself': { secret: 'change-me!'.repeat(5) },
    'a type without a name': { secret: SECRET, typ: '' },
    'an age of nothing': { secret: SECRET, maxTokenAge: 0 },
    'an age that is no number': { secret: SECRET, maxTokenAge: Number.NaN },
    'a secret with algorithms': { secret: SECRET, algorithms: ['HS256'] },
    'no issuer': { secret: SECRET, issuer: '' },
    'no audience': { secret: SECRET, audience: '' },
    'a tenant claim without a name': { secret: SECRET, tenantClaim: '' },
    'a tolerance of 31 s': { secret: SECRET, toleranceSeconds: 31 },
    'a tolerance below zero': { secret: SECRET, toleranceSeconds: -1 },
    'a tolerance that is no number': { secret: SECRET, toleranceSeconds: Number.NaN },
    'HS256 by public keys': { jwks, algorithms: ['RS256', 'HS256'] },
    'none by public keys': { jwks, algorithms: ['none'] },
    'no algorithm': { jwks, algorithms: [] },
    'public keys by http': { jwks: 'http://issuer.example/jwks' },
    'public keys by http from a host that looks local': { jwks: 'http://localhost.evil.example/jwks' },
    'public keys from a file': { jwks: 'file:///jwks.json' },
    'public keys from nowhere': { jwks: 'jwks.json' },
  }
  it.each(Object.entries(bad))('are refused at once: %s', (_, changes) => {
    const make = () => jwtAuthenticator({ ...options, ...changes })
    expect(make).toThrow(expect.objectContaining({ code: 'ERR_NOT_CONFIGURED' }))
    expect(make).not.toThrow(SECRET)
  })

  it('say of a weak secret what to do', () => {
    for (const secret of ['short', 'x'.repeat(64), 'change-me!'.repeat(5)])
      expect(() => jwtAuthenticator({ ...options, secret })).toThrow(/the secret .*openssl rand/)
  })

  it('are not those with a local issuer', () => {
    for (const url of ['http://127.0.0.1:8080/jwks', 'http://[::1]/jwks', new URL('http://localhost/jwks')])
      expect(jwtAuthenticator({ ...options, jwks: url })).toBeTypeOf('function')
  })

  it('are not 32 raw bytes', async () => {
    const secret = crypto.getRandomValues(new Uint8Array(32))
    const binary = jwtAuthenticator({ ...options, secret })
    expect(await binary(request(await signed({}, secret)))).toEqual({
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
  })
})

describe('a token by a public key that is taken for a secret', () => {
  it('is refused, in each form that the public key has', async () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }
    const fetch = async () => Response.json({ keys: [jwk] })
    const authenticate = jwtAuthenticator({ ...options, jwks: 'https://issuer.example/jwks', fetch })
    const secrets = [
      publicKey.export({ format: 'pem', type: 'spki' }),
      publicKey.export({ format: 'der', type: 'spki' }),
      publicKey.export({ format: 'pem', type: 'pkcs1' }),
      JSON.stringify(jwk),
      jwk.n ?? '',
    ]
    for (const secret of secrets) {
      const token = await signed({}, typeof secret === 'string' ? bytes(secret) : Uint8Array.from(secret), {
        alg: 'HS256',
        kid: 'one',
      })
      expect(await outcome(authenticate, token)).toMatchObject(refused)
    }
  })
})
