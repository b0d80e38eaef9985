import { describe, expect, it } from 'vitest'
import { type AbortSignalLike, mapStore, runAgent, scriptedModel } from '../../src/index.ts'
import { fullMemory } from '../contract/full-memory.ts'

/**
 * That a run needs nothing but the platform's standards: its timers, its signals, and no code made
 * from text.
 *
 * @param take hands the signal to a function of the platform, which takes none but its own.
 */
export function describeAgent(take: (signal: AbortSignalLike) => unknown): void {
  describe('an agent', () => {
    it('checks arguments, runs tools, answers, and says when a tool takes too long', async () => {
      const session = fullMemory({ store: mapStore(), budget: 16_000 }).session({ userId: 'ada' })
      const result = await runAgent({
        input: 'Add 2 and 3.',
        model: scriptedModel([
          {
            calls: [
              { name: 'add', input: { a: 2, b: 3 } },
              { name: 'add', input: { a: 'two' } },
              { name: 'hang', input: {} },
            ],
          },
          'It is 5.',
        ]),
        session,
        tools: [
          {
            name: 'add',
            inputSchema: {
              type: 'object',
              properties: { a: { type: 'number' }, b: { type: 'number' } },
              required: ['a', 'b'],
            },
            execute: ({ a, b }: { a: number; b: number }) => a + b,
          },
          {
            name: 'hang',
            inputSchema: { type: 'object' },
            timeoutMs: 10,
            execute: (_, { signal }) => {
              take(signal)
              return new Promise(() => {})
            },
          },
        ],
      })
      expect(result).toMatchObject({ reason: 'answer', answer: 'It is 5.', steps: 2 })
      const outputs = (await session.history()).flatMap(({ content }) =>
        typeof content === 'string'
          ? []
          : content.flatMap((part) => (part.type === 'tool-result' ? [String(part.output)] : [])),
      )
      expect(outputs).toHaveLength(3)
      expect(outputs).toContain('5')
      expect(outputs.filter((output) => /arguments of add are invalid/.test(output))).toHaveLength(1)
      expect(outputs.at(-1)).toMatch(/the tool hang did not end within 10 ms/)
    })
  })
}
