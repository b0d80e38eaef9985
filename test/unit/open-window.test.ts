import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lawChecker } from '../../src/assert-laws.ts'
import {
  addExchange,
  type Context,
  calibrated,
  charsPerToken,
  compaction,
  createMemory,
  type Feature,
  facts,
  type MemoryOptions,
  type MessageInput,
  mapStore,
  profile,
  slidingWindow,
  utf8Bound,
} from '../../src/index.ts'
import { runs } from './support/runs.ts'

const ADA = { userId: 'ada' }
const LONG = 'It is a long story. '.repeat(400)

const open = (options: Omit<MemoryOptions, 'store'> & { readonly use?: readonly Feature[] }) =>
  createMemory({ store: mapStore(), counter: charsPerToken(4), laws: lawChecker, ...options }).session(ADA)

const useOf = (name: string, { receipt }: Context) => receipt.sections.find((use) => use.name === name)

describe('a memory without a budget', () => {
  it('has no line where its window has a size: 20 exchanges and the new message show, whatever they take', async () => {
    const session = open({ window: { rounds: 20 } })
    for (let round = 0; round < 30; round++)
      await addExchange(session, `q${round} ${LONG}`, `a${round} ${LONG}`)
    await session.append({ role: 'user', content: 'And now?' })
    const context = await session.context()
    const window = context.blocks.filter(({ section }) => section === 'window')
    expect(window).toHaveLength(41)
    expect(JSON.stringify(window[0]?.parts)).toContain('q10 ')
    expect(context.receipt).toMatchObject({ cap: null, reserved: 0, margin: 0, failures: [] })
    expect(context.receipt.used).toBeGreaterThan(80_000)
    expect(useOf('window', context)).not.toHaveProperty('cap')
  })

  it('is the same by its preset, of any size', async () => {
    expect(slidingWindow()).toEqual({ window: { rounds: 20 } })
    expect(slidingWindow({ messages: 40 })).toEqual({ window: { messages: 40 } })
    const session = open(slidingWindow())
    const shown: number[] = []
    for (let round = 0; round < 25; round++)
      shown.push((await addExchange(session, `q${round}`, `a${round}`)).length)
    expect(shown.slice(17)).toEqual([36, 38, 40, 40, 40, 40, 40, 40])
    expect((await addExchange(session, 'q25', 'a25'))[0]).toMatchObject({ content: 'q6' })
  })

  it.each([{ rounds: 2, messages: 5 }, { rounds: 0 }, { words: 5 }, {}, { max: { rounds: 2 } }])(
    'has no preset of %j',
    (size) => {
      const refused = { code: 'ERR_INVALID_ARGUMENT' }
      expect(() => createMemory({ store: mapStore(), ...slidingWindow(size as never) })).toThrow(
        expect.objectContaining(refused),
      )
    },
  )

  it('keeps a band open too, and 16 000 tokens where nothing else says how much shows', async () => {
    const band = await open({ window: { max: { rounds: 4 } } }).context()
    expect(band.receipt.cap).toBeNull()
    for (const options of [{}, { window: {} }, { window: { keep: { rounds: 2 } } }])
      expect((await open(options).context()).receipt.cap).toBe(16_000)
  })

  it('shows outputs and documents in the sizes that they have at 16 000 tokens', async () => {
    const memory = createMemory({
      store: mapStore(),
      counter: charsPerToken(4),
      ...slidingWindow(),
      use: [profile(), facts()],
    })
    await memory.user(ADA).profile.set('MEMORY.md', 'word '.repeat(6_000))
    const session = memory.session(ADA)
    await session.append([
      { role: 'user', content: 'List it.' },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'list', input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', callId: 'c', output: 'file.txt\n'.repeat(5_000) }] },
    ])
    const context = await session.context()
    expect(context.blocks.at(-1)?.tokens).toBeLessThanOrEqual(1_010)
    expect(context.receipt.remembered?.[0]).toMatchObject({ name: 'profile', cap: 5_333, items: 1 })
  })

  it('summarises what a limit cuts, and learns from a provider, as with one', async () => {
    const counter = calibrated(charsPerToken(4))
    const session = open({ counter, window: { max: { rounds: 6 } }, use: [compaction()] })
    let epochs = 0
    for (let round = 0; round < 30; round++) {
      await session.append({ role: 'user', content: `Question ${round}? ${LONG}` })
      const context = await session.context()
      epochs = typeof context.receipt.epoch === 'string' ? 0 : context.receipt.epoch.place
      counter.report(context, context.receipt.used * 2)
      await session.append({ role: 'assistant', content: `Answer ${round}.` })
      expect(context.receipt.omitted).toEqual([])
    }
    expect(epochs).toBeLessThan(13)
    expect((await session.context()).receipt.summary?.covers[0]?.count).toBeGreaterThan(40)
  })

  it('keeps the laws, with whatever window, log and counter', async () => {
    const size = fc.oneof(
      fc.record({ rounds: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ messages: fc.integer({ min: 1, max: 12 }) }),
      fc.record({ tokens: fc.integer({ min: 1, max: 600 }) }),
    )
    const window = fc.oneof(
      size,
      size.map((max) => ({ max })),
    )
    const turn = fc.oneof(
      fc.string({ maxLength: 200 }).map((content): MessageInput[] => [{ role: 'user', content }]),
      fc.string({ maxLength: 200 }).map((content): MessageInput[] => [{ role: 'assistant', content }]),
      fc.integer({ min: 1, max: 6_000 }).map((length): MessageInput[] => [
        { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'find', input: {} }] },
        { role: 'tool', content: [{ type: 'tool-result', callId: 'c', output: 'o'.repeat(length) }] },
      ]),
    )
    const turns = fc.array(fc.record({ turn, asks: fc.boolean() }), { maxLength: 30 })
    const counter = fc.constantFrom(charsPerToken(4), utf8Bound)
    await fc.assert(
      fc.asyncProperty(window, turns, counter, fc.boolean(), async (window, turns, counter, isCompacted) => {
        const use = isCompacted ? [compaction()] : []
        const session = open({ counter, window: window as never, use })
        let before: Context | undefined
        for (const { turn, asks } of turns) {
          await session.append(turn)
          if (!asks) continue
          const context = await session.context()
          expect(context.receipt.cap).toBeNull()
          const said = ({ blocks }: Context) =>
            blocks.filter(({ section }) => section !== 'tail').map((block) => JSON.stringify(block))
          if (before?.epoch === context.epoch)
            expect(said(context).slice(0, said(before).length)).toEqual(said(before))
          before = context
        }
      }),
      runs(60),
    )
  })
})
