import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultCounter } from '../../../src/counters/default.ts'
import { portions, showContext, showRequest } from '../../../src/inspector/model/shown.ts'
import { conversationOf, type Provider } from '../../../src/replay/transcript.ts'
import { runs } from '../support/runs.ts'
import { builtFrom, conversations, long } from './support.ts'

const sum = (parts: readonly { readonly tokens: number }[]) =>
  parts.reduce((all, { tokens }) => all + tokens, 0)

describe('what is shown of a context', () => {
  it.each<Provider>(['openai', 'anthropic'])(
    'has segments that add up to what was used, and stretches that are the request, for %s',
    async (provider) => {
      await fc.assert(
        fc.asyncProperty(conversations, async (conversation) => {
          for (const { context } of await builtFrom(conversation)) {
            const { segments, used, stretches, text } = showContext(context, provider)
            expect(sum(segments)).toBe(used)
            expect(stretches.map(({ from, to }) => text.slice(from, to)).join('')).toBe(text)
          }
        }),
        runs(30),
      )
    },
  )

  it('lists every message that is left out, by the reason that the receipt gives', async () => {
    const built = await builtFrom(long)
    const last = built.at(-1)
    const { leftOut } = showContext(last?.context as NonNullable<typeof last>['context'], 'openai')
    const omitted = last?.context.receipt.omitted ?? []
    expect(omitted.length).toBeGreaterThan(0)
    for (const range of omitted) expect(leftOut).toContainEqual(range)
  })
})

it('what is counted but not given to a provider is in the sum, and listed', async () => {
  const kept = { type: 'opaque', provider: 'anthropic', value: { type: 'server_tool_use' } } as const
  const conversation = conversationOf('thoughtful', 'anthropic', [
    { role: 'user', content: 'Tea?' },
    { role: 'assistant', content: [kept] },
    { role: 'user', content: 'Well?' },
    { role: 'assistant', content: 'Green.' },
  ])
  const context = (await builtFrom(conversation)).at(-1)?.context
  if (!context) throw new Error('no call')
  const { segments, used, leftOut } = showContext(context, 'openai')
  expect(leftOut.filter(({ reason }) => reason === 'unrendered').length).toBeGreaterThan(0)
  expect(sum(segments)).toBe(used)
})

describe('what is shown of a request alone', () => {
  const request = {
    model: 'm',
    messages: [
      { role: 'system' as const, content: 'Be brief.' },
      { role: 'user' as const, content: 'Hi ✓' },
    ],
  }

  it('parts the tokens of its line by bytes, and they add up', () => {
    const { segments, used, shared, cap } = showRequest({ request, used: 101, cap: 200 }, defaultCounter)
    expect({ used, shared, cap, sum: sum(segments) }).toEqual({ used: 101, shared: true, cap: 200, sum: 101 })
    expect(segments.map(({ section }) => section)).toEqual(['system', 'window'])
  })

  it('counts them where its line says nothing', () => {
    const { segments, used, shared } = showRequest({ request }, defaultCounter)
    expect(shared).toBe(false)
    expect(sum(segments)).toBe(used)
    expect(used).toBeGreaterThan(0)
  })
})

it('portions of a whole number are whole, add up to it, and are off by less than one', () => {
  fc.assert(
    fc.property(
      fc.nat(100_000),
      fc.array(fc.nat(10_000), { minLength: 1, maxLength: 30 }),
      (whole, weights) => {
        const parts = portions(whole, weights)
        const all = weights.reduce((total, weight) => total + weight, 0)
        expect(parts.reduce((total, part) => total + part, 0)).toBe(whole)
        if (all > 0)
          for (const [index, part] of parts.entries())
            expect(Math.abs(part - (whole * (weights[index] ?? 0)) / all)).toBeLessThan(1)
      },
    ),
    runs(100),
  )
})
