import { describe, expect, it } from 'vitest'
import { isPlimsollError, RequestError } from '../../../../src/client/index.ts'
import type { ErrorCode, ErrorDetails } from '../../../../src/ports/errors.ts'
import { toWire } from '../../../../src/ports/wire.ts'
import { problem, refused, scene } from './support.ts'

const breakdown = {
  cap: 100,
  margin: 12,
  system: 9,
  memory: 0,
  tools: 70,
  framing: 3,
  user: 10,
  step: 0,
  tail: 0,
  floor: 104,
}

/** Each code with a status that it may travel under, and its fields. */
const all: { readonly [Code in ErrorCode]: readonly [number, ErrorDetails] } = {
  ERR_BUDGET_TOO_SMALL: [422, { breakdown, limit: 104 }],
  ERR_CONFLICT: [412, { id: 'checkpoint', version: 'op-7' }],
  ERR_CONTEXT_TOO_LARGE: [422, { size: 10, limit: 9 }],
  ERR_COUNTER_UNAVAILABLE: [500, {}],
  ERR_DUPLICATE_ID: [409, { id: 'm1' }],
  ERR_ENTRY_TOO_LARGE: [413, { size: 10, limit: 9, argument: 'messages[0]' }],
  ERR_FORBIDDEN: [403, {}],
  ERR_HOOK: [500, {}],
  ERR_INTERNAL: [500, {}],
  ERR_INTERRUPTED: [503, {}],
  ERR_INVALID_ARGUMENT: [400, { argument: 'messages[0].role' }],
  ERR_LAW_BROKEN: [500, {}],
  ERR_LIMIT: [409, { limit: 64 }],
  ERR_METHOD_NOT_ALLOWED: [405, {}],
  ERR_NOT_LOADED: [503, {}],
  ERR_MODEL: [502, {}],
  ERR_NOT_CONFIGURED: [503, {}],
  ERR_NOT_FOUND: [404, { id: 'trip' }],
  ERR_OFFLINE: [503, {}],
  ERR_OVERLOADED: [503, { retryAfter: 2 }],
  ERR_RATE_LIMIT: [429, { retryAfter: 60, limit: 2, budget: 'appends' }],
  ERR_READ_ONLY: [500, {}],
  ERR_STORAGE: [500, {}],
  ERR_STORAGE_FULL: [507, {}],
  ERR_DECRYPT: [500, {}],
  ERR_STORAGE_LOCKED: [500, {}],
  ERR_STORAGE_LOST: [500, {}],
  ERR_TIMEOUT: [504, { limit: 30_000 }],
  ERR_TOOL_PENDING: [409, { pending: [{ entry: 'm2', callId: 'call_1', name: 'find' }] }],
  ERR_UNAUTHENTICATED: [401, {}],
  ERR_UNSUPPORTED_MEDIA_TYPE: [415, { argument: 'Content-Type' }],
  ERR_UPGRADE_REQUIRED: [426, {}],
}

describe('a refusal of the edge', () => {
  it.each(Object.entries(all))(
    'is an error of its code, with all its fields: %s',
    async (code, [status, fields]) => {
      const wired = toWire({ ...fields, requestId: 'r-1' }) as object
      const { client } = scene([
        problem(status, { code: code as ErrorCode, detail: 'context: no', ...wired }),
      ])
      const error = await refused(client.session('trip').rewind('m1'))
      expect(error).toMatchObject({
        code,
        message: 'context: no',
        status,
        requestId: 'r-1',
        opId: 'op-1',
        ...fields,
      })
      expect(error).toBeInstanceOf(RequestError)
      expect(isPlimsollError(error, code as ErrorCode)).toBe(true)
      const known = ['name', 'code', 'status', 'requestId', 'opId', ...Object.keys(fields)]
      expect(Object.keys(error).filter((key) => !known.includes(key))).toEqual([])
    },
  )

  it('says where nothing is there now', async () => {
    const { client } = scene([problem(412, { code: 'ERR_CONFLICT', version: null })])
    expect((await refused(client.session('trip').checkpoint.set(1))).version).toBeNull()
  })

  it('cannot put other fields on the error', async () => {
    const { client } = scene([
      problem(
        400,
        JSON.parse(`{ "code": "ERR_LIMIT", "detail": "no", "extra": 1,
      "name": "Other", "stack": "here", "message": "there", "cause": 1, "__proto__": { "polluted": true } }`),
      ),
    ])
    const error = await refused(client.sessions.list())
    expect(error).toMatchObject({ name: 'PlimsollError', message: 'no' })
    for (const key of ['extra', 'polluted']) expect(error).not.toHaveProperty(key)
    expect(error.stack).not.toBe('here')
    expect(error.cause).toBeUndefined()
  })

  it('has no op id where nothing was to be written', async () => {
    const { client } = scene([problem(404, { code: 'ERR_NOT_FOUND' })])
    expect((await refused(client.session('trip').messages())).opId).toBeUndefined()
  })
})

describe('a refusal of somebody else', () => {
  it.each([
    [400, 'ERR_INVALID_ARGUMENT'],
    [401, 'ERR_UNAUTHENTICATED'],
    [403, 'ERR_FORBIDDEN'],
    // It says nothing of what the edge has.
    [404, 'ERR_STORAGE'],
    [413, 'ERR_ENTRY_TOO_LARGE'],
    [429, 'ERR_RATE_LIMIT'],
    [500, 'ERR_STORAGE'],
    [502, 'ERR_STORAGE'],
    [504, 'ERR_TIMEOUT'],
  ])('has the code of its status: %i', async (status, code) => {
    for (const [type, body] of [
      ['text/html', '<h1>No</h1>'],
      ['application/json', '{"code":"ERR_LIMIT","detail":"no"}'],
      ['application/problem+json', '<h1>No</h1>'],
      ['application/problem+json', '{"title":"No","detail":"no","retry_after":"soon"}'],
      ['application/problem+json', 'null'],
    ] as const) {
      const headers = { 'content-type': type, 'x-request-id': 'r-9' }
      const { client } = scene([new Response(body, { status, headers })], { retry: { retries: 0 } })
      expect(await refused(client.session('trip').messages())).toMatchObject({
        code,
        status,
        message: `GET /v1/sessions/trip/messages: status ${status}`,
        requestId: 'r-9',
      })
    }
  })
})
