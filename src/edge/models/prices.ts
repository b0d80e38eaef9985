import { PlimsollError } from '../../ports/errors.ts'
import type { Usage } from '../../ports/model.ts'

/** What a model costs, in dollars a million tokens. */
export interface ModelPrices {
  readonly input: number
  /** Of input that is read from the provider's prompt cache. Default: as `input`. */
  readonly cached?: number
  /** Of input that is written to it. Default: as `input`. */
  readonly write?: number
  readonly output: number
}

const NAMES = ['input', 'cached', 'write', 'output'] as const

/**
 * Prices as a variable has them: `input=2.5 cached=0.25 output=10`.
 *
 * @throws ERR_NOT_CONFIGURED: a name that is not known, or that is there twice; no number from 0
 * on; no `input` or no `output`
 */
export function pricesIn(text: string): ModelPrices {
  const prices: { [Name in (typeof NAMES)[number]]?: number } = {}
  for (const pair of text.split(/\s+/).filter((one) => one !== '')) {
    const [given, amount = ''] = pair.split('=')
    const name = NAMES.find((one) => one === given)
    if (!name || prices[name] !== undefined || !/^\d+(\.\d+)?$/.test(amount)) throw wrong(`not "${pair}"`)
    prices[name] = Number(amount)
  }
  const { input, output, ...rest } = prices
  if (input === undefined || output === undefined) throw wrong('with input and output at least')
  return { input, output, ...rest }
}

/** Dollars. */
export function priceOf(
  { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens }: Required<Usage>,
  { input, cached = input, write = input, output }: ModelPrices,
): number {
  const fresh = inputTokens - cachedInputTokens - cacheWriteTokens
  const millionths =
    fresh * input + cachedInputTokens * cached + cacheWriteTokens * write + outputTokens * output
  return millionths / 1_000_000
}

function wrong(reason: string): PlimsollError {
  return new PlimsollError(
    'ERR_NOT_CONFIGURED',
    `settings: MODEL_PRICES must be dollars a million tokens, as "input=2.5 cached=0.25 write=3.125 output=10", ${reason}`,
  )
}
