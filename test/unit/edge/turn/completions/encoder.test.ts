import { describe, expect, it } from 'vitest'
import { CompletionEncoder } from '../../../../../src/edge/turn/completions/encoder.ts'
import { PlimsollError } from '../../../../../src/index.ts'

const head = { messageId: 'a1', createdAt: 1_000, model: 'm' }
const encoder = (isStream: boolean) => new CompletionEncoder(head, { isStream, includesUsage: false })
const text = { type: 'text', step: 1, text: 'Hi.' } as const
const reply = {
  type: 'reply',
  message: { content: 'Hi.' },
  reason: 'stop',
  usage: {},
  predicted: 7,
} as const

describe('a turn as a chat completion', () => {
  it('has the role once, and nothing twice that came piece by piece', () => {
    const stream = encoder(true)
    const sent = [text, text, reply].map((event) => stream.next(event)).join('')
    expect(sent.match(/"role"/g)).toHaveLength(1)
    expect(sent.match(/Hi\./g)).toHaveLength(2)
    expect(sent.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('is one JSON text with all that was said where it is no stream', () => {
    const whole = encoder(false)
    expect(whole.next(text)).toBe('')
    expect(JSON.parse(whole.next(reply))).toMatchObject({
      id: 'chatcmpl-a1',
      created: 1,
      choices: [{ message: { content: 'Hi.' } }],
      usage: { prompt_tokens: 7 },
    })
  })

  it('ends with an error and without [DONE] where it breaks off', () => {
    const error = new PlimsollError('ERR_MODEL', 'model m: the reply broke off')
    expect(encoder(true).next({ type: 'error', error })).toMatch(
      /^data: \{"error":\{.*"ERR_MODEL".*\}\}\n\n$/,
    )
  })
})
