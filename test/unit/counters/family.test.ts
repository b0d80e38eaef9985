import fc from 'fast-check'
import { countTokens as cl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens as p50k } from 'gpt-tokenizer/encoding/p50k_base'
import { countTokens as r50k } from 'gpt-tokenizer/encoding/r50k_base'
import { describe, expect, it } from 'vitest'
import {
  calibrated,
  charsPerToken,
  counterFor,
  createMemory,
  defaultCounter,
  familyOf,
  mapStore,
  toAnthropic,
  toOpenAI,
  utf8Bound,
} from '../../../src/index.ts'
import type { Counter } from '../../../src/ports/counter.ts'
import { randomFrom } from '../../everywhere/random.ts'
import { runs } from '../support/runs.ts'
import { CLASSES, one } from '../support/token-classes.ts'

const VOCABULARIES = { cl100k, p50k, r50k } as const

describe.each(Object.keys(VOCABULARIES) as (keyof typeof VOCABULARIES)[])('the counter for %s', (family) => {
  it('counts 0.98 of the exact count at least, of every class of text', () => {
    const { count } = counterFor(family)
    for (const [name, make] of Object.entries(CLASSES)) {
      const text = make(randomFrom(7), 600)
      const exact = VOCABULARIES[family](text, { disallowedSpecial: new Set() })
      expect(count(text) / exact, name).toBeGreaterThanOrEqual(0.98)
    }
  })

  it('never counts more than the bytes', () => {
    const { count } = counterFor(family)
    fc.assert(
      fc.property(fc.integer(), fc.nat(200), (seed, length) => {
        const random = randomFrom(seed)
        const text = one(random, Object.values(CLASSES))(random, length)
        expect(count(text)).toBeLessThanOrEqual(utf8Bound.count(text))
      }),
      runs(200),
    )
  })
})

describe('counters by family', () => {
  it('are the default counter for o200k, and another one for each other family', () => {
    expect(counterFor('o200k')).toBe(defaultCounter)
    const families = ['cl100k', 'p50k', 'r50k', 'claude', 'claude-4.7'] as const
    const ids = families.map((family) => counterFor(family).id)
    expect(new Set([...ids, defaultCounter.id]).size).toBe(6)
    expect(() => counterFor('gpt' as never)).toThrow('counterFor: family must be one of o200k, cl100k')
  })

  it('count some 30 % more for the newer models of Anthropic than for the earlier ones', () => {
    const text = 'The lighthouse keeper wrote down everything that passed. '.repeat(20)
    const ratio = counterFor('claude-4.7').count(text) / counterFor('claude').count(text)
    expect(ratio).toBeCloseTo(1.3, 1)
  })

  it.each([
    ['gpt-5-mini', 'o200k'],
    ['openai/gpt-4o', 'o200k'],
    ['gpt-4.1', 'o200k'],
    ['o3-mini', 'o200k'],
    ['gpt-4-turbo', 'cl100k'],
    ['gpt-4', 'cl100k'],
    ['gpt-3.5-turbo', 'cl100k'],
    ['text-davinci-003', 'p50k'],
    ['davinci', 'r50k'],
    ['claude-3-5-sonnet-20241022', 'claude'],
    ['claude-sonnet-4-20250514', 'claude'],
    ['claude-sonnet-4-5', 'claude'],
    ['claude-opus-4-6', 'claude'],
    ['claude-opus-4-7', 'claude-4.7'],
    ['anthropic/claude-opus-4.7', 'claude-4.7'],
    ['claude-opus-4-10', 'claude-4.7'],
    ['claude-sonnet-5', 'claude-4.7'],
    ['llama-3', undefined],
  ])('know %s as %s', (model, family) => {
    expect(familyOf(model)).toBe(family)
  })
})

describe('a receipt', () => {
  const contextBy = async (counter: Counter) => {
    const session = createMemory({ store: mapStore(), budget: 4_000, counter }).session({ userId: 'ada' })
    await session.append({ role: 'user', content: 'To Turin, please. '.repeat(200) })
    return session
  }

  it('warns where the renderer is of another family than the counter, once', async () => {
    const session = await contextBy(defaultCounter)
    const context = await session.context()
    expect(context.receipt).toMatchObject({ family: 'o200k' })
    toOpenAI(context)
    expect(context.receipt.warnings).toBeUndefined()
    toAnthropic(context)
    toAnthropic(context)
    expect(context.receipt.warnings).toEqual([
      { code: 'counter-family', message: expect.stringContaining('counted as o200k does') },
    ])
  })

  it('warns of a counter for Anthropic before a request to OpenAI, not to Anthropic', async () => {
    const context = await (await contextBy(counterFor('claude-4.7'))).context()
    toAnthropic(context)
    expect(context.receipt.warnings).toBeUndefined()
    toOpenAI(context)
    expect(context.receipt.warnings).toHaveLength(1)
  })

  it('does not warn of a counter that says no family', async () => {
    const context = await (await contextBy(charsPerToken(4))).context()
    expect(context.receipt).not.toHaveProperty('family')
    toAnthropic(context)
    expect(context.receipt.warnings).toBeUndefined()
  })

  it('does not warn once a report has put the counts right', async () => {
    const counter = calibrated(defaultCounter)
    const session = await contextBy(counter)
    const first = await session.context()
    toAnthropic(first)
    expect(first.receipt.warnings).toHaveLength(1)
    counter.report(first, { input_tokens: 900 })
    const second = await session.context({ newEpoch: true })
    toAnthropic(second)
    expect(second.receipt).toMatchObject({ family: 'o200k', calibration: expect.any(Number) })
    expect(second.receipt.warnings).toBeUndefined()
  })
})
