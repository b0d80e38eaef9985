import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { crossOrigin } from '../../../../src/edge/auth/cors.ts'
import { LOOPBACK_ORIGINS } from '../../../../src/edge/auth/origins.ts'
import { securityHeaders } from '../../../../src/edge/auth/security-headers.ts'
import { isPlimsollError } from '../../../../src/ports/errors.ts'

const OWN = 'https://memory.example'
const LISTED = 'https://app.example.com'
const LOCAL = 'http://localhost:5173'
const CAPACITOR = 'capacitor://localhost'

function edge(origins: readonly string[] = [LISTED, LOCAL, CAPACITOR]) {
  const seen: string[] = []
  const app = new Hono()
  app.use(securityHeaders())
  app.use(crossOrigin({ origins, allowHeaders: ['X-App'] }))
  app.all('/v1/sessions', (c) => {
    seen.push(c.req.method)
    return c.json({ ok: true }, 200, { ETag: '"1"' })
  })
  app.get('/broken', () => {
    throw new Error('broken')
  })
  app.onError((error, c) => {
    if (isPlimsollError(error, 'ERR_FORBIDDEN')) return c.json({ code: error.code }, 403)
    return new Response('{}', { status: 500 })
  })
  const send = (
    method: string,
    origin?: string,
    headers: Record<string, string> = {},
    path = '/v1/sessions',
  ) =>
    app.request(`${OWN}${path}`, {
      method,
      headers: { ...(origin !== undefined && { Origin: origin }), ...headers },
    })
  return { send, seen }
}

const preflight = {
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'authorization,x-evil',
}

const foreign = [
  'https://evil.example',
  'null',
  '*',
  '',
  `${LISTED}.evil.example`,
  `${LISTED}:8443`,
  `${LISTED}/`,
  'http://app.example.com',
  'https://APP.example.com',
  'https://sub.app.example.com',
  'https://app.example.co',
  'https://app-example.com',
  `${LISTED}, https://evil.example`,
  `https://evil.example ${LISTED}`,
  'http://memory.example',
  'https://memory.example:444',
  'http://localhost:5174',
  'http://localhost',
  'capacitor://evil',
  '__proto__',
]
const listed = [LISTED, LOCAL, CAPACITOR, OWN]
const unsafe = ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'post-like']

describe('any port of a loopback host', () => {
  const allows = async (list: readonly string[], origin: string): Promise<boolean> => {
    const { headers } = await edge(list).send('GET', origin)
    return headers.get('Access-Control-Allow-Origin') === origin
  }

  it.each(LOOPBACK_ORIGINS)('may be listed: %s', async (listed) => {
    const own = listed.slice(0, -2)
    for (const origin of [own, `${own}:1`, `${own}:3000`]) expect(await allows([listed], origin)).toBe(true)
    const others = LOOPBACK_ORIGINS.filter((other) => other !== listed).map((other) =>
      other.replace('*', '3000'),
    )
    for (const origin of [
      ...others,
      `${own}:3000.evil.example`,
      `${own}:`,
      `${own}.evil.example:3000`,
      `${listed.replace('//', '//evil.')}`,
      'null',
    ])
      expect([origin, await allows([listed], origin)]).toEqual([origin, false])
  })

  it.each([
    'http://app.localhost:*',
    'http://127.0.0.2:*',
    'https://example.com:*',
    'http://localhost:30*',
    '*',
  ])('is the only wildcard: %s is refused', (listed) => {
    expect(() => crossOrigin({ origins: [listed] })).toThrow(
      expect.objectContaining({ code: 'ERR_NOT_CONFIGURED' }),
    )
  })
})

describe('a page of a listed origin, or of the edge itself', () => {
  it.each(listed)('may call, and reads what it needs: %s', async (origin) => {
    const { send, seen } = edge()
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, headers } = await send(method, origin)
      expect(status).toBe(200)
      expect(headers.get('Access-Control-Allow-Origin')).toBe(origin)
      expect(headers.get('Access-Control-Allow-Credentials')).toBeNull()
      expect(headers.get('Vary')).toBe('Origin')
      const exposed = headers.get('Access-Control-Expose-Headers')?.split(',')
      expect(exposed).toEqual(
        expect.arrayContaining([
          'Content-Disposition',
          'ETag',
          'Plimsoll-Run',
          'Retry-After',
          'X-Request-Id',
          'X-Should-Retry',
        ]),
      )
    }
    expect(seen).toHaveLength(5)
  })

  it.each(listed)('learns so before it calls: %s', async (origin) => {
    const { send, seen } = edge()
    const { status, headers } = await send('OPTIONS', origin, preflight)
    expect(status).toBe(204)
    expect(headers.get('Access-Control-Allow-Origin')).toBe(origin)
    expect(headers.get('Access-Control-Allow-Methods')).toBe('GET,HEAD,POST,PUT,PATCH,DELETE')
    const allowed = headers.get('Access-Control-Allow-Headers')?.split(',')
    expect(allowed).toEqual(
      expect.arrayContaining([
        'Authorization',
        'Content-Type',
        'Idempotency-Key',
        'If-Match',
        'If-None-Match',
        'X-App',
      ]),
    )
    expect(allowed).not.toContain('x-evil')
    expect(headers.get('Access-Control-Max-Age')).toBe('7200')
    expect(headers.get('Vary')).toContain('Origin')
    expect(seen).toEqual([])
  })
})

describe('a foreign page', () => {
  it.each(foreign)('changes nothing: %s', async (origin) => {
    const { send, seen } = edge()
    for (const method of unsafe) {
      const response = await send(method, origin)
      expect(response.status).toBe(403)
      expect(await response.json()).toEqual({ code: 'ERR_FORBIDDEN' })
      expect(response.headers.get('Access-Control-Allow-Origin')).toBeNull()
      expect(response.headers.get('Vary')).toBe('Origin')
    }
    expect(seen).toEqual([])
  })

  it.each(foreign)('reads nothing: %s', async (origin) => {
    const { send } = edge()
    for (const [method, headers] of [
      ['GET', {}],
      ['OPTIONS', preflight],
    ] as const) {
      const response = await send(method, origin, headers)
      expect(response.headers.get('Access-Control-Allow-Origin')).toBeNull()
      expect(response.headers.get('Access-Control-Allow-Credentials')).toBeNull()
      expect(response.headers.get('Vary')).toContain('Origin')
    }
  })

  it('is every page but the own ones, where the list is empty', async () => {
    const { send } = edge([])
    expect((await send('POST', LISTED)).status).toBe(403)
    expect((await send('POST', OWN)).status).toBe(200)
  })

  it('opens no WebSocket', async () => {
    const { send, seen } = edge()
    for (const origin of foreign) {
      const { status } = await send('GET', origin, { Upgrade: 'WebSocket', Connection: 'Upgrade' })
      expect(status).toBe(403)
    }
    expect(seen).toEqual([])
  })
})

describe('other callers', () => {
  it('send no origin, and are let through', async () => {
    const { send } = edge()
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { status, headers } = await send(method)
      expect(status).toBe(200)
      expect(headers.get('Vary')).toBe('Origin')
    }
    expect((await send('GET', undefined, { Upgrade: 'websocket' })).status).toBe(200)
  })

  it('get a WebSocket from a listed page, without a header of ours', async () => {
    const { send } = edge()
    for (const origin of listed) {
      const { status, headers } = await send('GET', origin, { Upgrade: 'websocket' })
      expect(status).toBe(200)
      expect(headers.get('Access-Control-Allow-Origin')).toBeNull()
    }
  })

  it('are told that answers differ by origin, though the handler fails', async () => {
    const { send } = edge()
    const { status, headers } = await send('GET', LISTED, {}, '/broken')
    expect(status).toBe(500)
    expect(headers.get('Vary')).toBe('Origin')
    expect(headers.get('Access-Control-Allow-Origin')).toBe(LISTED)
  })
})

describe('the list', () => {
  it.each([
    '*',
    'null',
    '',
    'https://*.example.com',
    'https://app.example.com/',
    'https://app.example.com/path',
    'https://app.example.com:443',
    'https://App.example.com',
    'https://ada:pw@app.example.com',
    'app.example.com',
    'file://',
    'http://',
    'https://exa mple.com',
    'blob:https://app.example.com',
    'chrome-extension://*',
  ])('takes exact origins alone, not %j', (origin) => {
    expect(() => crossOrigin({ origins: [LISTED, origin] })).toThrow(
      expect.objectContaining({
        code: 'ERR_NOT_CONFIGURED',
        message: 'cross-origin: entry 1 of the list is not an exact origin',
      }),
    )
  })

  it('takes those of apps and of extensions', () => {
    for (const origin of [
      'capacitor://localhost',
      'tauri://localhost',
      'chrome-extension://abcdefghijklmnop',
    ])
      expect(crossOrigin({ origins: [origin] })).toBeTypeOf('function')
  })
})
