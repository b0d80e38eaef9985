import { runInDurableObject } from 'cloudflare:test'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PROBLEMS } from '../../../src/edge/app/problem.ts'
import {
  type ErrorCode,
  type ErrorDetails,
  isPlimsollError,
  PlimsollError,
} from '../../../src/ports/errors.ts'
import { fromWire, type Problem } from '../../../src/ports/wire.ts'
import { Caller } from './caller.ts'
import { sessionObject } from './rows.ts'

const SECRET = 'secret-of-the-cause'
/** Each field that an error may have, with a value. */
const DETAILS: Required<Omit<ErrorDetails, 'cause'>> = {
  argument: 'messages[0].content',
  breakdown: {
    ...{ cap: 1, margin: 2, system: 3, memory: 4, tools: 5, framing: 6, user: 7, step: 8, tail: 9 },
    floor: 10,
  },
  pending: [{ entry: 'm1', callId: 'c1', name: 'find' }],
  size: 11,
  limit: 12,
  id: 'm1',
  version: null,
  retryAfter: 13,
  budget: 'appends',
}
const STATUSES: Readonly<Record<ErrorCode, number>> = {
  ERR_BUDGET_TOO_SMALL: 422,
  ERR_CONFLICT: 409,
  ERR_CONTEXT_TOO_LARGE: 422,
  ERR_COUNTER_UNAVAILABLE: 503,
  ERR_DUPLICATE_ID: 409,
  ERR_ENTRY_TOO_LARGE: 413,
  ERR_FORBIDDEN: 403,
  ERR_HOOK: 500,
  ERR_INTERNAL: 500,
  ERR_INTERRUPTED: 409,
  ERR_INVALID_ARGUMENT: 400,
  ERR_LAW_BROKEN: 500,
  ERR_METHOD_NOT_ALLOWED: 405,
  ERR_LIMIT: 422,
  ERR_MODEL: 502,
  ERR_NOT_CONFIGURED: 503,
  ERR_NOT_FOUND: 404,
  ERR_NOT_LOADED: 503,
  ERR_OFFLINE: 503,
  ERR_OVERLOADED: 503,
  ERR_RATE_LIMIT: 429,
  ERR_READ_ONLY: 500,
  ERR_STORAGE: 500,
  ERR_STORAGE_FULL: 507,
  ERR_DECRYPT: 500,
  ERR_STORAGE_LOCKED: 500,
  ERR_STORAGE_LOST: 500,
  ERR_TIMEOUT: 504,
  ERR_TOOL_PENDING: 409,
  ERR_UNAUTHENTICATED: 401,
  ERR_UNSUPPORTED_MEDIA_TYPE: 415,
  ERR_UPGRADE_REQUIRED: 426,
}

interface Informs {
  info(): Promise<unknown>
}

/** What a session's object answers a question with, once asking it throws that. */
async function thrown(error: unknown) {
  const caller = new Caller()
  const session = await caller.session()
  await runInDurableObject(sessionObject(caller.user, session), (instance) => {
    const prototype = Object.getPrototypeOf(instance) as Informs
    prototype.info = async () => {
      throw error
    }
    // What is inherited is there again.
    onTestFinished(() => {
      Reflect.deleteProperty(prototype, 'info')
    })
  })
  const response = await caller.fetch('GET', `/v1/sessions/${session}`)
  const text = await response.text()
  return { response, text, problem: fromWire(JSON.parse(text)) as Problem }
}

describe('an error inside of an object', () => {
  it.each(Object.entries(STATUSES) as [ErrorCode, number][])(
    '%s comes out with status %i, its code and its fields, and is what it was once it is read',
    async (code, status) => {
      const { response, text, problem } = await thrown(
        new PlimsollError(code, 'info: it failed', { ...DETAILS, cause: new Error(SECRET) }),
      )
      expect([response.status, problem.status]).toEqual([status, status])
      expect(response.headers.get('Content-Type')).toBe('application/problem+json')
      expect(response.headers.get('Retry-After')).toBe('13')
      expect(response.headers.has('WWW-Authenticate')).toBe(status === 401)
      expect(problem).toEqual({
        ...DETAILS,
        type: `urn:plimsoll:error:${code}`,
        title: PROBLEMS[code].title,
        status,
        detail: 'info: it failed',
        code,
        requestId: response.headers.get('X-Request-Id'),
      })
      expect(text).not.toContain(SECRET)
      const { detail, code: read, ...details } = problem
      expect(isPlimsollError(new PlimsollError(read, detail, details), code)).toBe(true)
    },
  )

  it('has a status for every code that there is', () => {
    expect(Object.keys(PROBLEMS).sort()).toEqual(Object.keys(STATUSES).sort())
    for (const [code, { status }] of Object.entries(PROBLEMS))
      expect([code, status]).toEqual([code, STATUSES[code as ErrorCode]])
  })

  it.each([
    ['a TypeError', () => new TypeError(SECRET)],
    ['a text', () => SECRET],
    ['nothing', () => undefined],
    [
      'an error with a code of another library’s',
      () => Object.assign(new Error(SECRET), { code: 'ERR_NOT_FOUND' }),
    ],
    ['an error that names secrets', () => Object.assign(new Error(SECRET), { name: SECRET })],
    ['a code of a newer version', () => new PlimsollError('ERR_OF_LATER' as ErrorCode, SECRET)],
    ['a code that every object has', () => new PlimsollError('constructor' as ErrorCode, SECRET)],
  ])('that is not ours, %s, says so and nothing else', async (_, make) => {
    const { response, text, problem } = await thrown(make())
    expect([response.status, problem.code]).toEqual([500, 'ERR_INTERNAL'])
    expect(response.headers.get('Content-Type')).toBe('application/problem+json')
    expect(text).not.toContain(SECRET)
    expect(problem).toEqual({
      type: 'urn:plimsoll:error:ERR_INTERNAL',
      title: PROBLEMS.ERR_INTERNAL.title,
      status: 500,
      detail: 'the edge: internal error; send the same request again',
      code: 'ERR_INTERNAL',
      requestId: response.headers.get('X-Request-Id'),
    })
  })
})
