import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lawChecker } from '../../src/assert-laws.ts'
import {
  type Context,
  charsPerToken,
  createMemory,
  type MessageInput,
  mapStore,
  rewind,
  type WindowOptions,
} from '../../src/index.ts'
import { runs } from './support/runs.ts'

const ADA = { userId: 'ada', sessionId: 'trip' }

/** A log that was written before any context was asked for. */
async function logged(messages: readonly MessageInput[], budget = 16_000, window: WindowOptions = {}) {
  const memory = createMemory({
    store: mapStore(),
    budget,
    window,
    counter: charsPerToken(4),
    laws: lawChecker,
  })
  const session = memory.session(ADA)
  const { messages: log } = await session.append(messages)
  return { session, log }
}

const user = (content: string): MessageInput => ({ role: 'user', content })
const answer = (content: string): MessageInput => ({ role: 'assistant', content })
const step = (id: string, output: string): readonly MessageInput[] => [
  { role: 'assistant', content: [{ type: 'tool-call', id, name: 'find', input: {} }] },
  { role: 'tool', content: [{ type: 'tool-result', callId: id, output }] },
]
const talk = (rounds: number, tokens: number): readonly MessageInput[] =>
  Array.from({ length: rounds }, (_, round) => [
    user(`${round} `.padEnd(tokens * 4, 'a')),
    answer(`${round} `.padEnd(tokens * 4, 'b')),
  ]).flat()

const shownIn = ({ blocks }: Context): readonly string[] => blocks.flatMap(({ from }) => from)
const useOf = ({ receipt }: Context) => receipt.sections.find(({ name }) => name === 'window')

describe('the first context of a lane', () => {
  it('shows a log whole that fits, however near the line, and its old outputs too', async () => {
    const outputs = Array.from({ length: 8 }, (_, index) => step(`c${index}`, `${index} `.padEnd(3_600, 'x')))
    const { session, log } = await logged([
      ...talk(30, 60),
      user('find it'),
      ...outputs.flat(),
      user('and now?'),
    ])
    const context = await session.context()
    expect(shownIn(context)).toEqual(log.map(({ id }) => id))
    expect(context.receipt).toMatchObject({ omitted: [], epoch: { cause: 'start' } })
    expect(useOf(context)).toMatchObject({ overflow: { count: 0 } })
    expect(useOf(context)?.tokens).toBeGreaterThan(10_000)
  })

  it('is cut back to half the room where the log does not fit', async () => {
    const { session } = await logged([...talk(120, 60), user('and now?')])
    const context = await session.context()
    expect(useOf(context)?.tokens).toBeLessThan(7_100)
    expect(context.receipt.omitted).toMatchObject([{ reason: 'window' }])
  })

  it('is cut back where it was asked for as a new epoch', async () => {
    const { session, log } = await logged([...talk(80, 60), user('and now?')])
    expect(shownIn(await session.context({ newEpoch: true })).length).toBeLessThan(log.length * 0.7)
  })

  it('of other limits is whole within these too', async () => {
    const { session, log } = await logged([...talk(8, 60), user('and now?')])
    const within = await session.context({ limits: { window: { max: { messages: 17 } } } })
    expect(shownIn(within)).toEqual(log.map(({ id }) => id))
    const beyond = await session.context({ limits: { window: { max: { messages: 16 } } } })
    expect(shownIn(beyond).length).toBeLessThan(log.length)
  })

  it('is whole again where a rewind hid all that the one before showed', async () => {
    const { session, log } = await logged([...talk(60, 60), ...talk(100, 60)])
    const [first] = shownIn(await session.context())
    await rewind(session, first as string)
    const context = await session.context()
    expect(useOf(context)?.tokens).toBeGreaterThan(5_000)
    expect(shownIn(context)).toContain(log[0]?.id)
  })

  it('shows all or is at most as full as a later one after a cut, whatever was logged', async () => {
    const round = fc.record({
      tokens: fc.integer({ min: 1, max: 120 }),
      outputs: fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(round, { minLength: 1, maxLength: 25 }),
        fc.integer({ min: 400, max: 4_000 }),
        async (rounds, budget) => {
          const messages = rounds.flatMap(({ tokens, outputs }, index) => [
            user('q'.repeat(tokens * 4)),
            ...outputs.flatMap((size, at) => step(`${index}.${at}`, 'o'.repeat(size * 4))),
            answer('a'.repeat(tokens * 4)),
          ])
          const { session, log } = await logged([...messages, user('and now?')], budget)
          const context = await session.context()
          const { cap, margin } = context.receipt
          // As the app would show it: every output as it is from its first call on.
          const wide = await logged([...messages, user('and now?')], 100_000)
          const limits = { toolOutput: { first: Math.floor(budget / 16) } }
          const all = useOf(await wide.session.context({ limits }))?.tokens ?? 0
          const isWhole = context.receipt.omitted.length === 0
          if (all <= Number(cap) - margin) expect(shownIn(context)).toEqual(log.map(({ id }) => id))
          else expect(isWhole && useOf(context)?.overflow.count === 0).toBe(false)
        },
      ),
      runs(60),
    )
  })
})
