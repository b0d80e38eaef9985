import { describe, expect, it } from 'vitest'
import { mapStore, utf8Bound } from '../../src/index.ts'
import { type FullMemoryOptions, fullMemory } from '../contract/full-memory.ts'

const laneOf = async (options: Partial<FullMemoryOptions>): Promise<string> => {
  const session = fullMemory({ store: mapStore(), budget: 16_000, ...options }).session({ userId: 'ada' })
  return (await session.context()).lane
}

describe('a lane', () => {
  it('is shared by equal settings, spelled out or not', async () => {
    expect(await laneOf({})).toBe(
      await laneOf({
        budget: { contextWindow: 16_000, maxOutputTokens: 0, margin: 0.12 },
        toolOutput: { first: 1_000, old: 500 },
        window: {},
      }),
    )
  })

  it('is another one for another budget, counter, window or cap', async () => {
    const lanes = await Promise.all([
      laneOf({}),
      laneOf({ budget: 8_000 }),
      laneOf({ budget: { contextWindow: 16_000, maxOutputTokens: 1_000 } }),
      laneOf({ counter: utf8Bound }),
      laneOf({ window: { max: { rounds: 20 } } }),
      laneOf({ toolOutput: { first: 500 } }),
    ])
    expect(new Set(lanes).size).toBe(lanes.length)
  })
})

describe('settings that make no sense are refused, by name', () => {
  const cases: readonly (readonly [string, Partial<FullMemoryOptions>])[] = [
    ['budget.contextWindow', { budget: 0 }],
    ['budget.contextWindow', { budget: Number.NaN }],
    ['budget.contextWindow', { budget: 1.5 }],
    ['options', { compaction: 'yes' as never }],
    ['often', { compaction: { often: true } as never }],
    ['model', { compaction: { model: {} as never } }],
    ['model.id', { compaction: { model: { id: '', complete: async function* () {} } } }],
    ['length', { compaction: { length: '' } }],
    ['summaryTokens', { compaction: { summaryTokens: 0 } }],
    ['carryTokens', { compaction: { carryTokens: -1 } }],
    ['sourceTokens', { compaction: { sourceTokens: 0 } }],
    ['tokensPerHour', { compaction: { tokensPerHour: -5 } }],
    ['timeout', { compaction: { timeout: Number.NaN } }],
    ['timeout', { compaction: { timeout: 2 ** 31 } }],
    ['ahead', { compaction: { ahead: 5 } }],
    ['ahead', { compaction: { ahead: true as never } }],
    ['pins', { compaction: { pins: [] as never } }],
    ['budget.maxOutputTokens', { budget: { contextWindow: 100, maxOutputTokens: 100 } }],
    ['budget.margin', { budget: { contextWindow: 100, maxOutputTokens: 0, margin: 0.6 } }],
    ['budget.margin', { budget: { contextWindow: 100, maxOutputTokens: 0, margin: '0.1' as never } }],
    ['toolOutput.first', { toolOutput: { first: null as never } }],
    ['window.max.rounds', { window: { max: { rounds: 0 } } }],
    ['window.keep.rounds', { window: { max: { rounds: 2 }, keep: { rounds: 3 } } }],
    ['toolOutput.first', { toolOutput: { first: -1 } }],
    ['system', { system: 'half a \ud800 character' }],
  ]
  for (const [argument, options] of cases)
    it(`${argument}: ${JSON.stringify(options)}`, () => {
      expect(() => fullMemory({ store: mapStore(), budget: 16_000, ...options })).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument }),
      )
    })
})
