import { describe, expect, it } from 'vitest'
import {
  type CacheReply,
  type Context,
  cacheReport,
  charsPerToken,
  createMemory,
  mapStore,
  type Session,
} from '../../src/index.ts'

const text = 'The train to the coast leaves in the morning. '.repeat(20)
const open = (): Session =>
  createMemory({ store: mapStore(), budget: 4_000, counter: charsPerToken(4) }).session({
    userId: 'ada',
    sessionId: 'trip',
  })

/** Contexts of calls, each answered. */
async function contexts(count: number): Promise<readonly Context[]> {
  const session = open()
  const made: Context[] = []
  for (let index = 0; index < count; index++) {
    await session.append({ role: 'user', content: `Question ${index}. ${text}` })
    made.push(await session.context())
    await session.append({ role: 'assistant', content: `Answer ${index}. ${text}` })
  }
  return made
}
const [first, second, third, ...later] = (await contexts(16)) as [Context, Context, Context, ...Context[]]
const begun = later.findIndex(({ epoch }, index) => epoch !== later[index - 1]?.epoch && index > 0)
const usage = ({ receipt }: Context, cached: number) => ({
  inputTokens: receipt.used,
  cachedInputTokens: cached,
})

describe('cacheReport', () => {
  it('predicts what the request before began with, by that one or by the log', () => {
    const reply = { usage: usage(third, second.receipt.used) }
    expect(cacheReport(third, reply, second)).toMatchObject({
      status: 'hit',
      cause: 'none',
      predicted: { input: third.receipt.used, cached: second.receipt.used },
      reported: { input: third.receipt.used, cached: second.receipt.used },
      expected: second.receipt.used,
    })
    expect(cacheReport(third, reply)).toEqual(cacheReport(third, reply, second))
  })

  it('counts in the provider’s own tokens', () => {
    const { used } = third.receipt
    const reply = {
      usage: { prompt_tokens: 2 * used, prompt_tokens_details: { cached_tokens: 2 * second.receipt.used } },
    }
    expect(cacheReport(third, reply)).toMatchObject({ status: 'hit', expected: 2 * second.receipt.used })
    const half = {
      usage: { prompt_tokens: 2 * used, prompt_tokens_details: { cached_tokens: second.receipt.used } },
    }
    expect(cacheReport(third, half)).toMatchObject({ status: 'miss', cause: 'unknown' })
    expect(cacheReport(third, { usage: usage(third, 0) })).toMatchObject({ status: 'miss', cause: 'small' })
  })

  it('says that nothing came before the first', () => {
    expect(cacheReport(first, { usage: usage(first, 0) })).toMatchObject({
      status: 'hit',
      cause: 'first',
      expected: 0,
    })
  })

  it('names the cause of an epoch that began', () => {
    const [before, after] = [later[begun - 1], later[begun]] as [Context, Context]
    expect(cacheReport(after, { usage: usage(after, 0) }, before)).toMatchObject({
      status: 'hit',
      cause: 'epoch',
      epoch: 'window',
      predicted: { cached: 0 },
    })
  })

  const context = later[begun - 1] as Context
  const before = later[begun - 2] as Context
  it.each([
    [{ prompt_cache_diagnostics: { type: 'cache_miss', reason: 'tools_changed' } }, 'tools', 'tools_changed'],
    [
      { prompt_cache_diagnostics: { type: 'cache_miss', reason: 'verbosity_changed' } },
      'settings',
      'verbosity_changed',
    ],
    [{ prompt_cache_diagnostics: { type: 'cache_miss', reason: 'constructor' } }, 'unknown', 'constructor'],
    [
      { prompt_cache_diagnostics: { type: 'comparison_response_not_found' } },
      'unknown',
      'comparison_response_not_found',
    ],
    [
      { diagnostics: { cache_miss_reason: { type: 'system_changed', cache_missed_input_tokens: 9 } } },
      'system',
      'system_changed',
    ],
    [{ diagnostics: { cache_miss_reason: null } }, 'unknown', undefined],
    [{}, 'unknown', undefined],
  ])('takes the provider’s word for a miss: %j', (said, cause, diagnosis) => {
    const report = cacheReport(context, { usage: { input_tokens: context.receipt.used }, ...said }, before)
    expect(report).toMatchObject({ status: 'miss', cause })
    expect(report.diagnosis).toBe(diagnosis)
  })

  it('adds up what Anthropic counts apart', () => {
    const reply = {
      usage: { input_tokens: 4, cache_read_input_tokens: 3_000, cache_creation_input_tokens: 300 },
    }
    expect(cacheReport(context, reply, before).reported).toEqual({
      input: 3_304,
      cached: 3_000,
      written: 300,
    })
  })

  it.each([[null], [undefined], [{}], [{ usage: null }], [{ usage: { output_tokens: 3 } }]])(
    'refuses %j, which says nothing',
    (reply) => {
      expect(() => cacheReport(context, reply as CacheReply)).toThrow(
        /^cacheReport: reply.usage must say what the input took$/,
      )
    },
  )

  it.each([
    { prompt_tokens: Number.NaN },
    { inputTokens: -5 },
    { input_tokens: Infinity },
    { input_tokens: '12' },
    { inputTokens: 10, cachedInputTokens: Number.NaN },
    { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: -1 } },
    { input_tokens: 10, cache_read_input_tokens: 1.5 },
    { input_tokens: 10, cache_creation_input_tokens: Number.NaN },
    { prompt_tokens: 10, prompt_tokens_details: { cache_write_tokens: -2 } },
  ])('refuses counts that are none: %j', (counts) => {
    expect(() => cacheReport(context, { usage: counts })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument: 'reply.usage' }),
    )
  })

  it('takes null where a provider does not count', () => {
    const counts = { input_tokens: 10, cache_read_input_tokens: null, cache_creation_input_tokens: null }
    expect(cacheReport(context, { usage: counts }).reported).toEqual({ input: 10, cached: 0 })
  })
})
