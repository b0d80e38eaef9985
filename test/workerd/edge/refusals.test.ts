import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { edgeVariables } from '../../edge-variables.ts'
import { Caller, fetchWorker, newUser, ORIGIN, tokenOf } from './caller.ts'
import { nameOf, owned } from './routes.ts'

const LISTED = edgeVariables.ORIGINS
const UNLISTED = [
  'https://evil.test',
  `${LISTED}.evil.test`,
  'https://app.test:8443',
  'http://app.test',
  'null',
  '*',
]

async function problemOf(response: Response) {
  expect(response.headers.get('Content-Type')).toBe('application/problem+json')
  const body = (await response.json()) as Record<string, unknown>
  expect(body).toMatchObject({
    type: `urn:plimsoll:error:${body.code}`,
    status: response.status,
    request_id: response.headers.get('X-Request-Id'),
    title: expect.any(String),
    detail: expect.any(String),
  })
  return body
}

/** What every answer has, whatever it is. */
function checkHeaders(response: Response, name: string): void {
  const { headers } = response
  expect([name, headers.get('Cache-Control')]).toEqual([name, 'no-store'])
  expect([name, headers.get('X-Content-Type-Options')]).toEqual([name, 'nosniff'])
  expect([name, headers.get('X-Frame-Options')]).toEqual([name, 'DENY'])
  expect([name, headers.get('Content-Security-Policy')]).toEqual([
    name,
    expect.stringContaining("default-src 'none'"),
  ])
  expect([name, headers.get('Access-Control-Allow-Credentials')]).toEqual([name, null])
}

const urlOf = (path: string): string => path.replace(/\{(\w+)\}/g, 'x')

function signed(claims: Record<string, unknown>, secret: string = edgeVariables.JWT_SECRET): Promise<string> {
  return new SignJWT({
    iss: edgeVariables.JWT_ISSUER,
    aud: edgeVariables.JWT_AUDIENCE,
    sub: 'ada',
    tenant: 'acme',
    exp: Math.trunc(Date.now() / 1000) + 60,
    ...claims,
  })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(secret))
}

const base64url = (value: object): string => btoa(JSON.stringify(value)).replace(/=+$/, '')

describe('a caller without credentials (T35)', () => {
  it.each(owned.map((route) => [nameOf(route), route] as const))(
    'is refused: %s',
    async (name, { method, path }) => {
      const upgrade = path.endsWith('/live') ? { Upgrade: 'websocket' } : {}
      for (const headers of [{}, { Authorization: 'Bearer x' }, { Authorization: 'Basic YTpi' }]) {
        const response = await fetchWorker(urlOf(path), { method, headers: { ...headers, ...upgrade } })
        expect(response.status).toBe(401)
        expect(response.headers.get('WWW-Authenticate')).toMatch(/^Bearer\b/)
        checkHeaders(response, name)
        expect(await problemOf(response)).toMatchObject({ code: 'ERR_UNAUTHENTICATED' })
      }
    },
  )

  it.each([
    ['of another secret', () => signed({}, 'x'.repeat(40))],
    ['that has expired', () => signed({ exp: 1 })],
    ['that is not valid yet', () => signed({ nbf: Math.trunc(Date.now() / 1000) + 600 })],
    ['without an end', () => signed({ exp: undefined })],
    ['of another issuer', () => signed({ iss: 'https://evil.test' })],
    ['for somebody else', () => signed({ aud: 'other' })],
    ['without a subject', () => signed({ sub: undefined })],
    ['of an empty subject', () => signed({ sub: '' })],
    ['of a subject of half a character', () => signed({ sub: '\ud800' })],
    ['of a subject of 257 bytes', () => signed({ sub: 'x'.repeat(257) })],
    ['of a guest’s name', () => signed({ sub: 'guest_1' })],
    ['without a tenant', () => signed({ tenant: undefined })],
    ['of a tenant that is no text', () => signed({ tenant: 1 })],
    [
      'that is not signed',
      async () => `${base64url({ alg: 'none' })}.${base64url({ sub: 'ada', tenant: 'a' })}.`,
    ],
    ['that is no token', async () => 'a.b.c'],
  ])('by a token %s is refused, and all in the same words', async (_, token) => {
    const response = await fetchWorker('/v1/sessions', {
      headers: { Authorization: `Bearer ${await token()}` },
    })
    expect(response.status).toBe(401)
    const { detail, code } = await problemOf(response)
    expect([detail, code]).toEqual(['authenticate: the token is not valid', 'ERR_UNAUTHENTICATED'])
  })

  it('is let in by a good one, so that the others are refused for what they are', async () => {
    const response = await fetchWorker('/v1/sessions', {
      headers: { Authorization: `Bearer ${await signed({ sub: `user-${crypto.randomUUID()}` })}` },
    })
    expect(response.status).toBe(200)
    await response.body?.cancel()
  })

  it('cannot say it in a URL', async () => {
    const token = await tokenOf(newUser())
    for (const name of ['token', 'access_token', 'bearer'])
      expect((await fetchWorker(`/v1/sessions?${name}=${token}`)).status).toBe(401)
  })
})

describe('what is not there', () => {
  it('is a problem, whether a route or a verb is unknown', async () => {
    const caller = new Caller()
    const session = await caller.session()
    for (const [method, path, status, code] of [
      ['GET', '/v1/nothing', 404, 'ERR_NOT_FOUND'],
      ['PUT', '/v1/sessions', 405, 'ERR_METHOD_NOT_ALLOWED'],
      ['POST', `/v1/sessions/${session}`, 405, 'ERR_METHOD_NOT_ALLOWED'],
      ['PATCH', '/v1/me/profile/about', 405, 'ERR_METHOD_NOT_ALLOWED'],
      ['GET', '/v1/openai/chat/completions', 405, 'ERR_METHOD_NOT_ALLOWED'],
    ] as const) {
      const response = await caller.fetch(method, path)
      checkHeaders(response, `${method} ${path}`)
      expect([path, response.status, (await problemOf(response)).code]).toEqual([path, status, code])
    }
    const outside = await fetchWorker('/nothing')
    checkHeaders(outside, '/nothing')
    expect((await problemOf(outside)).code).toBe('ERR_NOT_FOUND')
  })

  it('has no body where only its head is asked for', async () => {
    const caller = new Caller()
    const session = await caller.session()
    const response = await caller.fetch('HEAD', `/v1/sessions/${session}/messages`)
    checkHeaders(response, 'HEAD')
    expect([response.status, await response.text()]).toEqual([200, ''])
    const missing = await caller.fetch('HEAD', '/v1/sessions/nowhere')
    expect([missing.status, await missing.text()]).toEqual([404, ''])
  })
})

describe('a page (T36)', () => {
  const everywhere = ['/health', '/openapi.json', '/v1/sessions', '/v1/guests', '/v1/nothing', '/mcp']

  it('of a listed origin may read every answer, refusals too', async () => {
    for (const path of everywhere) {
      const response = await fetchWorker(path, { headers: { Origin: LISTED } })
      const { headers } = response
      checkHeaders(response, path)
      expect([path, headers.get('Access-Control-Allow-Origin')]).toEqual([path, LISTED])
      expect([path, headers.get('Vary')]).toEqual([path, expect.stringContaining('Origin')])
      await response.body?.cancel()
    }
  })

  it.each(UNLISTED)('of %s may read none, and change nothing', async (origin) => {
    const caller = new Caller()
    for (const path of everywhere) {
      const response = await caller.fetch('GET', path, { headers: { Origin: origin } })
      expect([path, response.headers.get('Access-Control-Allow-Origin')]).toEqual([path, null])
      expect([path, response.headers.get('Vary')]).toEqual([path, expect.stringContaining('Origin')])
      await response.body?.cancel()
    }
    for (const [method, path, type] of [
      ['POST', '/v1/sessions', 'application/json'],
      ['POST', '/v1/sessions', 'text/plain'],
      ['POST', '/v1/guests', 'text/plain'],
      ['PUT', '/v1/me/profile/about', 'application/json'],
      ['DELETE', '/v1/sessions/x', 'application/json'],
      ['POST', '/v1/openai/chat/completions', 'application/json'],
      ['POST', '/mcp', 'application/json'],
    ] as const) {
      const response = await caller.fetch(method, path, {
        headers: { Origin: origin, 'Content-Type': type },
        body: '{"session_id":"s","text":"x"}',
      })
      checkHeaders(response, `${method} ${path}`)
      expect(response.headers.get('Access-Control-Allow-Origin')).toBeNull()
      expect(response.status).toBe(403)
      expect(await problemOf(response)).toMatchObject({ code: 'ERR_FORBIDDEN' })
    }
    const socket = await caller.fetch('GET', '/v1/sessions/x/live', {
      headers: { Origin: origin, Upgrade: 'websocket' },
    })
    expect([socket.status, socket.webSocket]).toEqual([403, null])
    expect((await caller.call('GET', '/v1/sessions')).body).toEqual({ sessions: [] })
    expect((await caller.call('GET', '/v1/me/profile')).body).toEqual({ documents: [] })
  })

  it('asks before, and learns what it may by its origin alone', async () => {
    for (const origin of [LISTED, ORIGIN, ...UNLISTED]) {
      const response = await fetchWorker('/v1/sessions', {
        method: 'OPTIONS',
        headers: {
          Origin: origin,
          'Access-Control-Request-Method': 'PUT',
          'Access-Control-Request-Headers': 'authorization,content-type',
        },
      })
      const isAllowed = origin === LISTED || origin === ORIGIN
      expect([origin, response.status]).toEqual([origin, 204])
      expect([origin, response.headers.get('Access-Control-Allow-Origin')]).toEqual([
        origin,
        isAllowed ? origin : null,
      ])
      expect(response.headers.get('Access-Control-Allow-Credentials')).toBeNull()
      checkHeaders(response, `OPTIONS ${origin}`)
    }
  })
})
