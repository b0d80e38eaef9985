import { describe, expect, it } from 'vitest'
import {
  explain,
  lintRequest,
  stringifyAnthropic,
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
    explain,
  }
  it.each(Object.entries(renderers))('is refused by %s, its promise before all', (name, render) => {
    for (const given of [Promise.resolve(context), undefined, null, {}]) {
      expect(() => render(given as never)).toThrow(invalid('context'))
      expect(() => render(given as never)).toThrow(`${name}: context must be what context() resolves to`)
    }
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
