import { describe, expect, it } from 'vitest'
import type { Request } from '../../../src/replay/request.ts'
import { diffRequests } from '../../../src/replay/request-diff.ts'

const messages = [{ role: 'user', content: 'Hi.' }]
const of = (value: object): Request => value as Request

describe('the difference of two requests, of which one has no messages', () => {
  it.each([
    ['the first', { messages: [] }, { messages }],
    ['the second', { messages }, { messages: [] }],
    ['both', { messages: [] }, { messages: [] }],
    ['the first, below the same system text', { system: 's', messages: [] }, { system: 's', messages }],
    ['the second, below the same system text', { system: 's', messages }, { system: 's', messages: [] }],
  ])('is none: %s', (_, a, b) => {
    const { cause, divergence } = diffRequests(of(a), of(b))
    expect([cause, divergence]).toEqual(['none', undefined])
  })

  it('is in front of them', () => {
    const { cause, divergence } = diffRequests(
      of({ system: 's', messages }),
      of({ system: 't', messages: [] }),
    )
    expect([cause, divergence?.byte]).toEqual(['system', 11])
  })
})

it.each([
  [{}, { messages }],
  [{ messages }, { system: 's' }],
  [{ input: 'Hi.' }, { input: 'Hi.' }],
])('what is no request by messages is refused by name: %j, %j', (a, b) => {
  expect(() => diffRequests(of(a), of(b))).toThrow(
    expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument: 'messages' }),
  )
})
