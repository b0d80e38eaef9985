/** Sync over HTTP: the transport, and the server's answers. */
import { afterEach, expect, test, vi } from 'vitest'
import type { PlimsollError } from '../../../src/ports/errors.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { type HttpTransportOptions, httpTransport } from '../../../src/sync/http.ts'
import { syncServer } from '../../../src/sync/server.ts'
import { edgeSocket } from '../../../src/sync/sockets.ts'
import { append, names } from '../../contract/samples.ts'
import { ownTimeouts } from '../support/own-timeouts.ts'
import { serveFetch } from '../support/served.ts'
import { device, idsOf, TestHome, TRIP, write } from '../support/synced.ts'

const url = 'https://home.example/api/'
const signal = new AbortController().signal

afterEach(() => {
  vi.useRealTimers()
})

function served(valid = new Set(['good'])) {
  const home = mapStore()
  const answer = syncServer({
    store: home,
    authenticate: async ({ headers }) =>
      valid.has(headers.get('Authorization')?.slice('Bearer '.length) ?? '') ? { userId: 'ada' } : undefined,
  })
  const fetch = vi.fn(async (to: string, init: RequestInit) => answer(new Request(to, init)))
  return { home, fetch, valid }
}

function synced(options: Omit<HttpTransportOptions, 'url'>) {
  return device(new TestHome(), { transport: httpTransport({ url, ...options }), baseMs: 5 })
}

test('two devices meet over HTTP', async () => {
  const { home, fetch } = served()
  const [one, two] = [synced({ token: 'good', fetch }), synced({ token: 'good', fetch })]
  await write(one.store, [append('a', ['m1'])])
  await one.store.settled()
  two.store.follow(TRIP)
  await two.store.settled()
  expect(await idsOf(home)).toEqual(['m1'])
  expect(await idsOf(two.base)).toEqual(['m1'])
  expect(fetch.mock.calls[0]?.[0]).toMatch(/^https:\/\/home\.example\/api\/v1\/sync\/(push|pull)$/)
})

test('what is no token, no listener, and nobody who says who calls is refused where it is given', async () => {
  const refused = (argument: string) => expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument })
  const { store } = synced({ token: 'good', fetch: served().fetch })
  for (const given of [undefined, null, 7, Promise.resolve('good')] as never[]) {
    expect(() => httpTransport({ url, token: given })).toThrow(refused('token'))
    expect(() => store.subscribe(given)).toThrow(refused('listener'))
    expect(() => syncServer({ store: given, authenticate: async () => undefined })).toThrow(refused('store'))
    expect(() => syncServer({ store: mapStore(), authenticate: given })).toThrow(refused('authenticate'))
  }
})

test('a token that is refused is asked for again, once a call, and later too', async () => {
  const { home, fetch, valid } = served(new Set())
  let now = 'old'
  const token = vi.fn(async (_?: string) => now)
  const { store } = synced({ token, fetch })
  await write(store, [append('a', ['m1'])])
  await vi.waitFor(() => expect(store.status.state).toBe('signed-out'))
  expect(token.mock.calls.slice(0, 2)).toEqual([[undefined], ['old']])
  now = 'new'
  valid.add('new')
  await store.settled()
  expect(await idsOf(home)).toEqual(['m1'])
})

test('a redirect is not followed: all that is here would go elsewhere, which would answer as the home', async () => {
  const asked: string[] = []
  const { home } = served()
  const answer = syncServer({ store: home, authenticate: async () => ({ userId: 'ada' }) })
  const other = await serveFetch((request) => {
    asked.push(request.url)
    return answer(request)
  })
  const first = await serveFetch(({ url }) => Response.redirect(`${other.url}${new URL(url).pathname}`, 307))
  const transport = httpTransport({ url: first.url, token: 'good' })
  const pulled = transport.pull([{ cursor: 0, anchor: '' }], signal)
  await expect(pulled).rejects.toMatchObject({ code: 'ERR_OFFLINE' })
  expect(asked).toEqual([])
  await Promise.all([first.close(), other.close()])
})

test.each([
  ['no network', () => Promise.reject(new TypeError('failed')), 'ERR_OFFLINE'],
  ['a page of some network', async () => new Response('<html>Sign in'), 'ERR_OFFLINE'],
  ['a failing proxy', async () => new Response('bad gateway', { status: 502 }), 'ERR_OFFLINE'],
  ['a page that is not found', async () => new Response('<html>', { status: 404 }), 'ERR_OFFLINE'],
  [
    'a full home',
    async () => new Response('', { status: 503, headers: { 'Retry-After': '7' } }),
    'ERR_OVERLOADED',
  ],
  [
    'a proxy that takes no more, and has codes of its own',
    async () => Response.json({ code: 'FST_ERR_CTP_BODY_TOO_LARGE' }, { status: 413 }),
    'ERR_ENTRY_TOO_LARGE',
  ],
  [
    'a proxy that takes no token, and has codes of its own',
    async () => Response.json({ code: 'invalid_token' }, { status: 401 }),
    'ERR_UNAUTHENTICATED',
  ],
  [
    'a home of another version',
    async () => Response.json({ code: 'ERR_UPGRADE_REQUIRED', detail: 'newer' }, { status: 426 }),
    'ERR_UPGRADE_REQUIRED',
  ],
])('%s is told by its code', async (_, fetch, code) => {
  const transport = httpTransport({ url, token: 'good', fetch })
  await expect(transport.pull([{ cursor: 0, anchor: '' }], signal)).rejects.toMatchObject({
    code,
    ...(code === 'ERR_OVERLOADED' && { retryAfter: 7 }),
  })
})

test.each([
  { odd: true },
  { results: [{}] },
  { results: [{ conflict: 1 }] },
  { results: [{ rejected: null }] },
  { results: [1.5] },
])('a malformed answer to a push makes no dead letter: %j', async (odd) => {
  const { home, fetch } = served()
  let isBroken = true
  const { store } = synced({
    token: 'good',
    fetch: async (to, init) => {
      const response = await fetch(to, init)
      if (!isBroken || !to.endsWith('push')) return response
      const { scopes } = (await response.json()) as { readonly scopes: readonly object[] }
      return Response.json({ scopes: [odd.results ? { ...scopes[0], ...odd } : odd] })
    },
  })
  await write(store, [append('a', ['m1'])])
  await vi.waitFor(() => expect(store.status.state).toBe('offline'))
  isBroken = false
  expect(await store.settled()).toMatchObject({ refused: 0, waiting: 0 })
  expect(await idsOf(home)).toEqual(['m1'])
})

test('a call that takes too long is ended', async () => {
  const ended = vi.fn()
  const fetch = (_: string, { signal }: RequestInit) =>
    new Promise<Response>((_, reject) => {
      signal?.addEventListener('abort', () => {
        ended()
        reject(signal.reason)
      })
    })
  const transport = httpTransport({ url, token: 'good', fetch, timeoutMs: 5 })
  await expect(transport.pull([], signal)).rejects.toMatchObject({ code: 'ERR_TIMEOUT', limit: 5 })
  expect(ended).toHaveBeenCalledOnce()
})

test('an attachment may take longer by its size, and no small one holds up others for minutes', async () => {
  const limits: number[] = []
  const { host } = ownTimeouts()
  const timeout = (ms: number) => {
    limits.push(ms)
    return host.timeout(ms)
  }
  const fetch = async () => Response.json({ attached: 'stored' })
  const transport = httpTransport({ url, token: 'good', fetch, timeoutMs: 1_000, host: { ...host, timeout } })
  const mediaType = 'image/png'
  for (const length of [0, 2 ** 18, 2 ** 23])
    await transport.attach(
      { generation: '', id: 'p' },
      { id: 'p', mediaType, bytes: new Uint8Array(length) },
      signal,
    )
  // Each once until it is sent, and once for the answer.
  expect(limits).toEqual([1_000, 1_000, 1_500, 1_500, 17_000, 17_000])
})

test('an answer may take longer by its size once it has begun, and no longer to begin', async () => {
  const limits: number[] = []
  const { host, open } = ownTimeouts()
  const timeout = (ms: number) => {
    limits.push(ms)
    return host.timeout(ms)
  }
  const answered =
    (length: number, headers = {}) =>
    async () =>
      new Response(new Uint8Array(length), { headers: { 'Content-Type': 'image/png', ...headers } })
  const read = (fetch: NonNullable<HttpTransportOptions['fetch']>) =>
    httpTransport({ url, token: 'good', fetch, timeoutMs: 1_000, host: { ...host, timeout } }).attachment(
      { generation: '', id: 'p' },
      signal,
    )
  await read(answered(5, { 'Content-Length': `${2 ** 18}` }))
  await read(answered(5))
  expect(limits).toEqual([1_000, 1_500, 1_000, 17_000])
  expect(open.size).toBe(0)
})

test('a page of a proxy is no attachment, and a page that was attached is one', async () => {
  const read = (headers: Record<string, string>) =>
    httpTransport({
      url,
      token: 'good',
      fetch: async () =>
        new Response('<p>Sign in', { headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers } }),
    }).attachment({ generation: '', id: 'p' }, signal)
  await expect(read({})).rejects.toMatchObject({ code: 'ERR_OFFLINE' })
  expect(await read({ 'Content-Disposition': 'attachment' })).toMatchObject({ id: 'p' })
})

test.each([
  ['Thu, 01 Jan 2026 05:00:09 GMT', 'Thu, 01 Jan 2026 05:00:00 GMT', 9],
  ['Wed, 31 Dec 2025 00:00:00 GMT', 'Thu, 01 Jan 2026 05:00:00 GMT', undefined],
  // Clocks may be hours apart.
  ['Thu, 01 Jan 2026 05:00:09 GMT', undefined, undefined],
  ['soon', 'Thu, 01 Jan 2026 05:00:00 GMT', undefined],
])('a wait that ends at a time (%s) is one by the clock of the home (%s)', async (time, date, retryAfter) => {
  const headers = { 'Retry-After': time, ...(date && { Date: date }) }
  const fetch = async () => new Response('', { status: 503, headers })
  const transport = httpTransport({ url, token: 'good', fetch })
  const error = await transport.pull([], signal).catch((cause: unknown) => cause)
  expect(error).toMatchObject({ code: 'ERR_OVERLOADED' })
  expect((error as PlimsollError).retryAfter).toBe(retryAfter)
})

test.each([
  ['token', { token: undefined }],
  ['token', { token: 7 }],
  ['socket', { token: 'good', socket: {} }],
])('%s that is none is refused', (argument, options) => {
  expect(() => httpTransport({ url, ...options } as never)).toThrow(
    expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument }),
  )
})

test('a token that never comes ends with the call that asks for it', async () => {
  const { fetch } = served()
  const token = vi.fn(async () => 'good').mockReturnValueOnce(new Promise(() => {}))
  const { store } = synced({ token, fetch, timeoutMs: 50 })
  store.follow(TRIP)
  expect(await store.settled()).toMatchObject({ state: 'current' })
})

test('what a line is too slow for is sent in parts', async () => {
  const { home, fetch } = served()
  const { store } = synced({
    token: 'good',
    timeoutMs: 50,
    fetch: (to, init) => {
      const isLong = String(init.body).length > 10_000
      return isLong ? new Promise(() => {}) : fetch(to, init)
    },
  })
  store.pause()
  const ids = names('m', 40)
  for (const id of ids) await write(store, [append(id, [id], { bodies: ['long '.repeat(200)] })])
  store.resume()
  await store.settled()
  expect(await idsOf(home)).toEqual(ids)
})

test('an answer to an attachment that is none of a home is no reason to send its message without it', async () => {
  const fetch = async () => Response.json({ ok: true })
  const transport = httpTransport({ url, token: 'good', fetch })
  const attachment = { id: 'dot', mediaType: 'image/png', bytes: new Uint8Array(1) }
  await expect(transport.attach({ generation: '', id: 'dot' }, attachment, signal)).rejects.toMatchObject({
    code: 'ERR_OFFLINE',
  })
})

test('a wait that is none does not keep a scope from being asked again', async () => {
  const { fetch: answered } = served()
  const error = { code: 'ERR_OVERLOADED', message: 'busy', retry_after: 'soon' }
  const fetch = vi.fn(answered).mockResolvedValueOnce(Response.json({ scopes: [{ error }] }))
  const { store } = synced({ token: 'good', fetch })
  store.follow(TRIP)
  expect(await store.settled()).toMatchObject({ state: 'current' })
})

class FakeSocket extends EventTarget {
  static readonly all: FakeSocket[] = []
  readonly args: readonly unknown[]
  isClosed = false

  constructor(...args: readonly unknown[]) {
    super()
    this.args = args
    FakeSocket.all.push(this)
  }

  close(): void {
    this.isClosed = true
  }
}

test('a socket tells of changes, and opens again until it is ended', async () => {
  vi.useFakeTimers()
  const token = vi.fn(async () => 'good')
  const timeouts = ownTimeouts()
  const transport = httpTransport({
    url,
    token,
    socket: edgeSocket({ WebSocket: FakeSocket as never, random: () => 1 }),
    host: timeouts.host,
  })
  const heard = vi.fn()
  const end = transport.pokes?.([{ sessionId: 'a b' }, {}], heard)
  await vi.advanceTimersByTimeAsync(0)
  expect(FakeSocket.all.map(({ args }) => args)).toEqual([
    ['wss://home.example/api/v1/sessions/a%20b/live', ['plimsoll.v1', 'bearer.good']],
    ['wss://home.example/api/v1/me/live', ['plimsoll.v1', 'bearer.good']],
  ])
  const [socket] = FakeSocket.all
  socket?.dispatchEvent(new Event('open'))
  socket?.dispatchEvent(new Event('message'))
  expect(heard.mock.calls).toEqual([[undefined], [{ scope: { sessionId: 'a b' } }]])
  socket?.dispatchEvent(new Event('close'))
  await vi.advanceTimersByTimeAsync(299)
  expect(FakeSocket.all).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(1)
  expect(FakeSocket.all).toHaveLength(3)
  // A token that cannot be had now is asked for again.
  token.mockRejectedValueOnce(new Error('not now'))
  FakeSocket.all[2]?.dispatchEvent(new Event('close'))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(FakeSocket.all).toHaveLength(4)
  end?.()
  expect(FakeSocket.all.at(-1)?.isClosed).toBe(true)
  FakeSocket.all.at(-1)?.dispatchEvent(new Event('close'))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(FakeSocket.all).toHaveLength(4)
  expect(timeouts.open.size).toBe(0)
})
