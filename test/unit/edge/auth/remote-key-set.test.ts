import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { jwtAuthenticator } from '../../../../src/edge/auth/jwt.ts'
import type { Fetch } from '../../../../src/edge/auth/remote-key-set.ts'
import { webHost } from '../../../../src/platform/web.ts'
import { ownTimeouts } from '../../support/own-timeouts.ts'
import { bytes, ISSUER, NOW, options, outcome, SECONDS, signed } from './support.ts'

/** No other file waits for as long: they share a process. */
const TIMEOUT_MS = 53
const JWKS = `${ISSUER}/jwks`
const refused = { code: 'ERR_UNAUTHENTICATED' }

interface Pair {
  readonly key: CryptoKey
  readonly jwk: JWK
  readonly header: { readonly alg: string; readonly kid: string }
}

async function pair(alg: string, kid: string): Promise<Pair> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return { key: privateKey, jwk: { ...(await exportJWK(publicKey)), kid }, header: { alg, kid } }
}

const rsa = await pair('RS256', 'rsa')
const ec = await pair('ES256', 'ec')
const ed = await pair('EdDSA', 'ed')
const pss = await pair('PS256', 'pss')

const token = ({ key, header }: Pair, changes: object = {}): Promise<string> =>
  signed({ exp: SECONDS + 86_400, ...changes }, key, header)

/** An issuer whose answers are counted, and a clock that is set by hand. */
function issuer(keys: readonly JWK[] = [rsa.jwk, ec.jwk, ed.jwk]) {
  const state = { now: NOW, calls: 0, answer: (async () => Response.json({ keys })) as Fetch }
  const fetch: Fetch = (url, init) => {
    state.calls++
    return state.answer(url, init)
  }
  const authenticate = jwtAuthenticator({
    ...options,
    jwks: JWKS,
    fetch,
    clock: () => state.now,
    timeoutMs: TIMEOUT_MS,
  })
  return { state, authenticate }
}

const down: Fetch = () => Promise.reject(new TypeError('connection refused'))

describe('a token by the keys of an issuer', () => {
  it('holds by each of the default algorithms, after one request for the keys', async () => {
    const { state, authenticate } = issuer()
    const asked = vi.fn(state.answer)
    state.answer = asked
    for (const signer of [rsa, ec, ed])
      expect(await outcome(authenticate, await token(signer))).toEqual({
        userId: 'ada',
        expiresAt: expect.any(Number),
      })
    expect(asked.mock.calls.map(([url, { redirect }]) => [url, redirect])).toEqual([[JWKS, 'manual']])
  })

  it('is refused by an algorithm that is not pinned, without a request', async () => {
    const { state, authenticate } = issuer([pss.jwk])
    expect(await outcome(authenticate, await token(pss))).toMatchObject(refused)
    expect(
      await outcome(authenticate, await signed({}, bytes('x'.repeat(32)), { alg: 'HS256' })),
    ).toMatchObject(refused)
    expect(state.calls).toBe(0)
  })

  it('is refused where another key signed it, or where it names none and several fit', async () => {
    const stranger = await pair('RS256', 'rsa')
    const { authenticate } = issuer([rsa.jwk, { ...stranger.jwk, kid: 'other' }])
    expect(await outcome(authenticate, await token(stranger))).toMatchObject(refused)
    expect(await outcome(authenticate, await signed({}, rsa.key, { alg: 'RS256' }))).toMatchObject(refused)
    expect(await outcome(authenticate, await token(rsa))).toEqual({
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
  })

  it('is refused where it brings its own key or names where to find it', async () => {
    const { state, authenticate } = issuer()
    const stranger = await pair('RS256', 'rsa')
    const asked = vi.fn(state.answer)
    state.answer = asked
    for (const extra of [
      { jwk: stranger.jwk },
      { jku: 'https://evil.example/jwks' },
      { x5u: 'https://evil.example' },
    ])
      expect(
        await outcome(authenticate, await signed({}, stranger.key, { ...stranger.header, ...extra })),
      ).toMatchObject(refused)
    expect(asked.mock.calls.map(([url]) => url)).toEqual([JWKS])
  })
})

describe('requests for the keys', () => {
  it('are one for a thousand concurrent callers of a cold edge', async () => {
    const { state, authenticate } = issuer()
    const good = await token(rsa)
    const all = await Promise.all(Array.from({ length: 1000 }, () => outcome(authenticate, good)))
    expect(all.every((principal) => principal && 'userId' in principal)).toBe(true)
    expect(state.calls).toBe(1)
  })

  it('are at most one in 30 s under a flood of unknown keys', async () => {
    const { state, authenticate } = issuer()
    const flood = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        token({ ...rsa, header: { alg: 'RS256', kid: `unknown-${at}` } }),
      ),
    )
    const wave = async () => Promise.all(flood.map((bad) => outcome(authenticate, bad)))
    for (let second = 0; second < 90; second += 5) {
      state.now = NOW + second * 1000
      for (const error of await wave()) expect(error).toMatchObject(refused)
      expect(state.calls).toBe(1 + Math.floor(second / 30))
    }
  })

  it('are made for a key that is new, and it holds from then on', async () => {
    const { state, authenticate } = issuer([rsa.jwk])
    expect(await outcome(authenticate, await token(rsa))).toEqual({
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
    state.answer = async () => Response.json({ keys: [ec.jwk] })
    state.now += 29_999
    expect(await outcome(authenticate, await token(ec))).toMatchObject(refused)
    state.now += 1
    expect(await outcome(authenticate, await token(ec))).toEqual({
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
    expect(await outcome(authenticate, await token(rsa))).toMatchObject(refused)
    expect(state.calls).toBe(2)
  })

  it('are not made for nine minutes, and from then on ahead of need', async () => {
    const { state, authenticate } = issuer()
    const good = await token(rsa)
    await outcome(authenticate, good)
    state.now = NOW + 9 * 60_000 - 1
    expect(await outcome(authenticate, good)).toEqual({ userId: 'ada', expiresAt: expect.any(Number) })
    expect(state.calls).toBe(1)
    state.now += 1
    expect(await outcome(authenticate, good)).toEqual({ userId: 'ada', expiresAt: expect.any(Number) })
    expect(state.calls).toBe(2)
  })

  it('that fail ahead of need harm nobody until the keys are 10 minutes old', async () => {
    const { state, authenticate } = issuer()
    const good = await token(rsa)
    await outcome(authenticate, good)
    state.answer = down
    for (let second = 540; second < 600; second += 10) {
      state.now = NOW + second * 1000
      expect(await outcome(authenticate, good)).toEqual({ userId: 'ada', expiresAt: expect.any(Number) })
    }
    expect(state.calls).toBe(3)
    state.now = NOW + 600_000
    expect(await outcome(authenticate, good)).toMatchObject({ code: 'ERR_OVERLOADED' })
  })

  it('are made when the clock was set back far', async () => {
    const { state, authenticate } = issuer()
    const good = await token(rsa)
    await outcome(authenticate, good)
    state.now = NOW - 3_600_000
    expect(await outcome(authenticate, good)).toEqual({ userId: 'ada', expiresAt: expect.any(Number) })
    expect(state.calls).toBe(2)
  })
})

describe('keys that cannot be read', () => {
  const answers: { readonly [what: string]: Fetch } = {
    'no connection': down,
    'a server error': async () => Response.json({ keys: [rsa.jwk] }, { status: 500 }),
    'a redirect': async () => Response.redirect('https://evil.example/jwks', 302),
    'no JSON': async () => new Response('<html>'),
    'JSON without keys': async () => Response.json({ keys: 'none' }),
    'no answer in time': () => new Promise(() => undefined),
    'a body that never ends': async (_, { signal }) =>
      new Response(
        new ReadableStream({
          start: (controller) =>
            signal?.addEventListener('abort', () => controller.error(new Error('aborted'))),
        }),
      ),
  }
  it.each(Object.entries(answers))('say nothing against the token: %s', async (_, answer) => {
    const { state, authenticate } = issuer()
    state.answer = answer
    const good = await token(rsa)
    const error = await outcome(authenticate, good)
    expect(error).toMatchObject({
      code: 'ERR_OVERLOADED',
      message: "authenticate: the identity provider's keys cannot be read",
      retryAfter: 30,
    })
    expect(String((error as Error).cause)).not.toContain(good)
  })

  it('are waited for beyond the request that asked, by a promise that never rejects', async () => {
    for (const answer of [down, async () => Response.json({ keys: [rsa.jwk] })]) {
      const waited: Promise<unknown>[] = []
      const authenticate = jwtAuthenticator({
        ...options,
        jwks: JWKS,
        fetch: answer,
        waitUntil: (promise) => waited.push(promise),
      })
      const good = await token(rsa)
      await Promise.all([outcome(authenticate, good), outcome(authenticate, good)])
      expect(waited).toHaveLength(1)
      await waited[0]
    }
  })

  it('are no longer waited for', async () => {
    const { state, authenticate } = issuer()
    const signals: (AbortSignal | null | undefined)[] = []
    state.answer = (_, { signal }) => {
      signals.push(signal)
      return new Promise(() => undefined)
    }
    await outcome(authenticate, await token(rsa))
    expect(signals.map((signal) => signal?.aborted)).toEqual([true])
  })

  it('are asked for once in 30 s, and callers meanwhile learn how long to wait', async () => {
    const { state, authenticate } = issuer()
    state.answer = down
    const good = await token(rsa)
    const first = await Promise.all(Array.from({ length: 50 }, () => outcome(authenticate, good)))
    for (const error of first) expect(error).toMatchObject({ code: 'ERR_OVERLOADED', retryAfter: 30 })
    state.now = NOW + 29_999
    expect(await outcome(authenticate, good)).toMatchObject({ code: 'ERR_OVERLOADED', retryAfter: 1 })
    expect(state.calls).toBe(1)
    state.answer = async () => Response.json({ keys: [rsa.jwk] })
    state.now = NOW + 30_000
    expect(await outcome(authenticate, good)).toEqual({ userId: 'ada', expiresAt: expect.any(Number) })
    expect(state.calls).toBe(2)
  })

  it('refuse nobody whose key is known, while one that may be new waits', async () => {
    const { state, authenticate } = issuer([rsa.jwk])
    await outcome(authenticate, await token(rsa))
    state.answer = down
    state.now = NOW + 30_000
    expect(await outcome(authenticate, await token(ec))).toMatchObject({
      code: 'ERR_OVERLOADED',
      retryAfter: 30,
    })
    expect(await outcome(authenticate, await token(rsa))).toEqual({
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
  })

  describe('since the request that began it was cancelled', () => {
    const { host, open } = ownTimeouts()
    const { timeout } = webHost
    beforeEach(() => {
      vi.useFakeTimers()
      vi.spyOn(webHost, 'timeout').mockImplementation((ms) =>
        (ms === TIMEOUT_MS ? host : { timeout }).timeout(ms),
      )
    })
    afterEach(() => {
      vi.restoreAllMocks()
      vi.useRealTimers()
    })

    it('keep nobody waiting for longer than the time limit, and the next not at all', async () => {
      const { state, authenticate } = issuer()
      state.answer = () => new Promise(() => undefined)
      const good = await token(rsa)
      const waiting = [outcome(authenticate, good), outcome(authenticate, good)]
      await vi.advanceTimersByTimeAsync(TIMEOUT_MS)
      for (const error of await Promise.all(waiting)) expect(error).toMatchObject({ code: 'ERR_OVERLOADED' })
      // No timer fires any more: this one must be told at once.
      expect(await outcome(authenticate, good)).toMatchObject({ code: 'ERR_OVERLOADED' })
      expect(open.size).toBe(0)
      expect(state.calls).toBe(1)
    })
  })
})
