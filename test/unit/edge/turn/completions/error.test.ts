import { describe, expect, it } from 'vitest'
import { chatErrorOf } from '../../../../../src/edge/turn/completions/error.ts'
import { type ErrorCode, PlimsollError } from '../../../../../src/index.ts'

const of = (code: ErrorCode, details = {}) =>
  chatErrorOf(new PlimsollError(code, 'operation: reason', details))

describe('an error of the OpenAI door', () => {
  it.each<[ErrorCode, number, string, string]>([
    ['ERR_INVALID_ARGUMENT', 400, 'invalid_request_error', 'ERR_INVALID_ARGUMENT'],
    ['ERR_TOOL_PENDING', 400, 'invalid_request_error', 'ERR_TOOL_PENDING'],
    ['ERR_BUDGET_TOO_SMALL', 400, 'invalid_request_error', 'context_length_exceeded'],
    ['ERR_UNAUTHENTICATED', 401, 'authentication_error', 'invalid_api_key'],
    ['ERR_NOT_FOUND', 404, 'invalid_request_error', 'ERR_NOT_FOUND'],
    ['ERR_RATE_LIMIT', 429, 'rate_limit_error', 'rate_limit_exceeded'],
    ['ERR_MODEL', 502, 'server_error', 'ERR_MODEL'],
    ['ERR_OVERLOADED', 503, 'server_error', 'ERR_OVERLOADED'],
    ['ERR_TIMEOUT', 504, 'server_error', 'ERR_TIMEOUT'],
  ])('has the shape of OpenAI: %s is %i', (code, status, type, name) => {
    expect(of(code)).toMatchObject({
      status,
      body: { error: { message: 'operation: reason', type, code: name, param: null } },
    })
  })

  it('names the field at fault, and the model that there is none of', () => {
    expect(of('ERR_INVALID_ARGUMENT', { argument: 'tools[0]' }).body.error.param).toBe('tools[0]')
    expect(of('ERR_INVALID_ARGUMENT', { argument: 'model' }).body.error.code).toBe('model_not_found')
  })

  it('says when to try again, and where that is of no use', () => {
    expect(of('ERR_RATE_LIMIT', { retryAfter: 7 }).headers).toEqual({ 'Retry-After': '7' })
    expect(of('ERR_CONFLICT').headers).toEqual({ 'X-Should-Retry': 'false' })
    expect(of('ERR_MODEL').headers).toEqual({ 'X-Should-Retry': 'false' })
    expect(of('ERR_OVERLOADED').headers).toEqual({})
  })

  it('tells nothing of a bug', () => {
    const { status, body } = chatErrorOf(new TypeError('cannot read 4711 of undefined'))
    expect(status).toBe(500)
    expect(JSON.stringify(body)).not.toContain('4711')
  })
})
