import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { securityHeaders } from '../../../../src/edge/auth/security-headers.ts'

const DOCS = { defaultSrc: ["'self'"], scriptSrc: ["'self'"] }

const app = new Hono()
app.use(securityHeaders())
app.use('/docs', securityHeaders({ contentSecurityPolicy: DOCS }))
app.get('/docs', (c) => c.html('<p>'))
app.get('/data', (c) => c.json({}))
app.get('/stream', (c) => c.body('data: 1', 200, { 'Cache-Control': 'no-store, no-transform' }))
app.get('/public', (c) => c.body('x', 200, { 'Cache-Control': 'public, max-age=3600', 'X-Powered-By': 'x' }))
// Of a fetch: its headers cannot be changed.
app.get('/fetched', () => fetch('data:application/json,{}'))
app.get('/fails', () => {
  throw new Error('fails')
})
app.get('/upgrade', () => {
  const response = Response.error()
  return Object.defineProperty(response, 'status', { value: 101 })
})
app.onError(() => new Response('{}', { status: 500 }))

describe('an answer', () => {
  it.each(['/data', '/stream', '/public', '/fetched', '/fails', '/nowhere'])(
    'is not sniffed, framed, embedded or stored: %s',
    async (path) => {
      const { headers } = await app.request(path)
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'content-security-policy':
          "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        'cross-origin-resource-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'strict-transport-security': 'max-age=15552000',
        'cache-control': expect.stringContaining('no-store'),
      })
      expect(headers.get('X-Powered-By')).toBeNull()
    },
  )

  it('keeps what else a handler says of caches, where it says no-store', async () => {
    const of = async (path: string) => (await app.request(path)).headers.get('Cache-Control')
    expect(await of('/stream')).toBe('no-store, no-transform')
    expect(await of('/public')).toBe('no-store')
  })

  it('that is a page may load what was given for it, and is not framed either', async () => {
    const { headers } = await app.request('/docs')
    expect(headers.get('Content-Security-Policy')).toBe(
      "default-src 'self'; script-src 'self'; frame-ancestors 'none'",
    )
  })

  it('that switches protocols is left as it is', async () => {
    const { status, headers } = await app.request('/upgrade')
    expect(status).toBe(101)
    expect([...headers]).toEqual([])
  })
})
