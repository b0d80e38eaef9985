import { expect, test } from 'vitest'
import { createMemory } from '../../src/create-memory.ts'
import type { Feature } from '../../src/kernel/feature.ts'
import type { OpResult } from '../../src/ports/op.ts'
import { mapStore } from '../../src/stores/map.ts'

/** Puts a register that it takes for absent. */
function putting(name: string, refuse?: (results: readonly OpResult[]) => Promise<void>): Feature {
  return {
    name,
    open: () => ({
      write: {
        check: async () => true,
        prepare: async (_, { part }) => ({
          ops: [{ kind: 'put', opId: part(name), key: `own/${name}`, base: null, value: 1 }],
          ...(refuse && { refuse }),
        }),
      },
    }),
  }
}

test('a feature hears what became of its own ops, also after one that does not ask', async () => {
  const heard: (readonly OpResult[])[] = []
  const second = putting('second', async (results) => {
    heard.push(results)
    throw new Error('given up')
  })
  const memory = createMemory({ store: mapStore(), budget: 1_000, use: [putting('first'), second] })
  const session = memory.session({ userId: 'ada' }) as unknown as {
    commit(input: object): Promise<unknown>
  }
  await session.commit({ second: true })
  await expect(session.commit({ first: true, second: true })).rejects.toThrow('given up')
  expect(heard).toEqual([[expect.objectContaining({ status: 'conflict' })]])
})
