import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPlimsollError } from '../../../../src/client/index.ts'
import { runs } from '../../support/runs.ts'
import { json, offline, problem, refused, scene } from './support.ts'

const append = { messages: [], repeated: false, mismatch: false }
const hello = { role: 'user', content: 'Hello' } as const

describe('a request without an answer', () => {
  it.each([
    ['no network', offline],
    ['a status of 500', new Response('oops', { status: 500 })],
    ['a status of 503 that asks for no wait', new Response('', { status: 503 })],
    ['an answer that is cut off', new Response('{"messages": [')],
    ['a problem of the store', problem(500, { code: 'ERR_STORAGE' })],
  ])('is sent again under the same op id: %s', async (_, failure) => {
    const { client, sent, waits } = scene([failure, failure, json(append)])
    await expect(client.session('trip').append(hello)).resolves.toEqual(append)
    expect(sent.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['op-1', 'op-1', 'op-1'])
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1)
    expect(waits).toEqual([150, 300])
  })

  it('creates one session, though the app gives it no id', async () => {
    const session = { session_id: 'op-1', title: '', created_at: 9 }
    const { client, sent } = scene([offline, json(session)])
    await client.sessions.create({ title: 'Turin' })
    expect(sent.map(({ body }) => JSON.parse(body ?? ''))).toEqual(
      Array(2).fill({ session_id: 'op-1', title: 'Turin' }),
    )
    await client.sessions.create({ sessionId: 'trip' })
    expect(sent.at(-1)?.body).toBe('{"session_id":"trip"}')
  })

  it('is given up after three more, with an error that names the op', async () => {
    const { client, sent, waits } = scene([offline])
    const error = await refused(client.session('trip').append(hello))
    expect(sent).toHaveLength(4)
    expect(waits).toEqual([150, 300, 600])
    expect(error).toMatchObject({ code: 'ERR_STORAGE', opId: 'op-1', cause: offline })
    expect(error.status).toBeUndefined()
  })

  it('is sent as often as the app says', async () => {
    for (const [retries, count] of [
      [0, 1],
      [1, 2],
      [Number.NaN, 1],
    ] as const) {
      const { client, sent } = scene([offline], { retry: { retries } })
      await refused(client.session('trip').append(hello))
      expect(sent).toHaveLength(count)
    }
  })

  it('takes the op id of the app, and another one for another call', async () => {
    const { client, sent } = scene([json(append)])
    await client.session('trip').append(hello, { opId: 'mine' })
    await client.session('trip').append(hello)
    await client.session('trip').append(hello)
    expect(sent.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['mine', 'op-1', 'op-2'])
  })

  it('waits anything from nothing to the whole of a wait that doubles up to the cap', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
          minLength: 9,
          maxLength: 9,
        }),
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 1, max: 9_000 }),
        async (dice, baseMs, capMs) => {
          let roll = 0
          const { client, waits } = scene([offline], {
            random: () => dice[roll++] ?? 0,
            retry: { retries: 9, baseMs, capMs },
          })
          await refused(client.health())
          expect(waits).toEqual(dice.map((die, place) => die * Math.min(capMs, baseMs * 2 ** place)))
        },
      ),
      runs(30),
    )
  })

  it('is given up by the time limit of each attempt, and sent again', async () => {
    const { client, sent, pass } = scene([undefined, json({ status: 'ok' })])
    const health = client.health()
    await expect.poll(() => sent.length).toBe(1)
    pass(29_999)
    expect(sent[0]?.signal.aborted).toBe(false)
    pass(1)
    await expect(health).resolves.toEqual({ status: 'ok' })
    expect(sent[0]?.signal.aborted).toBe(true)
  })

  it('is given up by the time limit while its body comes', async () => {
    const slow = (): Response => new Response(new ReadableStream())
    const { client, sent, pass } = scene([slow], { retry: { retries: 0 }, timeoutMs: 1_000 })
    const failure = refused(client.health())
    await expect.poll(() => sent.length).toBe(1)
    await Promise.resolve()
    pass(1_000)
    expect(await failure).toMatchObject({ code: 'ERR_TIMEOUT', limit: 1_000 })
  })
})

describe('an edge that asks to be left alone', () => {
  it.each([
    ['429', problem(429, { code: 'ERR_RATE_LIMIT', retryAfter: 7 }), 'ERR_RATE_LIMIT', 7],
    ['503', problem(503, { code: 'ERR_OVERLOADED' }, { 'retry-after': '2' }), 'ERR_OVERLOADED', 2],
    ['a proxy', new Response('', { status: 503, headers: { 'retry-after': '3' } }), 'ERR_OVERLOADED', 3],
    ['429 that does not say for how long', new Response('', { status: 429 }), 'ERR_RATE_LIMIT', undefined],
    [
      '503 that does not say for how long',
      problem(503, { code: 'ERR_OVERLOADED' }),
      'ERR_OVERLOADED',
      undefined,
    ],
  ])('is sent nothing more: %s', async (_, answer, code, retryAfter) => {
    const { client, sent, waits } = scene([answer])
    const error = await refused(client.session('trip').append(hello))
    expect(sent).toHaveLength(1)
    expect(waits).toEqual([])
    expect(error).toMatchObject({ code, opId: 'op-1' })
    expect(error.retryAfter).toBe(retryAfter)
  })

  it.each([
    problem(503, { code: 'ERR_OVERLOADED', retryAfter: 2 }),
    new Response('', { status: 429, headers: { 'retry-after': '2' } }),
  ])('is waited for where the app allows it, as long as it asks and a little longer', async (busy) => {
    const { client, sent, waits } = scene([busy, json(append)], { retry: { waitForMs: 5_000 } })
    await client.session('trip').append(hello)
    expect(waits).toEqual([2_150])
    expect(sent.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['op-1', 'op-1'])
  })

  it('is waited for no longer than the app allows, all waits of a call together', async () => {
    const busy = problem(503, { code: 'ERR_OVERLOADED', retryAfter: 2 })
    const { client, sent } = scene([busy], { retry: { waitForMs: 5_000 } })
    await refused(client.session('trip').append(hello))
    expect(sent).toHaveLength(3)
    const longer = scene([problem(429, { code: 'ERR_RATE_LIMIT', retryAfter: 6 })], {
      retry: { waitForMs: 5_000 },
    })
    await refused(longer.client.session('trip').append(hello))
    expect(longer.sent).toHaveLength(1)
  })

  it('is never waited for longer than timers can', async () => {
    const busy = problem(429, { code: 'ERR_RATE_LIMIT', retryAfter: 10_000_000 })
    const { client, sent } = scene([busy], { retry: { waitForMs: Infinity } })
    await refused(client.health())
    expect(sent).toHaveLength(1)
  })

  it('may say when by a date', async () => {
    const date = new Date(1_700_000_000_000 + 4_200).toUTCString()
    const { client } = scene([new Response('', { status: 429, headers: { 'retry-after': date } })])
    expect((await refused(client.health())).retryAfter).toBe(4)
    for (const odd of ['soon', '0', '-3']) {
      const { client } = scene([new Response('', { status: 429, headers: { 'retry-after': odd } })])
      expect((await refused(client.health())).retryAfter).toBe(odd === 'soon' ? undefined : 1)
    }
  })
})

describe('a refusal', () => {
  it.each([400, 403, 404, 409, 412, 413, 422, 426])('is final: %i', async (status) => {
    const { client, sent } = scene([problem(status, { code: 'ERR_CONFLICT' })])
    expect(await refused(client.session('trip').append(hello))).toMatchObject({
      code: 'ERR_CONFLICT',
      status,
    })
    expect(sent).toHaveLength(1)
  })

  it.each([
    'ERR_MODEL',
    'ERR_NOT_CONFIGURED',
    'ERR_STORAGE_FULL',
    'ERR_STORAGE_LOST',
    'ERR_UPGRADE_REQUIRED',
  ] as const)('is final where the same request would only meet it again: %s', async (code) => {
    const { client, sent } = scene([problem(503, { code })])
    expect((await refused(client.health())).code).toBe(code)
    expect(sent).toHaveLength(1)
  })

  it('is what a redirect comes to: it would take the token elsewhere', async () => {
    const moved = new Response(null, { status: 307, headers: { location: 'https://elsewhere.test' } })
    const { client, sent } = scene([moved])
    expect(await refused(client.session('trip').append(hello))).toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      argument: 'baseUrl',
    })
    expect(sent.map(({ redirect }) => redirect)).toEqual(['manual'])
  })
})

describe('a token that is refused', () => {
  const denied = problem(401, { code: 'ERR_UNAUTHENTICATED' })

  it('is asked for once more, and told to the function', async () => {
    const asked: (string | undefined)[] = []
    const token = async (refusedToken?: string): Promise<string> => `token-${asked.push(refusedToken)}`
    const { client, sent, waits } = scene([denied, json({ sessions: [] })], { token })
    await client.sessions.list()
    expect(asked).toEqual([undefined, 'token-1'])
    expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer token-1',
      'Bearer token-2',
    ])
    expect(waits).toEqual([])
  })

  it('is asked for no third time', async () => {
    let asked = 0
    const { client, sent } = scene([denied], { token: () => `token-${++asked}` })
    expect((await refused(client.sessions.list())).code).toBe('ERR_UNAUTHENTICATED')
    expect([asked, sent.length]).toEqual([2, 2])
  })

  it('is not sent again where it is the same, or fixed', async () => {
    for (const token of ['fixed', () => 'same']) {
      const { client, sent } = scene([denied], { token })
      expect((await refused(client.sessions.list())).code).toBe('ERR_UNAUTHENTICATED')
      expect(sent).toHaveLength(1)
    }
  })

  it('is not sent at all where no header can hold it, and is in no message', async () => {
    const { client, sent } = scene([json({})], { token: 'top\r\nsecret' })
    const failure = await client.sessions.list().catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'ERR_INVALID_ARGUMENT', argument: 'token' })
    expect(String(failure)).not.toContain('secret')
    expect(sent).toEqual([])
  })

  it('is not needed by a guest, so that its function can make one', async () => {
    const { client, sent } = scene(
      [json({ token: 'guest', user_id: 'g1', expires_at: 9 }), json({ sessions: [] })],
      { token: async () => (await client.guests.create()).token },
    )
    await client.sessions.list()
    expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual([null, 'Bearer guest'])
  })
})

describe('an abort', () => {
  const reason = new Error('enough')

  it('before the call sends nothing', async () => {
    const { client, sent } = scene([json({})])
    await expect(client.sessions.list({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(sent).toEqual([])
  })

  it('ends a request that a fetch does not end', async () => {
    const controller = new AbortController()
    const { client, sent } = scene([undefined])
    const listing = client.sessions.list({ signal: controller.signal })
    await expect.poll(() => sent.length).toBe(1)
    controller.abort(reason)
    await expect(listing).rejects.toBe(reason)
    expect(sent[0]?.signal.aborted).toBe(true)
  })

  it('ends a wait', async () => {
    const controller = new AbortController()
    let isWaiting = false
    const { client, sent } = scene([offline], {
      clock: {
        now: () => 0,
        timeout: (ms) => {
          isWaiting ||= ms !== 30_000
          return { signal: new AbortController().signal, clear() {} }
        },
      },
    })
    const listing = client.sessions.list({ signal: controller.signal })
    await expect.poll(() => isWaiting).toBe(true)
    controller.abort(reason)
    await expect(listing).rejects.toBe(reason)
    expect(sent).toHaveLength(1)
  })

  it('is what no timer and no listener waits for once a call has ended', async () => {
    const { signal } = new AbortController()
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners++
      add(...given)
    }
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners--
      remove(...given)
    }
    const { client, timers } = scene([offline, json({ sessions: [] })])
    await client.sessions.list({ signal })
    expect([listeners, timers()]).toEqual([0, 0])
  })
})

describe('what cannot be sent', () => {
  it.each(['', '.', '..', 'a\ud800'])('is an id that no path can hold: %j', async (id) => {
    const { client, sent } = scene([json({})])
    const tries: (() => unknown)[] = [
      () => client.session(id),
      () => client.sessions.delete(id),
      () => client.session('trip').facts.forget(id),
      () => client.session('trip').forget(id),
      () => client.me.profile.get(id),
      () => client.session('trip').stopChat(id),
    ]
    for (const attempt of tries) {
      const failure = await Promise.resolve()
        .then(attempt)
        .catch((error: unknown) => error)
      expect(isPlimsollError(failure, 'ERR_INVALID_ARGUMENT')).toBe(true)
    }
    expect(sent).toEqual([])
  })

  it('is an op id that no header can hold', async () => {
    const { client, sent } = scene([json({})])
    for (const opId of ['', 'two words', 'ünï', 'a\nb']) {
      const append = client.session('trip').append(hello, { opId })
      await expect(append).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT', argument: 'opId' })
    }
    expect(sent).toEqual([])
  })

  it('is anything to what is no address', () => {
    expect(() => scene([], { baseUrl: 'memory' })).toThrow(expect.objectContaining({ argument: 'baseUrl' }))
  })
})
