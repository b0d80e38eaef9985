import { describe, expect, it } from 'vitest'
import {
  assertFits,
  cacheReport,
  charsPerToken,
  createMemory,
  explain,
  fromAnthropicMessages,
  fromOpenAIMessages,
  inlineAttachments,
  lintRequest,
  mapStore,
  parseAnthropicReply,
  stringifyAnthropic,
  stringifyContext,
  stringifyOpenAI,
  stringifyOpenAIResponses,
  toAnthropic,
  toOpenAI,
  toOpenAIResponses,
} from '../../src/index.ts'
import { diffContexts, lintPrefix } from '../../src/render/diff.ts'
import { contextOf, user } from './samples.ts'

const invalid = (argument: string) => expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument })
const context = contextOf([user('Book the 9:40.')])

describe('what is no context', () => {
  const renderers = {
    toOpenAI,
    toOpenAIResponses,
    toAnthropic,
    stringifyOpenAI,
    stringifyOpenAIResponses,
    stringifyAnthropic,
    stringifyContext,
    explain,
  }
  it.each(Object.entries(renderers))('is refused by %s, its promise before all', (name, render) => {
    for (const given of [Promise.resolve(context), undefined, null, {}]) {
      expect(() => render(given as never)).toThrow(invalid('context'))
      expect(() => render(given as never)).toThrow(`${name}: context must be what context() resolves to`)
    }
  })
})

describe('a wrong value of an option', () => {
  const wrong = [
    ['cache', [toOpenAI, toOpenAIResponses, toAnthropic], ['no', 0, null, 1, {}]],
    ['ttl', [toOpenAIResponses], ['1h', 30, null]],
    ['compareWith', [toOpenAIResponses], ['', 7, null]],
    ['opaque', [toOpenAIResponses], ['no', 0, null]],
    ['previousMessageId', [toAnthropic], ['', 7, {}]],
  ] as const
  const written = new Map<
    unknown,
    (given: typeof context, body: { readonly [field: string]: unknown }, options: never) => string
  >([
    [toOpenAI, stringifyOpenAI],
    [toOpenAIResponses, stringifyOpenAIResponses],
    [toAnthropic, stringifyAnthropic],
  ])
  it.each(wrong)('is refused: %s', (name, renderers, values) => {
    for (const render of renderers)
      for (const value of values) {
        const options = { [name]: value } as never
        expect(() => render(context, options)).toThrow(invalid(name))
        expect(() => written.get(render)?.(context, {}, options)).toThrow(invalid(name))
        if (render !== toAnthropic) continue
        for (const provider of ['openai', 'anthropic'] as const)
          expect(() => explain(context, provider, options)).toThrow(invalid(name))
      }
  })

  it('is none where it is left out as undefined', () => {
    expect(toOpenAIResponses(context, { ttl: undefined } as never)).toEqual(toOpenAIResponses(context))
    expect(toAnthropic(context, { cache: undefined } as never)).toEqual(toAnthropic(context))
  })
})

describe('what is no request, no reply and no conversation', () => {
  it('is refused by what reads it, a forgotten await before all', async () => {
    const counter = charsPerToken(4)
    expect(() => assertFits(Promise.resolve({}), counter, 100)).toThrow(invalid('request'))
    expect(() => assertFits(undefined as never, counter, 100)).toThrow(invalid('request'))
    expect(() => assertFits({ messages: [] }, {} as never, 100)).toThrow(invalid('counter'))
    const read = async () => ({ mediaType: 'image/png', bytes: new Uint8Array() })
    await expect(inlineAttachments(Promise.resolve(context) as never, read)).rejects.toThrow(
      invalid('context'),
    )
    await expect(inlineAttachments(context, undefined as never)).rejects.toThrow(invalid('read'))
    expect(() => parseAnthropicReply({ role: 'assistant', content: 7 as never })).toThrow(invalid('message'))
  })

  it.each([
    ['fromOpenAIMessages', fromOpenAIMessages] as const,
    ['fromAnthropicMessages', fromAnthropicMessages] as const,
  ])('is refused by %s', (_, read) => {
    for (const given of [undefined, null, {}, Promise.resolve([]), 'hi'])
      expect(() => read(given as never)).toThrow(invalid('messages'))
    expect(() => read([null] as never)).toThrow(invalid('messages[0].role'))
    expect(() => read([{ role: 'user', content: 7 }] as never)).toThrow(invalid('messages[0].content'))
  })

  it('nor is a system text dropped that is none', () => {
    expect(() => fromAnthropicMessages([], 7 as never)).toThrow(invalid('system'))
    expect(() => fromAnthropicMessages([], { type: 'text', text: 'S' } as never)).toThrow(invalid('system'))
    expect(fromAnthropicMessages([], undefined)).toEqual([])
  })
})

describe('a context of another session', () => {
  it('is none that came before', async () => {
    const memory = createMemory({ store: mapStore() })
    const [trip, other] = await Promise.all(
      ['trip', 'other'].map(async (sessionId) => {
        const session = memory.session({ userId: 'ada', sessionId })
        await session.append({ role: 'user', content: 'Book the 9:40.' })
        return session.context()
      }),
    )
    const reply = { usage: { prompt_tokens: 5_000 } }
    if (!trip || !other) throw new Error('There are two')
    expect(() => cacheReport(trip, reply, other)).toThrow(invalid('before'))
    expect(() => cacheReport(trip, reply, Promise.resolve(other) as never)).toThrow(invalid('before'))
    expect(() => cacheReport(Promise.resolve(trip) as never, reply)).toThrow(invalid('context'))
    expect(cacheReport(trip, reply, trip).predicted.cached).toBeGreaterThan(0)
  })
})

describe('a provider that nobody knows', () => {
  it.each(['gemini', 'Anthropic', null])('is refused: %s', (given) => {
    const provider = given as never
    expect(() => explain(context, provider)).toThrow(invalid('provider'))
    expect(() => diffContexts(context, context, provider)).toThrow(invalid('provider'))
    expect(() => lintPrefix(context, context, provider)).toThrow(invalid('provider'))
    expect(() => lintRequest(toOpenAI(context), provider)).toThrow(invalid('provider'))
  })

  it('nor is what is no request looked through', () => {
    expect(() => lintRequest(null as never, 'openai')).toThrow(invalid('request'))
  })
})
