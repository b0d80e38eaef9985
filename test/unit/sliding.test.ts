import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Context, charsPerToken, createMemory, type MessageInput, mapStore } from '../../src/index.ts'
import { runs } from './support/runs.ts'

type Size = { readonly rounds: number } | { readonly messages: number } | { readonly tokens: number }

const user = (content: string): MessageInput => ({ role: 'user', content })
const answer = (content: string): MessageInput => ({ role: 'assistant', content })

/** A step of calls that run side by side, with a message for each result. */
const step = (name: string, calls: number): readonly MessageInput[] => {
  const ids = Array.from({ length: calls }, (_, index) => `${name}-${index}`)
  return [
    {
      role: 'assistant',
      content: ids.map((id) => ({ type: 'tool-call' as const, id, name: 'find', input: {} })),
    },
    ...ids.map(
      (callId): MessageInput => ({
        role: 'tool',
        content: [{ type: 'tool-result', callId, output: `of ${callId}` }],
      }),
    ),
  ]
}

const open = (window: Size, budget = 100_000) =>
  createMemory({ store: mapStore(), budget, counter: charsPerToken(4), window }).session({ userId: 'ada' })

/** Places in the log of the messages that show. */
async function shownIn(context: Context, log: readonly { readonly id: string }[]): Promise<number[]> {
  const shown = new Set(context.blocks.flatMap(({ from }) => from))
  return log.flatMap(({ id }, index) => (shown.has(id) ? [index] : []))
}

const talk = (rounds: number): MessageInput[] =>
  Array.from({ length: rounds }, (_, round) => [user(`question ${round}`), answer(`answer ${round}`)]).flat()

describe('a sliding window', () => {
  it('of rounds shows so many complete ones, and the open one beside them', async () => {
    const session = open({ rounds: 2 })
    const log: { readonly id: string }[] = []
    for (let round = 0; round < 8; round++) {
      log.push(...(await session.append(user(`question ${round}`))).messages)
      const asked = await shownIn(await session.context(), log)
      expect(asked).toEqual(log.map((_, index) => index).slice(-5))
      log.push(...(await session.append(answer(`answer ${round}`))).messages)
      expect(await shownIn(await session.context(), log)).toEqual(log.map((_, index) => index).slice(-4))
    }
  })

  it('of messages cuts inside a round, also where the next round begins near', async () => {
    const session = open({ messages: 5 }, 300)
    const { messages } = await session.append([
      user('first'),
      ...Array.from({ length: 6 }, (_, index) => answer(`answer ${index}`)),
      user('long '.repeat(40)),
      answer('long '.repeat(40)),
    ])
    expect(await shownIn(await session.context(), messages)).toEqual([0, 5, 6, 7, 8])
  })

  it('of rounds keeps the open one whole, however many steps it has', async () => {
    const session = open({ rounds: 1 })
    const { messages } = await session.append([
      ...talk(3),
      user('find it'),
      ...step('a', 2),
      ...step('b', 1),
      ...step('c', 3),
    ])
    const context = await session.context()
    expect(await shownIn(context, messages)).toEqual(messages.map((_, index) => index).slice(4))
    expect(context.receipt.exceeded).toBeUndefined()
  })

  it('of messages counts all that show, the newest included', async () => {
    const session = open({ messages: 5 })
    const { messages } = await session.append([...talk(6), user('and now?')])
    const context = await session.context()
    expect(await shownIn(context, messages)).toEqual([8, 9, 10, 11, 12])
    expect(context.receipt.exceeded).toBeUndefined()
  })

  it('of messages counts the user message of a round that is cut too', async () => {
    const session = open({ messages: 5 })
    const steps = ['a', 'b', 'c', 'd'].flatMap((name) => step(name, 1))
    const { messages } = await session.append([...talk(2), user('find it'), ...steps])
    expect(await shownIn(await session.context(), messages)).toEqual([4, 9, 10, 11, 12])
  })

  it('of messages shows a step whole that has more, and says so in the receipt', async () => {
    const session = open({ messages: 3 })
    const { messages } = await session.append([...talk(2), user('find it'), ...step('a', 4)])
    const context = await session.context()
    expect(await shownIn(context, messages)).toEqual([4, 5, 6, 7, 8, 9])
    expect(context.receipt.exceeded).toEqual({ unit: 'messages', size: 3, shown: 6 })
  })

  it('of tokens shows the newest message whatever it takes, and says so in the receipt', async () => {
    const session = open({ tokens: 40 })
    await session.append([...talk(9), user('and now?')])
    const { receipt } = await session.context()
    const window = receipt.sections.find(({ name }) => name === 'window')
    expect(window?.tokens).toBeLessThanOrEqual(40)
    expect(receipt.exceeded).toBeUndefined()
    await session.append(user('a long question '.repeat(40)))
    const { receipt: over } = await session.context()
    const tokens = over.sections.find(({ name }) => name === 'window')?.tokens
    expect(over.exceeded).toEqual({ unit: 'tokens', size: 40, shown: tokens })
  })

  it('never shows more than its size but for the newest step, and never less than would fit', async () => {
    const round = fc.record({
      steps: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 }),
      ends: fc.boolean(),
    })
    const size: fc.Arbitrary<Size> = fc.oneof(
      fc.record({ messages: fc.integer({ min: 1, max: 9 }) }),
      fc.record({ rounds: fc.integer({ min: 1, max: 4 }) }),
    )
    await fc.assert(
      fc.asyncProperty(size, fc.array(round, { minLength: 1, maxLength: 8 }), async (window, talk) => {
        const session = open(window)
        const log: { readonly id: string; readonly role: string }[] = []
        const turns = talk.flatMap(({ steps, ends }, index) => [
          [user(`question ${index}`)],
          ...steps.map((calls, at) => step(`s${index}-${at}`, calls)),
          ...(ends ? [[answer(`answer ${index}`)]] : []),
        ])
        for (const messages of turns) {
          log.push(...(await session.append(messages)).messages)
          const shown = await shownIn(await session.context(), log)
          const rounds = recount(log)
          const expected =
            'rounds' in window
              ? lastRounds(rounds, window.rounds, messages.at(-1)?.role !== 'assistant')
              : lastMessages(rounds, 'messages' in window ? window.messages : 0)
          expect(shown).toEqual(expected)
        }
      }),
      runs(150),
    )
  })

  it('is refused with two sizes, beside a band, or of nothing', () => {
    for (const window of [
      { rounds: 2, messages: 5 },
      { messages: 5, keep: { messages: 2 } },
      { rounds: 2, max: { rounds: 4 } },
      { words: 5 },
    ])
      expect(() => createMemory({ store: mapStore(), budget: 100, window: window as never })).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }),
      )
    expect(() => createMemory({ store: mapStore(), budget: 100, window: { messages: 0 } })).toThrow(
      expect.objectContaining({ argument: 'window.messages' }),
    )
  })
})

type Step = readonly number[]

/** Rounds of steps of places in the log: shares no code with the window. */
function recount(log: readonly { readonly role: string }[]): readonly (readonly Step[])[] {
  const rounds: number[][][] = []
  log.forEach(({ role }, index) => {
    if (role === 'user') rounds.push([[index]])
    else if (role === 'tool') rounds.at(-1)?.at(-1)?.push(index)
    else rounds.at(-1)?.push([index])
  })
  return rounds
}

function lastRounds(rounds: readonly (readonly Step[])[], size: number, isOpen: boolean): readonly number[] {
  return rounds.slice(-(size + (isOpen ? 1 : 0))).flat(2)
}

/**
 * The longest end of whole steps that is small enough with the user message of the round that it
 * cuts; the newest step always.
 */
function lastMessages(rounds: readonly (readonly Step[])[], size: number): readonly number[] {
  const steps = rounds.flatMap((round) => round.map((step) => ({ step, opener: round[0]?.[0] as number })))
  const ends = steps.map((_, from) => {
    const shown = steps.slice(from).flatMap(({ step }) => step)
    const { opener } = steps[from] as (typeof steps)[number]
    return shown.includes(opener) ? shown : [opener, ...shown]
  })
  return ends.find((shown) => shown.length <= size) ?? (ends.at(-1) as readonly number[])
}
