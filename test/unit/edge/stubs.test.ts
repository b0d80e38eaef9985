import { describe, expect, it } from 'vitest'
import { createApp } from '../../../src/edge/app/create-app.ts'
import { packed } from '../../../src/edge/objects/answer.ts'
import type { EdgeBindings } from '../../../src/edge/objects/bindings.ts'
import { PlimsollError } from '../../../src/ports/errors.ts'
import { platformError } from './namespace.ts'

/** Cloudflare's own words may name objects, and what a stub threw may quote anybody. */
const SECRET = 'the object of ada'
const lost = platformError(`Network connection lost: ${SECRET}`, { retryable: true })
const busy = platformError(`Durable Object is overloaded: ${SECRET}`, { overloaded: true, retryable: true })
const thrown = platformError(`it said ${SECRET}`, { remote: true })
/** By an object that did not reach another one. */
const passedOn = platformError(`Network connection lost: ${SECRET}`, { remote: true, retryable: true })

/**
 * An app over stubs that fail one after the other as `faults` say, and answer then. A stub that
 * failed is dead, as Cloudflare's are.
 */
function edge(...faults: readonly unknown[]) {
  const left = [...faults]
  const seen = { stubs: 0, calls: 0, onDead: 0 }
  const getByName = () => {
    seen.stubs++
    let isDead = false
    return new Proxy(
      {},
      {
        get: () => async () => {
          seen.calls++
          if (isDead) seen.onDead++
          const fault = left.shift()
          isDead = fault !== undefined
          if (isDead) throw fault
          return packed({ json: '{"answered":true}' })
        },
      },
    )
  }
  const objects = { SESSIONS: { getByName }, USERS: { getByName } } as unknown as EdgeBindings
  const lines: object[] = []
  const app = createApp(() => ({
    objects,
    authenticate: async () => ({ userId: 'ada' }),
    log: (line) => void lines.push(line),
  }))
  const call = async (method: string, path: string, body?: object) => {
    const response = await app.request(
      `https://edge.test${path}`,
      {
        method,
        ...(body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
      },
      {},
    )
    const text = await response.text()
    expect(text + JSON.stringify(lines)).not.toContain(SECRET)
    return { status: response.status, headers: response.headers, body: JSON.parse(text) as { code?: string } }
  }
  return { call, seen }
}

const CALLS: [method: string, path: string, body: object | undefined][] = [
  ['POST', '/v1/sessions/trip/messages', { messages: [{ role: 'user', content: 'Hi.' }] }],
  ['POST', '/v1/sessions/trip/context', {}],
  ['GET', '/v1/sessions/trip/messages', undefined],
  ['GET', '/v1/sessions', undefined],
  ['PUT', '/v1/me/profile/about', { text: 'Ada.' }],
]

describe.each(CALLS)('%s %s, where the stub of its object throws (T19)', (method, path, body) => {
  it('is asked for again through a new stub, where the object was not reached', async () => {
    const { call, seen } = edge(lost, lost)
    expect(await call(method, path, body)).toMatchObject({ status: 200, body: { answered: true } })
    expect(seen).toEqual({ stubs: 3, calls: 3, onDead: 0 })
  })

  it('is asked for three times at most, and then not known to be done', async () => {
    const { call, seen } = edge(lost, lost, lost, lost)
    expect(await call(method, path, body)).toMatchObject({ status: 500, body: { code: 'ERR_STORAGE' } })
    expect(seen).toEqual({ stubs: 3, calls: 3, onDead: 0 })
  })

  it('is not asked for again at once, where the object is overloaded: the client learns when', async () => {
    const { call, seen } = edge(busy)
    const { status, headers, body: problem } = await call(method, path, body)
    expect({ status, code: problem.code }).toEqual({ status: 503, code: 'ERR_OVERLOADED' })
    expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(seen.calls).toBe(1)
  })

  it('is not asked for again, where the object itself threw', async () => {
    for (const [error, status, code] of [
      [thrown, 500, 'ERR_INTERNAL'],
      [passedOn, 500, 'ERR_STORAGE'],
      [new PlimsollError('ERR_CONFLICT', 'others were first'), 409, 'ERR_CONFLICT'],
      [new Error(SECRET), 500, 'ERR_STORAGE'],
    ] as const) {
      const { call, seen } = edge(error)
      expect(await call(method, path, body)).toMatchObject({ status, body: { code } })
      expect(seen.calls).toBe(1)
    }
  })
})
