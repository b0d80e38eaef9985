import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { charsPerToken, createMemory, mapStore, type WindowOptions } from '../../src/index.ts'
import { PER_MESSAGE } from '../../src/ports/counter.ts'
import { runs } from '../everywhere/runs.ts'

const READ = 0.1
const WRITE = 1.25

/** Windows of calls between replies of `sizes` tokens, and the call at which each epoch began. */
async function play(sizes: readonly number[], window: WindowOptions, cold = false) {
  const store = mapStore()
  const memory = createMemory({
    store,
    budget: { contextWindow: 4_000, maxOutputTokens: 0, margin: 0 },
    counter: charsPerToken(1),
    window,
  })
  const open = () => memory.session({ userId: 'ada', sessionId: 'trip' })
  let session = open()
  await session.append({ role: 'user', content: 'x' })
  const calls: { readonly tokens: number; readonly isNew: boolean }[] = []
  let epoch = ''
  for (const size of sizes) {
    if (cold) session = open()
    const { receipt, blocks } = await session.context()
    const id = typeof receipt.epoch === 'object' ? receipt.epoch.id : ''
    const tokens = blocks.reduce((sum, block) => sum + (block.section === 'window' ? block.tokens : 0), 0)
    calls.push({ tokens, isNew: id !== epoch })
    epoch = id
    await session.append({ role: 'assistant', content: 'x'.repeat(size) })
    await session.append({ role: 'user', content: 'x' })
  }
  return calls
}

const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 2, maxLength: 40 })
/** In steps so small that a cut which comes some per cent too soon is at another call. */
const small = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 50, maxLength: 60 })

describe('a window that keeps so many tokens, and has no size to grow to', () => {
  it('is cut when the tokens above have cost as much as the cut', async () => {
    const keep = 500
    await fc.assert(
      fc.asyncProperty(sizes, async (replies) => {
        const calls = await play(replies, { keep: { tokens: keep } })
        let before = 0
        let carried = 0
        for (const { tokens, isNew } of calls) {
          if (isNew) carried = 0
          const fresh = tokens - before
          const above = READ * Math.max(0, tokens - keep)
          const cut = (WRITE - READ) * Math.max(0, keep - fresh)
          // One that goes on would have cost less until now than its cut.
          if (!isNew) expect(tokens <= keep || carried + above < cut + 1e-6).toBe(true)
          else expect(tokens).toBeLessThanOrEqual(keep)
          // The call that begins an epoch was made before its writer's newest entry was answered.
          carried += above
          before = tokens
        }
      }),
      runs(60),
    )
  })

  it('is not cut sooner, nor where nothing is above them', async () => {
    const keep = 500
    await fc.assert(
      fc.asyncProperty(fc.oneof(sizes, small), async (replies) => {
        let before = 0
        let carried = 0
        for (const [index, { tokens, isNew }] of (
          await play(replies, { keep: { tokens: keep } })
        ).entries()) {
          const fresh = index === 0 ? tokens : 2 * PER_MESSAGE + 1 + (replies[index - 1] as number)
          const whole = before + fresh
          const above = carried + READ * Math.max(0, whole - keep)
          if (isNew && index > 0) {
            expect(whole).toBeGreaterThan(keep)
            expect(above + 1e-6).toBeGreaterThanOrEqual((WRITE - READ) * Math.max(0, keep - fresh))
          } else expect(tokens).toBe(whole)
          carried = isNew ? 0 : above
          before = tokens
        }
      }),
      runs(60),
    )
  })

  it('is cut before the line, at the same calls when the session is opened again for each', async () => {
    const replies = Array.from({ length: 60 }, (_, index) => 40 + ((index * 37) % 90))
    const calls = await play(replies, { keep: { tokens: 500 } })
    expect(calls.filter(({ isNew }) => isNew).length).toBeGreaterThan(3)
    expect(Math.max(...calls.map(({ tokens }) => tokens))).toBeLessThan(2_000)
    expect(await play(replies, { keep: { tokens: 500 } }, true)).toEqual(calls)
  })

  it('fills the room where it has a size to grow to, or names no tokens', async () => {
    const replies = Array.from({ length: 60 }, () => 100)
    for (const window of [{ max: { tokens: 4_000 }, keep: { tokens: 500 } }, {}]) {
      const calls = await play(replies, window)
      expect(Math.max(...calls.map(({ tokens }) => tokens))).toBeGreaterThan(3_700)
    }
  })
})
