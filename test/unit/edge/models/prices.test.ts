import { describe, expect, it } from 'vitest'
import { priceOf, pricesIn } from '../../../../src/edge/models/prices.ts'

const MILLION = 1_000_000
const USAGE = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 }

describe('prices of a model', () => {
  it('are dollars a million tokens, of each kind once', () => {
    const prices = pricesIn('input=2.5 cached=0.25  write=3.125 output=10')
    expect(prices).toEqual({ input: 2.5, cached: 0.25, write: 3.125, output: 10 })
    const all = { inputTokens: 6 * MILLION, cachedInputTokens: 3 * MILLION, cacheWriteTokens: MILLION }
    expect(priceOf({ ...all, outputTokens: MILLION }, prices)).toBe(2 * 2.5 + 3 * 0.25 + 3.125 + 10)
    expect(priceOf(USAGE, prices)).toBe(0)
  })

  it('of a cache are those of input, where nothing else is said', () => {
    const all = { inputTokens: 3 * MILLION, cachedInputTokens: MILLION, cacheWriteTokens: MILLION }
    expect(priceOf({ ...USAGE, ...all }, pricesIn('input=2 output=0'))).toBe(6)
  })

  it.each([
    ...['input=1', 'output=1', 'input=1 output=1 input=1', 'input=1 output=1 tax=1', 'input=-1 output=1'],
    ...['input=1 output=', 'input=1 output=free', 'input=1 output=1e3', 'input output=1', '1 2'],
  ])('are refused where they say something else: %s', (text) =>
    expect(() => pricesIn(text)).toThrow(expect.objectContaining({ code: 'ERR_NOT_CONFIGURED' })),
  )
})
