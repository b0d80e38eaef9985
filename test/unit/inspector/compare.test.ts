import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareContexts, compareRequests } from '../../../src/inspector/model/compare.ts'
import { explain } from '../../../src/render/explain.ts'
import { render } from '../../../src/replay/request.ts'
import { layOut } from '../../../src/replay/request-diff.ts'
import type { Provider } from '../../../src/replay/transcript.ts'
import { runs } from '../support/runs.ts'
import { builtFrom, conversations, long } from './support.ts'

/**
 * The first byte of `b` that is not in `a`, byte by byte; nothing if only the brackets that close
 * `a` are missing.
 */
function bruteForce(a: string, b: string): number | undefined {
  const [one, other] = [a, b].map((text) => new TextEncoder().encode(text)) as [Uint8Array, Uint8Array]
  let byte = 0
  while (byte < one.length && one[byte] === other[byte]) byte++
  if (/^[\]}]*$/.test(new TextDecoder().decode(one.slice(byte)))) return undefined
  // Back to where a character begins.
  while (((other[byte] ?? 0) & 0xc0) === 0x80) byte--
  return byte
}

describe('the difference of two calls', () => {
  it.each<Provider>(['openai', 'anthropic'])(
    'names the byte that a walk over the bytes of both finds, for %s',
    async (provider) => {
      let parted = 0
      await fc.assert(
        fc.asyncProperty(conversations, fc.nat(), fc.nat(), async (conversation, one, other) => {
          const built = await builtFrom(conversation)
          const [a, b] = [built[one % built.length], built[other % built.length]]
          if (!a || !b) return
          const { divergence, lines, tokens } = compareContexts(a.context, b.context, provider)
          const [first, second] = [a, b].map(
            ({ context }) => explain(context, provider, { cache: false }).text,
          )
          const byte = bruteForce(first ?? '', second ?? '')
          expect(divergence?.byte).toBe(byte)
          if (byte !== undefined) parted++
          expect(lines.filter(({ change }) => change !== 'gone')).toHaveLength(
            explain(b.context, provider, { cache: false }).spans.length,
          )
          if (tokens && tokens.rebilled > 0) expect(lines.some(({ change }) => change === 'again')).toBe(true)
        }),
        runs(150),
      )
      expect(parted).toBeGreaterThan(5)
    },
  )

  it('names the same byte where only the requests are known', async () => {
    await fc.assert(
      fc.asyncProperty(conversations, async (conversation) => {
        const built = await builtFrom(conversation)
        const [a, b] = [built[0], built.at(-1)]
        if (!a || !b) return
        const [first, second] = [render(a.context, 'openai'), render(b.context, 'openai')]
        const { divergence } = compareRequests(first, second)
        expect(divergence?.byte).toBe(bruteForce(layOut(first).text, layOut(second).text))
      }),
      runs(40),
    )
  })

  it('shows the text around that byte, on both sides', async () => {
    const built = await builtFrom(long)
    const [a, b] = [built[0], built.at(-1)]
    if (!a || !b) throw new Error('no calls')
    const { divergence } = compareContexts(a.context, b.context, 'openai')
    const { index = 0, around } = divergence ?? {}
    const [first, second] = [a, b].map(({ context }) => explain(context, 'openai', { cache: false }).text)
    expect(second?.slice(0, index).endsWith(around?.shared ?? '?')).toBe(true)
    expect(first?.slice(index).startsWith(around?.before ?? '?')).toBe(true)
    expect(second?.slice(index).startsWith(around?.after ?? '?')).toBe(true)
  })
})
