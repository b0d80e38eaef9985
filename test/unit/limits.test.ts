import { describe, expect, it } from 'vitest'
import { charsPerToken } from '../../src/counters/simple.ts'
import { countMessage } from '../../src/kernel/count.ts'
import type { Context } from '../../src/ports/context.ts'
import { mapStore } from '../../src/stores/map.ts'
import { fullMemory } from '../contract/full-memory.ts'
import { calls, result } from './support/messages.ts'

const shown = (context: Context): number =>
  context.blocks.filter(({ section }) => section === 'window').length

async function talk(): Promise<ReturnType<ReturnType<typeof fullMemory>['session']>> {
  const memory = fullMemory({ store: mapStore(), budget: 1_000, counter: charsPerToken(4) })
  const session = memory.session({ userId: 'ada' })
  for (let round = 0; round < 6; round++)
    await session.append([
      { role: 'user', content: `question ${round}` },
      { role: 'assistant', content: `answer ${round}` },
    ])
  await session.append({ role: 'user', content: 'and now?' })
  return session
}

describe('limits that one call proposes', () => {
  const limits = { window: { max: { rounds: 4 }, keep: { rounds: 2 } } }

  it('show in a lane of their own, and leave the memory’s own lane as it was', async () => {
    const session = await talk()
    const before = await session.context()
    const limited = await session.context({ limits })
    expect(shown(before)).toBe(13)
    expect(shown(limited)).toBe(3)
    expect(limited.lane).not.toBe(before.lane)
    expect((await session.context()).hash).toBe(before.hash)
  })

  it('go on with the epoch that they began', async () => {
    const session = await talk()
    const first = await session.context({ limits })
    await session.append([
      { role: 'assistant', content: 'now this' },
      { role: 'user', content: 'thanks' },
    ])
    const second = await session.context({ limits: { window: { max: { rounds: 4 }, keep: { rounds: 2 } } } })
    expect(second.epoch).toBe(first.epoch)
    expect(shown(second)).toBe(5)
  })

  it('are the memory’s own lane where they say the same', async () => {
    const session = await talk()
    expect((await session.context({ limits: {} })).lane).toBe((await session.context()).lane)
  })

  it('never lift the budget', async () => {
    const session = await talk()
    const { receipt } = await session.context({ limits: { toolOutput: { first: 1_000_000 } } })
    expect(receipt.cap).toBe(1_000)
    expect(receipt.used + receipt.margin).toBeLessThanOrEqual(receipt.cap ?? Infinity)
  })

  it('are refused before anything is read when they make no sense', async () => {
    const session = await talk()
    const wrong = { window: { max: { rounds: 1 }, keep: { rounds: 2 } } }
    await expect(session.context({ limits: wrong })).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      argument: 'window.keep.rounds',
    })
  })
})

describe('an opaque part', () => {
  const message = (tokens?: number) =>
    ({
      role: 'user',
      content: [
        {
          type: 'opaque',
          provider: 'chat',
          value: { chart: 'x'.repeat(400) },
          ...(tokens !== undefined && { tokens }),
        },
      ],
    }) as const

  it('counts what it is said to cost, and else its JSON', async () => {
    expect(countMessage(charsPerToken(4), message(7))).toBe(11)
    expect(countMessage(charsPerToken(4), message())).toBeGreaterThan(100)
  })

  it('is refused with a cost that is none', async () => {
    const session = fullMemory({ store: mapStore(), budget: 1_000 }).session({ userId: 'ada' })
    await expect(session.append(message(-1))).rejects.toMatchObject({ argument: 'message.content[0].tokens' })
    expect((await session.append(message(0))).messages[0]).toMatchObject(message(0))
  })
})

describe('the question of an oversized round', () => {
  it('shows verbatim as long as its round is the newest, however long it is, and capped after that', async () => {
    const memory = fullMemory({
      store: mapStore(),
      budget: { contextWindow: 8_000, maxOutputTokens: 0, margin: 0 },
      counter: charsPerToken(4),
    })
    const session = memory.session({ userId: 'ada' })
    const { messages } = await session.append({ role: 'user', content: 'Why? '.repeat(2_400) })
    const ruleOfQuestion = async (): Promise<string | undefined> => {
      const { blocks } = await session.context()
      return blocks.find(({ from }) => from.includes(messages[0]?.id ?? ''))?.rule
    }
    const rules = new Set<string | undefined>()
    for (let step = 0; step < 30; step++) {
      await session.append([
        calls(`a${step}`, `c${step}`),
        result(`r${step}`, `c${step}`, 'found '.repeat(240)),
      ])
      rules.add(await ruleOfQuestion())
    }
    expect([...rules]).toEqual(['verbatim'])
    await session.append([
      { role: 'assistant', content: 'So.' },
      { role: 'user', content: 'And then?' },
    ])
    await session.context({ newEpoch: true })
    expect(await ruleOfQuestion()).not.toBe('verbatim')
  })
})
