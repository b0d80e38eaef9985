import { describe, expect, it } from 'vitest'
import {
  type Context,
  type Counter,
  calibrated,
  charsPerToken,
  type MessageInput,
  mapStore,
  type Store,
  utf8Bound,
} from '../../../src/index.ts'
import { contextAt } from '../../../src/operations/context-at.ts'
import { fullMemory } from '../../contract/full-memory.ts'

const base = charsPerToken(4)
const open = (counter: Counter, o: object = {}, store: Store = mapStore()) =>
  fullMemory({ store, budget: 1_000, counter, clock: () => 0, ...o }).session({ userId: 'ada' })
const tools = [{ name: 'search', inputSchema: { type: 'object' } }]
it('scales tools, and caps outputs in the tokens of the epoch', async () => {
  const shown = async (factor: number): Promise<Context> => {
    const s = open({ ...base, calibration: () => factor }, { budget: 4_000, toolOutput: { first: 200 } })
    await s.append([
      { role: 'user', content: 'Hi.' },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'x', input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', callId: 'c', output: 'word '.repeat(600) }] },
    ])
    return s.context({ tools })
  }
  const [one, two] = [await shown(1), await shown(2)]
  const of = ({ receipt }: Context) => receipt.sections.find(({ name }) => name === 'tools')?.tokens
  expect(of(two)).toBe(2 * (of(one) ?? 0))
  const length = ({ blocks }: Context) => JSON.stringify(blocks.at(-1)?.parts).length
  expect(two.blocks.at(-1)).toMatchObject({ rule: 'capped' })
  expect(two.blocks.at(-1)?.tokens).toBeLessThanOrEqual(200 + 2 * 8)
  expect(length(two)).toBeLessThan(0.7 * length(one))
})
it('rounds up', async () => {
  const s = open({ ...base, perRequest: 1, calibration: () => 1.1 })
  await s.append({ role: 'user', content: 'abcdefgh' })
  expect((await s.context()).receipt.used).toBe(7 + 2)
})
it('rounds up what the log holds', async () => {
  const s = open({ ...base, calibration: () => 1.1 }, {})
  await s.append({ role: 'user', content: 'abcdefgh' })
  expect((await s.context()).blocks.find(({ section }) => section === 'window')?.tokens).toBe(7)
})
it('scales the default of a request', async () => {
  const { perRequest: _, ...rest } = base
  const s = open({ ...rest, calibration: () => 2 })
  await s.append({ role: 'user', content: 'abcdefgh' })
  expect((await s.context()).receipt.used).toBe(2 * 6 + 2 * 3)
})
it('is an estimate whatever it is made of', () => {
  expect(calibrated(utf8Bound).kind).toBe('estimate')
})
it('rounds up to a thousandth', async () => {
  const c = calibrated(base)
  const s = open(c, { budget: 100 })
  await s.append({ role: 'user', content: 'a'.repeat(104) })
  const x = await s.context()
  expect(x.receipt.used).toBe(30)
  c.report(x, 40)
  expect(c.calibration()).toBe(1.334)
})
it('contextAt shows the system text that was sent, whatever it is now', async () => {
  const store = mapStore()
  const s = open(base, { system: 'Be brief.' }, store)
  await s.append({ id: 'm1', role: 'user', content: 'Hi.' })
  await s.context()
  await s.append({ role: 'assistant', content: 'Hey.' })
  const later = open(base, { system: 'Be long.' }, store)
  await later.append({ role: 'user', content: 'Ho.' })
  await later.context()
  const { context, verified } = await contextAt(later, 'm1')
  expect(verified).toBe(true)
  expect(context.blocks[0]).toMatchObject({ section: 'system', parts: [{ text: 'Be brief.' }] })
})
it('contextAt counts by the epoch of then, not of now', async () => {
  let factor = 1.5
  const s = open({ ...base, calibration: () => factor })
  await s.append({ id: 'm1', role: 'user', content: 'Hi.' })
  const sent = await s.context()
  factor = 2
  await s.append({ role: 'user', content: 'Ho.' })
  await s.context({ newEpoch: true })
  const { context, verified } = await contextAt(s, 'm1')
  expect(verified).toBe(true)
  expect(context.receipt.used).toBe(sent.receipt.used)
  expect(context.receipt.calibration).toBe(1.5)
})
it('takes any counter, also one whose count is a method of its class', async () => {
  class Own implements Counter {
    id = 'own'
    kind = 'exact' as const
    count(text: string) {
      return text.length
    }
  }
  expect(calibrated(new Own()).count('four')).toBe(4)
})
it('passes over a usage without a count', async () => {
  const c = calibrated(base)
  const s = open(c)
  await s.append({ role: 'user', content: 'Hi.' })
  const x = await s.context()
  for (const usage of [
    { prompt_tokens: null },
    { input_tokens: null },
    { input_tokens: undefined },
    undefined,
    null,
  ])
    c.report(x, usage as never)
  expect(c.calibration()).toBeUndefined()
})
it('refuses a calibration of 0', async () => {
  const s = open({ ...base, calibration: () => 0 })
  await s.append({ role: 'user', content: 'Hi.' })
  await expect(s.context()).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
})
describe('a report', () => {
  const factor: { now: number | undefined } = { now: 1 }
  const letters = {
    id: 'letters',
    kind: 'exact' as const,
    count: (text: string) => text.length,
    message: ({ content }: { content: unknown }) =>
      typeof content === 'string'
        ? content.length
        : (content as { text: string }[]).reduce((n, { text }) => n + text.length, 0),
    perRequest: 0,
    calibration: () => factor.now,
  }
  const start = async (held: number, said: number, store = mapStore()) => {
    factor.now = held
    const o = { budget: { contextWindow: 1_000, maxOutputTokens: 0, margin: 0.1 }, system: 's'.repeat(said) }
    const s = open(letters, o, store)
    for (let i = 0; i < 4; i++) await s.append({ role: 'user', content: 'u'.repeat(50) })
    const { epoch, receipt } = await s.context()
    return { s, epoch, receipt, again: () => open(letters, o, store) }
  }
  it('ends an epoch above the cap itself: head and all, without the margin', async () => {
    const { s, epoch, receipt } = await start(1, 300)
    expect(receipt.used).toBe(500)
    factor.now = 2
    expect((await s.context()).epoch).toBe(epoch)
    factor.now = 2.001
    expect((await s.context({ preview: true })).epoch).not.toBe(epoch)
  })
  it('that agrees with the epoch does not end it', async () => {
    const { s, epoch, receipt } = await start(2, 200)
    expect(receipt.used).toBe(800)
    expect((await s.context()).epoch).toBe(epoch)
  })
  it('that was never made ends no epoch', async () => {
    const { epoch, receipt, again } = await start(0.5, 1_000)
    expect(receipt.used).toBe(600)
    factor.now = undefined
    expect((await again().context()).epoch).toBe(epoch)
  })
})

/**
 * The first block of the window after the round of `opening`, cut in the middle, is no longer the
 * newest.
 */
async function openerShown(opening: MessageInput['content']) {
  const s = open(base, { budget: 6_000, toolOutput: { first: 400, old: 100 } })
  await s.append({ id: 'u1', role: 'user', content: opening })
  for (let i = 0; i < 40; i++) {
    await s.append([
      { role: 'assistant', content: [{ type: 'tool-call', id: `c${i}`, name: 'look', input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', callId: `c${i}`, output: 'word '.repeat(200) }] },
    ])
    await s.context()
  }
  await s.append({ role: 'user', content: 'And now?' })
  const { blocks, receipt } = await s.context({ newEpoch: true })
  const capped = blocks.filter(({ rule }) => rule === 'capped')
  return {
    capped,
    opener: blocks.find(({ section }) => section === 'window'),
    overflow: receipt.sections.find(({ name }) => name === 'window')?.overflow,
  }
}
it('keeps the picture of a cut round whose words are few', async () => {
  const { opener } = await openerShown([
    { type: 'text', text: 'What is this?' },
    { type: 'media', mediaType: 'image/png', url: 'https://x.y/a.png', tokens: 500 },
  ])
  expect(opener).toMatchObject({ from: ['u1'], rule: 'verbatim', parts: [{}, { type: 'media' }] })
})
it('caps the words of a cut round that are a little longer than an old output', async () => {
  const { opener, overflow, capped } = await openerShown('word '.repeat(120))
  expect(opener).toMatchObject({ from: ['u1'], rule: 'capped' })
  // Whole, an output is 4 + 1 + 250 tokens, the opening words are 4 + 150.
  const missing = capped.reduce((sum, { role, tokens }) => sum + (role === 'user' ? 154 : 255) - tokens, 0)
  expect(overflow).toMatchObject({
    count: capped.length,
    tokens: missing,
    first: expect.arrayContaining(['u1']),
  })
})
