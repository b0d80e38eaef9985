import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Context, mapStore, stringifyContext } from '../../src/index.ts'
import { fullMemory } from '../contract/full-memory.ts'
import { runs } from './support/runs.ts'

describe('stringifyContext', () => {
  it('writes what JSON.stringify does, call after call', async () => {
    const memory = fullMemory({ store: mapStore(), system: 'Be "kind".', budget: 600 })
    const session = memory.session({ userId: 'ada', sessionId: 'trip' })
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.boolean(), async (text, reply) => {
        await session.append({ role: reply ? 'assistant' : 'user', content: text })
        const context = await session.context({ tail: 'It is Monday.' })
        expect(stringifyContext(context)).toBe(JSON.stringify(context))
      }),
      runs(100),
    )
  })

  it('leaves out what is undefined, and takes fields that it does not know', () => {
    const context = { lane: undefined, blocks: [], more: { a: [1] } } as unknown as Context
    expect(stringifyContext(context)).toBe(JSON.stringify(context))
  })

  it('writes a block once', async () => {
    const session = fullMemory({ store: mapStore(), budget: 8_000 }).session({ userId: 'ada' })
    let written = 0
    const content = Array.from({ length: 20 }, (_, index) => `message ${index}`)
    for (const text of content) {
      await session.append({ role: 'user', content: text })
      const context = await session.context()
      for (const block of context.blocks)
        if (!('toJSON' in block))
          Object.defineProperty(block, 'toJSON', {
            value: () => {
              written++
              return { ...block }
            },
          })
      stringifyContext(context)
    }
    expect(written).toBe(content.length)
  })
})
